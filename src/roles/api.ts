/** The HTTP role: commands and queries with their needs filled in. Stateless; any number of instances may run. */

import { chooseSource } from '../../commands/chooseSource.ts';
import { eventCodec } from '../../commands/codec.ts';
import { createPayment, quotePayment } from '../../commands/createPayment.ts';
import { readStream } from '../../commands/handle.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import { registerPayin } from '../../commands/registerPayin.ts';
import { createWithdrawCashback } from '../../commands/withdrawCashback.ts';
import { type Chain, type ChainId, chainOf } from '../../domain/chains.ts';
import { countOpen, findApp } from '../../queries/apps.ts';
import { headsOf } from '../../queries/chainHeads.ts';
import { lastOrdinal, listEvents } from '../../queries/feed.ts';
import { getPayment, getPaymentByOrder } from '../../queries/getPayment.ts';
import { listPayments } from '../../queries/listPayments.ts';
import { getOverview } from '../../queries/overview.ts';
import { payerFacts } from '../../queries/payerFacts.ts';
import { paymentStory } from '../../queries/paymentStory.ts';
import { paymentsCsv } from '../../queries/paymentsCsv.ts';
import { openObligations, openPromises } from '../../queries/payouts.ts';
import { getStats, listTransactions } from '../../queries/reports.ts';
import { embeddingSites, findProfile } from '../../queries/settings.ts';
import { addressBook, canonicalTxHash, walletLinkOf } from '../chains/families.ts';
import type { Config } from '../config.ts';
import { createApp, createOperationsApp } from '../http/app.ts';
import { createClients } from '../http/clients.ts';
import { type Commands, defaultLimits, type Queries, type Site } from '../http/deps.ts';
import { limitExports } from '../http/exports.ts';
import { createOpenPlaces } from '../http/openPlaces.ts';
import { unlimited } from '../http/rates.ts';
import { type HttpServer, startHttp } from '../http/server.ts';
import { createAppNews } from '../runtime/appNews.ts';
import { createKeyUses } from '../runtime/keyUses.ts';
import { createPaymentNews } from '../runtime/paymentNews.ts';
import { createPayoutCosts } from '../runtime/payoutCosts.ts';
import { createRates } from '../runtime/rates.ts';
import { createRouteGuard } from '../runtime/routeGuard.ts';
import { randomIds } from '../runtime/system.ts';
import { createPaymentSecrets } from '../security/paymentSecrets.ts';
import { parseMasterKey } from '../security/secretBox.ts';
import { createPayinLookUp } from '../subscribers/payinLookUp.ts';
import { openAccounts } from './accounts.ts';
import { callersByKey, openRevocations } from './callers.ts';
import { cashbackOf } from './cashback.ts';
import type { Core } from './core.ts';
import { linksOf } from './links.ts';
import { metrics, readiness } from './operations.ts';
import { ownersOf } from './owners.ts';
import { followChanges } from './payins.ts';
import { webhookSender, webhooksOf } from './webhooks.ts';

export interface Servers {
  /** Of the API, or without that role of the operations port. */
  readonly url: string;
  readonly operationsUrl: string;
  close(): Promise<void>;
}

/** Opens the operations port, and the API where this instance has that role. @throws CannotListen */
export async function startServers(core: Core, signal: AbortSignal, hasApi: boolean): Promise<Servers> {
  const operations = await startOperations(core);
  try {
    const api = hasApi ? await startApi(core, signal) : null;
    return {
      url: (api ?? operations).url,
      operationsUrl: operations.url,
      async close() {
        await api?.close();
        await operations.close();
      },
    };
  } catch (error) {
    await operations.close();
    throw error;
  }
}

async function startApi(core: Core, signal: AbortSignal): Promise<HttpServer> {
  const { config, clock, reads } = core;
  const clients = createClients(config.trustedProxies);
  const rates = createRates(reads, config.rates);
  void rates.keepSettling(clock, signal);
  const accounts = openAccounts(core, rates);
  const decided = await commands(core, signal);
  const revocations = await openRevocations(core);
  const uses = createKeyUses(reads, clock);
  void uses.keepWriting(clock, signal);
  const news = createAppNews(core.notifications);
  const paymentNews = createPaymentNews({
    notifications: core.notifications,
    lastOrdinal: (appId) => lastOrdinal(reads, appId),
    events: (appId, page) => listEvents(reads, appId, page),
    heads: () => headsOf(reads),
    clock,
  });
  let listening = '';
  const publicUrl = () => config.publicUrl ?? listening;
  const app = createApp({
    ...edge(core),
    ...decided,
    ...queries(core),
    findSession: accounts.findSession,
    feed: {
      changes: news.changes,
      events: (appId, page) => listEvents(reads, appId, page),
      lastOrdinal: (appId) => lastOrdinal(reads, appId),
    },
    ...ownersOf(core, rates),
    ...webhooksOf({ ...core, rates, send: webhookSender(core, core) }),
    cashback: cashbackOf(core, publicUrl),
    links: linksOf(core, rates),
    clients,
    rates,
    accounts,
    limits: defaultLimits,
    isRevoked: revocations.isRevoked,
    keyUsed: uses.used,
    paymentSecrets: createPaymentSecrets(parseMasterKey(config.masterKey), () =>
      core.formerKeys().map(({ links }) => links),
    ),
    walletLink: (payment, amount) => walletLinkOf(payment, amount, config.mode === 'sandbox'),
    paymentNews,
    site: siteOf(config),
    publicUrl,
  });
  const { host, port, connections } = config;
  try {
    const { url, close } = await startHttp(app, { host, port, setBy: ['PORT', 'HOST'], clients, connections });
    listening = url;
    const end = async () => {
      // Those who wait are answered, so that the rest need not wait for them.
      news.close();
      paymentNews.close();
      await close().finally(revocations.close);
      await uses.write().catch(() => {});
    };
    return { url, close: end };
  } catch (error) {
    news.close();
    paymentNews.close();
    await revocations.close();
    throw error;
  }
}

const siteOf = (config: Config): Site => ({
  mode: config.mode === 'sandbox' ? 'sandbox' : 'live',
  chains: config.chains.map(({ chainId }) => chainOf(chainId)),
  settlementCoolDown_hours: config.settlementCoolDown_hours,
  registrationOpen: config.registration !== 'closed',
  mailboxUrl: config.mailboxUrl,
  demoEmail: config.demoEmail,
});

/** What every instance answers to its operator, whatever its roles: health, readiness, metrics. */
function startOperations(core: Core): Promise<HttpServer> {
  const clients = createClients([]);
  const app = createOperationsApp({
    ...edge(core),
    clients,
    rates: unlimited,
    limits: defaultLimits,
    metrics: () => metrics(core),
  });
  const { host, port } = core.config.operations;
  return startHttp(app, { host, port, setBy: ['OPERATIONS_PORT', 'OPERATIONS_HOST'], clients });
}

const edge = (core: Core) => ({
  clock: core.clock,
  ids: randomIds,
  logger: core.telemetry.logger,
  readiness: () => readiness(core),
  observe: core.telemetry.observeRequest,
});

async function commands(core: Core, signal: AbortSignal): Promise<Commands> {
  const { config, handle, clock, chains, deposits, receiverChecks, telemetry } = core;
  const guard = createRouteGuard({
    clock,
    rails: [...chains.values()].map(({ rail }) => rail),
    perTransfer_usd: config.signer.perTransfer_usd,
    obligations: () => openObligations(core.database),
    promised: () => openPromises(core.database),
    changes: followChanges(core, signal).count,
    alarm: telemetry.alarm,
    observeFloat: telemetry.observeFloat,
  });
  await guard.refresh(signal).catch(() => {});
  void guard.watch(signal);

  const create = {
    handle,
    clock,
    ids: randomIds,
    addresses: addressBook,
    deposits,
    canReceive: receiverChecks,
    feeOf: () => config.fee,
    payoutCostOf: createPayoutCosts({
      clock,
      rails: new Map([...chains].map(([id, { rail }]) => [id, rail])),
      coins: new Map(config.chains.map(({ chainId, coin }) => [chainId, coin])),
    }),
    cashback_basisPoints: config.cashback.basisPoints,
    offers: ({ id }: Chain) => chains.has(id),
    checkRoute: guard.check,
    takePlace: createOpenPlaces({
      clock,
      limits: config.open,
      countOpen: (appId, kind, max) => countOpen(core.reads, appId, kind, max),
    }),
  };
  const ingesters = new Map([...chains].map(([id, { ingester }]) => [id, ingester]));
  const lookUp = createPayinLookUp({ handle, clock, ingesters, signal });
  const choice = { handle, clock, deposits, offers: create.offers, crash: core.crash };
  const register = { handle, clock, addresses: addressBook, canonicalTxHash, lookUp };

  return {
    createPayment: (request, app, caller) => createPayment(create, request, app, caller),
    quotePayment: (request, app, caller) => quotePayment({ ...create, checkRoute: guard.look }, request, app, caller),
    chooseSource: (paymentId, source, by) => chooseSource(choice, paymentId, source, by),
    registerPayin: (own, hint, by) => registerPayin(register, own, hint, by),
    withdrawCashback: createWithdrawCashback({ ...create, crash: core.crash }),
  };
}

/** As payins are confirmed: the agreed amount decides, or what came. */
function confirmationsNeeded(chains: Core['chains']) {
  return (chainId: ChainId, amount: string | null): number | null => {
    const ingester = chains.get(chainId)?.ingester;
    const whole = BigInt(amount?.split('.')[0] ?? 0);
    const large = ingester?.largeFrom != null && whole >= ingester.largeFrom;
    return ingester?.blocksOnTop?.(large ? 'finalLarge' : 'final') ?? null;
  };
}

function queries(core: Core): Omit<Queries, 'isRevoked' | 'keyUsed' | 'findSession'> {
  const { clock, reads, store } = core;
  const reading = {
    sql: reads,
    history: (stream: string) => readStream(store, stream),
    read: eventCodec.read,
    paymentIdOf,
    confirmationsNeeded: confirmationsNeeded(core.chains),
  };
  return {
    getPayment: (paymentId) => getPayment(reading, paymentId),
    getPaymentByOrder: (appId, orderId) => getPaymentByOrder(reading, appId, orderId),
    listPayments: (filter) => listPayments(reads, filter),
    payerFacts: (paymentId) => payerFacts(reading, paymentId, clock.now()),
    findProfile: (appId) => findProfile(reads, appId),
    embeddingSites: (appId) => embeddingSites(reads, appId),
    listTransactions: (paymentId) => listTransactions(reads, paymentId),
    paymentStory: (appId, paymentId) => paymentStory(reading, appId, paymentId),
    exportPayments: limitExports((filter) => paymentsCsv(reads, filter, clock.now())),
    getOverview: (appId, period) => getOverview(reads, appId, period, clock.now()),
    getStats: (appId, period) => getStats(reads, appId, period, clock.now()),
    findApiKey: callersByKey(core),
    findApp: (appId) => findApp(reads, appId, clock.now()),
  };
}
