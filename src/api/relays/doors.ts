/** Ways to pay without gas: `/pay/<secret>/authorization` for pages; `/pay/<secret>/x402` and `/link/<id>/x402` for programs. */
import { Router } from 'express';
import type { PageRoutes } from '../app.ts';
import { localsOf } from '../middleware.ts';
import { authorizationHandlers, authorizationPath } from './authorization.ts';
import { createSettling } from './settling.ts';
import type { RelayDoorsDeps } from './targets.ts';
import { linkX402Path, payX402Path, targetOfLink, targetOfPayment } from './targets.ts';
import { x402Handler, x402Preflight } from './x402.ts';

/** Each path is mounted alone, so no spelling of it reaches another handler. */
export const createRelayDoors = (deps: RelayDoorsDeps): PageRoutes => ({
  routerBehind(gate) {
    const settling = createSettling(deps);
    const router = Router({ caseSensitive: true });
    const preflight = (path: string, route: string) =>
      router.options(path, (_request, response) => {
        localsOf(response).route = route;
        response.setHeaders(x402Preflight as Map<string, string>);
        response.writeHead(204).end();
      });
    preflight(authorizationPath, '/pay/{secret}/authorization');
    for (const [path, route, find] of [
      [payX402Path, '/pay/{secret}/x402', targetOfPayment(deps)],
      [linkX402Path, '/link/{linkId}/x402', targetOfLink(deps)],
    ] as const) {
      preflight(path, route);
      router.all(path, x402Handler(deps, settling, gate, { route, find }));
    }
    const { ask, hand } = authorizationHandlers(deps, settling, gate);
    router.get(authorizationPath, ask);
    router.post(authorizationPath, hand);
    return router;
  },
  errorPage: () => undefined,
});
