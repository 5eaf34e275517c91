/** An app at a glance. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import { plus } from '../../domain/time.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { StatsPeriod } from '../../src/api/schemas/base.ts';
import { fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { overviewPage } from './overview.ts';
import { type AnyPage, page } from './page.ts';

type Deps = Pick<HttpDeps, 'getOverview' | 'listPayments' | 'listDeliveries' | 'getSettings' | 'listKeys' | 'clock'>;

const newest = 6;
const day_ms = 86_400_000;
/** Failed deliveries are counted up to this many. */
const exhaustedMax = 100;

export const overviewPages = (deps: Deps, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/',
    audience: 'owner',
    query: fields({ period: Type.Optional(StatsPeriod) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { period = '7d' } = visit.query;
      const [frame, overview, payments, setUp, exhausted] = await Promise.all([
        frames.ofApp(visit),
        deps.getOverview(appId, period),
        deps.listPayments({ appId, limit: newest }),
        setUpOf(deps, appId),
        exhaustedOf(deps, appId),
      ]);
      const listed = isRefusal(payments) ? [] : payments.payments;
      const now = deps.clock.now();
      return { page: overviewPage({ ...frame, period, overview, payments: listed, setUp, exhausted, now }) };
    },
  }),
];

async function setUpOf({ getSettings, listKeys }: Deps, appId: string) {
  const [settings, keys] = await Promise.all([getSettings(appId), listKeys(appId)]);
  return {
    key: keys.some(({ revokedAt }) => revokedAt === null),
    settlement: settings?.settlement !== null || appId.startsWith('wallet_'),
    webhook: settings?.webhookUrl !== null,
  };
}

/** Deliveries of the last day that nobody took. */
async function exhaustedOf({ listDeliveries, clock }: Deps, appId: string): Promise<number> {
  const since = plus(clock.now(), -day_ms);
  const page = await listDeliveries(appId, { limit: exhaustedMax, status: 'exhausted' });
  return isRefusal(page) ? 0 : page.deliveries.filter(({ startedAt }) => startedAt >= since).length;
}
