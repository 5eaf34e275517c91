import { refuse } from '../../../domain/decider.ts';
import type { Stats, StatsPeriod } from '../../../queries/reports.ts';
import type { ExportPayments } from '../exports.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import { ExportQuery, StatsQuery } from '../schemas/queries.ts';
import { StatsResponse } from '../schemas/responses.ts';
import { inUtc } from '../times.ts';

const tag = 'Merchant';
const errors = ['invalidRequest', 'unauthenticated', 'scope_insufficient'] as const;

/** Needs of the routes of an app's statistics and exports. */
export interface MerchantRoutesDeps {
  readonly getStats: (appId: string, period: StatsPeriod) => Promise<Stats>;
  readonly exportPayments: ExportPayments;
}

/** Merchant API: reads for an app's owner. */
export const merchantRoutes = (deps: MerchantRoutesDeps): readonly AnyRoute[] => [
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
    path: '/merchant-api/me/payments.csv',
    auth: 'app',
    query: ExportQuery,
    answers: { 200: { description: 'A table of payments', type: 'text/csv' } },
    errors: [...errors, 'rateLimited', 'unavailable'],
    doc: {
      id: 'exportPayments',
      tag,
      summary: 'Export payments as CSV',
      description:
        'With period: the payments whose payout was confirmed in it, which sum up to its statistics. Else those of a list with the same filters. A text that a spreadsheet could read as a formula begins with an apostrophe.',
    },
    async handle({ caller: { appId }, query, waiting }) {
      const { period, ...filters } = query;
      if (period === undefined) return deps.exportPayments({ appId, ...inUtc(filters) }, waiting.away);
      const [other] = Object.keys(filters);
      if (other === undefined) return deps.exportPayments({ appId, period }, waiting.away);
      return refuse('invalidRequest', `stands alone: send it without ${other}, or ${other} without it`, '/period');
    },
  }),
];
