/** Queries of the API with their dependencies. */

import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import type { ChainId } from '../../domain/chains.ts';
import { embeddingSites, findApp, findProfile } from '../../queries/apps.ts';
import { findPayments, paymentsInNeed } from '../../queries/findPayments.ts';
import { payerFacts } from '../../queries/payerFacts.ts';
import { paymentStory } from '../../queries/paymentStory.ts';
import { getPayment, getPaymentAsOf, getPaymentByOrder, listPayments } from '../../queries/payments.ts';
import { paymentsCsv } from '../../queries/paymentsCsv.ts';
import { getOverview, getStats, listTransactions } from '../../queries/reports.ts';
import type { OverviewPagesDeps } from '../../web/dashboard/overview.ts';
import type { PaymentPagesDeps } from '../../web/dashboard/payments.ts';
import type { PayerReads } from '../../web/pay/payModel.ts';
import type { Core } from '../core.ts';
import { coalesce } from '../lib/cache.ts';
import { callersByKey } from './apiKeys.ts';
import type { AccessDeps } from './auth.ts';
import { createNetworkCosts, type NetworkOf, usualFinality } from './networks.ts';
import { limitExports } from './reports.ts';
import type { PayLinkDeps } from './resource.ts';
import type { MerchantRoutesDeps, PaymentReads } from './routes/payments.ts';

/** Depth for confirming payins: the agreed amount decides, or the received one. */
export function confirmationsNeeded(chains: Core['chains']) {
  return (chainId: ChainId, amount: string | null): number | null => {
    const ingester = chains.get(chainId)?.ingester;
    const whole = BigInt(amount?.split('.')[0] ?? 0);
    const large = ingester?.largeFrom != null && whole >= ingester.largeFrom;
    return ingester?.blocksOnTop?.(large ? 'finalLarge' : 'final') ?? null;
  };
}

/** Facts for payers about the chains that they can choose. */
export function networkFactsOf({ clock, config, chains }: Pick<Core, 'clock' | 'config' | 'chains'>): NetworkOf {
  const finality = usualFinality(chains);
  const costs = createNetworkCosts({
    clock,
    rails: new Map([...chains].map(([id, { rail }]) => [id, rail])),
    coins: new Map(config.chains.map(({ chainId, coin }) => [chainId, coin])),
  });
  return (chainId, amount) => ({ final_ms: finality(chainId, amount), cost_microUsd: costs(chainId) });
}

type ApiReads = Pick<AccessDeps, 'findApiKey' | 'findApp'> &
  PaymentReads &
  PayerReads &
  MerchantRoutesDeps &
  Pick<PayLinkDeps, 'findProfile'> &
  Pick<PaymentPagesDeps, 'paymentStory' | 'findPayments'> &
  Pick<OverviewPagesDeps, 'getOverview' | 'paymentsInNeed'>;

export function queriesOf(core: Core): ApiReads {
  const { clock, reads, reports, store } = core;
  const reading = {
    sql: reads,
    history: (stream: string, after?: bigint) =>
      after === undefined ? readStream(store, stream) : store.read(stream, { from: after + 1n, max: 1 }),
    read: eventCodec.read,
    paymentIdOf,
    confirmationsNeeded: confirmationsNeeded(core.chains),
  };
  return {
    getPayment: (paymentId) => getPayment(reading, paymentId),
    getPaymentAsOf: (paymentId, asOf) => getPaymentAsOf(reading, paymentId, asOf),
    getPaymentByOrder: (appId, orderId) => getPaymentByOrder(reading, appId, orderId),
    listPayments: (filter) => listPayments(reports, filter),
    findPayments: (filter, page) => findPayments(reports, filter, page),
    paymentsInNeed: (appId) => paymentsInNeed(reports, appId),
    payerFacts: (paymentId) => payerFacts(reading, paymentId, clock.now()),
    findProfile: coalesce((appId) => findProfile(reads, appId)),
    embeddingSites: (appId) => embeddingSites(reads, appId),
    listTransactions: (paymentId) => listTransactions(reads, paymentId),
    paymentStory: (appId, paymentId) => paymentStory(reading, appId, paymentId),
    exportPayments: limitExports((filter) => paymentsCsv(reports, filter, clock.now())),
    getOverview: (appId, period) => getOverview(reports, appId, period, clock.now()),
    getStats: (appId, period) => getStats(reports, appId, period, clock.now()),
    findApiKey: callersByKey(core),
    findApp: coalesce((appId) => findApp(reads, appId, clock.now())),
  };
}
