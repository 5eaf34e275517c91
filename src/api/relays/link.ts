/** The payment of a link, and what both ways to hand in an authorization need. */
import type { Request, Response } from 'express';
import type { LinkDrafts } from '../../../commands/linkDrafts.ts';
import type { Relays } from '../../../commands/relays.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { AccessDeps } from '../auth.ts';
import { ApiError } from '../errors.ts';
import type { Clients, Rates } from '../rateLimits.ts';
import type { PayLinkDeps } from '../resource.ts';
import type { LinkRoutePorts } from '../routes/links.ts';
import type { Challenges } from './mpp.ts';
import type { PreparingDeps } from './preparing.ts';
import type { SettlingDeps } from './settling.ts';

export interface RelayDoorsDeps
  extends SettlingDeps,
    Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'>,
    Pick<AccessDeps, 'findApp'>,
    Pick<PreparingDeps, 'relayOn'> {
  readonly relays: Relays;
  readonly clients: Pick<Clients, 'of'>;
  readonly rates: Rates;
  readonly links: Pick<LinkRoutePorts, 'find'>;
  readonly linkDrafts: LinkDrafts;
  readonly challenges: Challenges;
  /** Chains with a relay account, by their network in CAIP-2. */
  readonly networks: ReadonlyMap<string, ChainId>;
  /** How long an answer waits for the payer's money. Default: 45 s. */
  readonly settleWait_ms?: number;
}

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
