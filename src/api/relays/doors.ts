/** The two ways by which a payer without gas pays: `/pay/<secret>/authorization` for pages, and `/pay/<secret>/x402` for programs. */
import { type Request, type Response, Router } from 'express';
import type { Relays } from '../../../commands/relays.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { Pages } from '../app.ts';
import { ApiError } from '../errors.ts';
import { localsOf } from '../middleware.ts';
import type { Clients } from '../rateLimits.ts';
import type { PayLinkDeps } from '../resource.ts';
import { authorizationHandlers, authorizationPath } from './authorization.ts';
import { createSettling, type SettlingDeps } from './settling.ts';
import { x402Handler, x402Path, x402Preflight } from './x402.ts';

export interface RelayDoorsDeps extends SettlingDeps, Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'> {
  readonly relays: Relays;
  readonly clients: Pick<Clients, 'of'>;
  /** Chains with a relay account, by the id of their network. */
  readonly networks: ReadonlyMap<number, ChainId>;
  /** How long an answer waits for the payer's money. Default: 45 s. */
  readonly settleWait_ms?: number;
}

/** One path each, mounted by itself: no spelling of it reaches another handler. */
export const createRelayDoors = (deps: RelayDoorsDeps): Pages => ({
  routerBehind(gate) {
    const settling = createSettling(deps);
    const router = Router({ caseSensitive: true });
    router.options([x402Path, authorizationPath], (request, response) => {
      localsOf(response).route = request.path.endsWith('x402') ? '/pay/{secret}/x402' : '/pay/{secret}/authorization';
      response.setHeaders(x402Preflight as Map<string, string>);
      response.writeHead(204).end();
    });
    router.all(x402Path, x402Handler(deps, settling, gate));
    const { ask, hand } = authorizationHandlers(deps, settling, gate);
    router.get(authorizationPath, ask);
    router.post(authorizationPath, hand);
    return router;
  },
  errorPage: () => undefined,
});

/** The payment of a link. @throws ApiError notFound */
export function paymentIn({ paymentSecrets }: Pick<RelayDoorsDeps, 'paymentSecrets'>, request: Request) {
  const secret = String(request.params['secret']);
  const paymentId = paymentSecrets.paymentIdOf(secret);
  if (paymentId === null) throw new ApiError('notFound', 'there is no such payment: check the address');
  return { secret, paymentId };
}

/** Aborts when the caller has gone away, or has been answered. */
export function closing(response: Response): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return closed.signal;
}
