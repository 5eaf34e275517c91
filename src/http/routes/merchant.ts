import type { HttpDeps } from '../deps.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import { StatsQuery } from '../schemas/requests.ts';
import { StatsResponse } from '../schemas/responses.ts';

const tag = 'Merchant';
const errors = ['invalidRequest', 'unauthenticated', 'scope_insufficient'] as const;

/** The merchant API: what an app's owner reads about it. */
export const merchantRoutes = (deps: HttpDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/merchant-api/me/stats',
    auth: 'app',
    query: StatsQuery,
    answers: { 200: { description: 'Statistics of the period', schema: StatsResponse } },
    errors,
    doc: { id: 'getStats', tag, summary: 'Read statistics' },
    handle: async ({ caller, query }) => ok(await deps.getStats(caller.appId, query.period)),
  }),
];
