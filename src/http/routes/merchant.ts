import type { HttpDeps } from '../deps.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import { DeliveriesQuery, pageSize, StatsQuery } from '../schemas/requests.ts';
import { DeliveriesResponse, StatsResponse } from '../schemas/responses.ts';

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
  route({
    method: 'get',
    path: '/merchant-api/me/webhook/deliveries',
    auth: 'app',
    query: DeliveriesQuery,
    answers: { 200: { description: 'The newest deliveries', schema: DeliveriesResponse } },
    errors,
    doc: { id: 'listDeliveries', tag, summary: 'List webhook deliveries, newest first' },
    handle: async ({ caller, query: { limit = pageSize } }) =>
      ok({ data: await deps.listDeliveries(caller.appId, limit) }),
  }),
];
