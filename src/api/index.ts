import { chainOf } from '../../domain/chains.ts';
import { headsOf } from '../../queries/chainHeads.ts';
import { lastOrdinal, listEvents } from '../../queries/feed.ts';
import { createWebsite } from '../../web/index.ts';
import { walletLinkOf } from '../chains/families.ts';
import type { Config } from '../config.ts';
import type { Core } from '../core.ts';
import { randomIds } from '../process/system.ts';
import { createAppNews } from '../readmodels/appNews.ts';
import { createPaymentNews } from '../readmodels/paymentNews.ts';
import { createPaymentSecrets } from '../security/paymentSecrets.ts';
import { parseMasterKey } from '../security/secretBox.ts';
import { openAccounts } from '../workers/accounts/index.ts';
import { cashbackOf } from '../workers/cashback/index.ts';
import { refundAddressesOf, refundsOf } from '../workers/refunds/index.ts';
import { webhookSender, webhooksOf } from '../workers/webhooks/index.ts';
import { openRevocations } from './apiKeys.ts';
import { createApp, createOperationsApp } from './app.ts';
import { createClients } from './clients.ts';
import { commandsOf } from './commands.ts';
import { defaultLimits, type HttpDeps, type Site } from './deps.ts';
import { createKeyUses } from './keyUses.ts';
import { linksOf } from './links.ts';
import { metrics, readiness } from './operations.ts';
import { ownersOf } from './owners.ts';
import { proofOf } from './proof.ts';
import { unlimited } from './rateLimits.ts';
import { queriesOf } from './reads.ts';
import { type HttpServer, startHttp } from './server.ts';
import { createRates } from './sharedRateLimits.ts';

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
  const decided = await commandsOf(core, signal);
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
  const deps: HttpDeps = {
    ...edge(core),
    ...decided,
    ...queriesOf(core),
    findSession: accounts.findSession,
    feed: {
      changes: news.changes,
      events: (appId, page) => listEvents(reads, appId, page),
      lastOrdinal: (appId) => lastOrdinal(reads, appId),
    },
    ...ownersOf(core, rates),
    ...webhooksOf({ ...core, rates, send: webhookSender(core, core) }),
    cashback: cashbackOf(core, publicUrl),
    refunds: refundsOf(core),
    refundAddresses: refundAddressesOf(core, publicUrl),
    links: linksOf(core, rates),
    proof: proofOf(core),
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
  };
  const app = createApp(deps, createWebsite(deps));
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
    names: core.config.operations.names,
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
  reportUnavailable: core.unavailable.report,
});
