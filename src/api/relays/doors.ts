/** The two ways by which a payer without gas pays: `/pay/<secret>/authorization` for pages, and `/pay/<secret>/x402` for programs. */
import { Router } from 'express';
import type { PageRoutes } from '../app.ts';
import { localsOf } from '../middleware.ts';
import { authorizationHandlers, authorizationPath } from './authorization.ts';
import type { RelayDoorsDeps } from './link.ts';
import { createSettling } from './settling.ts';
import { x402Handler, x402Path, x402Preflight } from './x402.ts';

/** Each path is mounted alone, so no spelling of it reaches another handler. */
export const createRelayDoors = (deps: RelayDoorsDeps): PageRoutes => ({
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
