import { type ChosenSource, chooseSource } from '../../commands/chooseSource.ts';
import { eventCodec } from '../../commands/codec.ts';
import {
  type AppSettings,
  type Creator,
  createPayment,
  type DraftedPayment,
  draftPayment,
  type NewPayment,
  quotePayment,
} from '../../commands/createPayment.ts';
import { createFundedRefunds } from '../../commands/fundedRefunds.ts';
import { type By, createRoleCheck, currentState } from '../../commands/handle.ts';
import { createFindEvidence, type EvidenceDeps } from '../../commands/heads/evidence.ts';
import { entriesFrom, headKeysSince, newestEntry } from '../../commands/heads/sign.ts';
import { createLinkDrafts } from '../../commands/linkDrafts.ts';
import { createManageLinks } from '../../commands/links.ts';
import { claimUnmatched } from '../../commands/matchUnmatched.ts';
import { derivedDeposits, Unavailable } from '../../commands/ports.ts';
import { registerPayin } from '../../commands/recordPayin.ts';
import { createRelays, type RelayDeps } from '../../commands/relays.ts';
import { createTendPayment, type TendPayment } from '../../commands/tendPayment.ts';
import { createWithdrawCashback } from '../../commands/withdrawCashback.ts';
import { type Chain, chainOf, findToken, onTestNetworks, type Token } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { isLinkId, link } from '../../domain/link.ts';
import type { Deposit } from '../../domain/payment/events.ts';
import { payinAddress } from '../../domain/payment/payins.ts';
import { rebalance } from '../../domain/rebalance/rebalance.ts';
import { hour_ms } from '../../domain/time.ts';
import { listApiRequests } from '../../queries/apiRequests.ts';
import { countOpen } from '../../queries/apps.ts';
import { lastOrdinal, listEvents } from '../../queries/feed.ts';
import { readFloatTable } from '../../queries/floatTable.ts';
import { arrivingMoney, type FloatDeps } from '../../queries/floatViews.ts';
import { countOpenLinks, listLinks, paymentsOfLink } from '../../queries/links.ts';
import { countUnread, markRead, memberNotices, type NoticeReads } from '../../queries/notices.ts';
import { failedWork, headsOf } from '../../queries/operations.ts';
import { matchDeposits } from '../../queries/payins.ts';
import { openObligations, openPromises } from '../../queries/payouts.ts';
import { createWebsite, type WebsiteDeps } from '../../web/index.ts';
import { createOperatorPages, type FloatsModel } from '../../web/operations/floats.ts';
import type { Site } from '../../web/parts/frame.ts';
import {
  canonicalTxHash,
  derivesDepositFromPayment,
  familyAddresses,
  walletLinkOf,
  walletOfferOf,
} from '../chains/families.ts';
import type { Config } from '../config.ts';
import type { Core } from '../core.ts';
import { coalesce } from '../lib/cache.ts';
import { createHeadTree } from '../postgres/headTree.ts';
import { randomIds } from '../process/system.ts';
import { createAppNews, createPaymentNews } from '../readmodels/paymentNews.ts';
import { createPaymentSecrets, createPreparedSeals, parseMasterKey } from '../security/masterKey.ts';
import { openAccounts } from '../workers/accounts/index.ts';
import { cashbackOf } from '../workers/cashback/index.ts';
import { followChanges } from '../workers/payins/index.ts';
import { createPayinLookUp } from '../workers/payins/lookUp.ts';
import { createRouteGuard } from '../workers/payouts/routeGuard.ts';
import { payoutCostsOf, refundAddressesOf, refundsOf } from '../workers/refunds/index.ts';
import { webhookSender, webhooksOf } from '../workers/webhooks/index.ts';
import { createKeyUses, openRevocations } from './apiKeys.ts';
import { type ApiDeps, createApp, createOperationsApp } from './app.ts';
import { observeFloats } from './floats.ts';
import { createRequestLog, defaultLimits } from './middleware.ts';
import { metrics, readiness } from './operations.ts';
import { personCommands, teamOf } from './owners.ts';
import { createPreparedPayments } from './preparedPayments.ts';
import { admitApp, createClients, createOpenPlaces, createRates, type Rates, unlimited } from './rateLimits.ts';
import { networkFactsOf, queriesOf } from './reads.ts';
import { createChallenges } from './relays/mpp.ts';
import { createAppReports, createFiatRates } from './reports.ts';
import type { LinkRoutePorts } from './routes/links.ts';
import type { ProofDeps } from './routes/proof.ts';
import { type HttpServer, startHttp } from './server.ts';

/** Needs of the API and of the pages beside it. */
export type HttpDeps = ApiDeps & WebsiteDeps;

// Payment commands with their dependencies.

type PaymentCommands = Pick<
  HttpDeps,
  'createPayment' | 'quotePayment' | 'chooseSource' | 'registerPayin' | 'withdrawCashback' | 'fundedRefunds'
> & {
  readonly draftPayment: (
    request: NewPayment,
    app: AppSettings,
    caller: Pick<Creator, 'keyless'>,
  ) => Promise<DraftedPayment | Refusal>;
  /** Creates the payment of a draft, with the deposit that the draft named. */
  readonly createDrafted: HttpDeps['createPayment'];
  readonly chooseSource: RelayDeps['chooseSource'];
  readonly claimUnmatched: RelayDeps['claimUnmatched'];
};

export async function commandsOf(core: Core, signal: AbortSignal): Promise<PaymentCommands> {
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
    ...((config.attestationsUrl !== null || config.usdt0) && {
      arriving: () => arrivingMoney({ ...floatReads(core), sql: core.database }),
    }),
  });
  await guard.refresh(signal).catch(() => {});
  void guard.watch(signal);

  const create = {
    handle,
    clock,
    ids: randomIds,
    addresses: familyAddresses,
    deposits,
    canReceive: receiverChecks,
    feeOf: () => config.fee,
    payoutCostOf: payoutCostsOf(core),
    cashback_basisPoints: config.cashback.basisPoints,
    offers: ({ id }: Chain) => chains.has(id),
    canSeePayins: ({ id }: Chain) => chains.get(id)?.health.nodes.some((node) => node.refused() === null) ?? false,
    checkRoute: guard.check,
    takePlace: createOpenPlaces({
      clock,
      limits: config.open,
      countOpen: (appId, kind, max) => countOpen(core.reads, appId, kind, max),
    }),
  };
  const { takePlace: _, ...drafting } = create;
  const derived = derivedDeposits(deposits);
  const ingesters = new Map([...chains].map(([id, { ingester }]) => [id, ingester]));
  const lookUp = createPayinLookUp({ handle, clock, ingesters, signal });
  const choice = { handle, clock, deposits, offers: create.offers, crash: core.crash };
  const register = { handle, clock, addresses: familyAddresses, canonicalTxHash, lookUp };

  return {
    createPayment: (request, app, caller) => createPayment(create, request, app, caller),
    quotePayment: (request, app, caller) =>
      quotePayment({ ...create, checkRoute: guard.look, payoutExpectedAt: guard.expectedAt }, request, app, caller),
    draftPayment: (request, app, caller) =>
      draftPayment({ ...drafting, deposits: derived, checkRoute: guard.look }, request, app, caller),
    createDrafted: (request, app, caller) => createPayment({ ...create, deposits: derived }, request, app, caller),
    chooseSource: (paymentId: string, source: ChosenSource, by: By, deposit?: Deposit) =>
      chooseSource(choice, paymentId, source, by, deposit),
    registerPayin: (own, hint, by) => registerPayin(register, own, hint, by),
    claimUnmatched: (paymentId, paid, by) =>
      claimUnmatched({ handle, clock, crash: core.crash, ingesters, signal }, paymentId, paid, by),
    withdrawCashback: createWithdrawCashback({ ...create, crash: core.crash }),
    fundedRefunds: createFundedRefunds({
      handle,
      clock,
      roleCheck: createRoleCheck(handle),
      addresses: familyAddresses,
      createPayment: (request, app, caller, refunding) => createPayment(create, request, app, caller, refunding),
      async checkPayment(request, app) {
        const quoted = await quotePayment({ ...create, checkRoute: guard.look }, request, app, { keyless: false });
        return isRefusal(quoted) ? quoted : undefined;
      },
      signers: refundsOf(core).signers,
      confirmDelay_ms: config.settlementCoolDown_hours * hour_ms,
    }),
  };
}

/** Reusable payment links over HTTP. */
export function linksOf({ handle, clock, chains, reads, reports }: Core, rates: Rates): LinkRoutePorts {
  const manage = createManageLinks({
    handle,
    clock,
    ids: randomIds,
    addresses: familyAddresses,
    offers: ({ id }: Chain) => chains.has(id),
    countOpen: (appId, max) => countOpenLinks(reads, appId, max),
  });
  return {
    // A limit prevents filling the log with links. Closing a link is always allowed.
    async create(app, request, by) {
      await admitApp(rates, 'changes', app.appId);
      return manage.create(app, request, by);
    },
    close: manage.close,
    find: async (linkId) => (isLinkId(linkId) ? currentState(handle, link, linkId) : null),
    list: (appId, page) => listLinks(reads, appId, page),
    payments: (appId, linkId, limit) => paymentsOfLink(reports, appId, linkId, limit),
  };
}

/** Payments by payers' authorizations. */
const askTokens_ms = 10_000;

type RelayUses = 'chooseSource' | 'registerPayin' | 'claimUnmatched' | 'draftPayment' | 'createDrafted';

/** A token whose domain is not the one that payers would sign takes no authorizations; the operator reads why. */
export function relaysOf(
  { config, handle, clock, crash, chains, deposits, reads, telemetry }: Core,
  { chooseSource, registerPayin, claimUnmatched, draftPayment, createDrafted }: Pick<PaymentCommands, RelayUses>,
): Pick<HttpDeps, 'relays' | 'networks' | 'relayAccountOn' | 'linkDrafts' | 'depositPayment' | 'challenges'> {
  const seals = createPreparedSeals(parseMasterKey(config.masterKey));
  const coins = new Map(config.chains.map(({ chainId, coin }) => [chainId, coin]));
  const relayed = [...chains].flatMap(([chainId, { relaying }]) => (relaying ? [[chainId, relaying] as const] : []));
  for (const [chainId, relaying] of relayed) {
    const usdc = findToken(chainOf(chainId), 'USDC');
    if (!usdc) continue;
    const asked = relaying.termsOf(usdc, AbortSignal.timeout(askTokens_ms));
    asked.then(
      (terms) => {
        if (terms === null)
          telemetry.logger.warn({ chainId }, 'no gas-free payment is offered: the domain of USDC is not the known one');
      },
      // Read again for each payment.
      () => {},
    );
  }
  return {
    networks: new Map(relayed.map(([chainId, { network }]) => [network, chainId])),
    relayAccountOn: (chainId) => chains.get(chainId)?.relaying?.rail.account ?? '',
    relays: createRelays({
      handle,
      clock,
      crash,
      relayOn: (chainId) => chains.get(chainId)?.relaying,
      priceOf: (chainId) => coins.get(chainId),
      limits: config.relays,
      async depositOf(paymentId, { chainId, token }) {
        const { family } = chainOf(chainId);
        const scheme = deposits[family];
        if (!scheme) throw new Unavailable(`chain ${chainId} is not served`);
        if (derivesDepositFromPayment(family)) return scheme.assign(paymentId, token as Token, null);
        // An address of a stock is assigned with the source alone, and requests for terms use up none.
        return (await scheme.derive?.(paymentId)) ?? null;
      },
      chooseSource,
      registerPayin,
      claimUnmatched,
    }),
    async depositPayment(chainId, text) {
      const deposit = chains.get(chainId)?.relaying?.depositIn(text);
      const [found] = deposit ? await matchDeposits(reads, [payinAddress(deposit.address, deposit.memo)]) : [];
      return found ?? null;
    },
    // Without a relay account there is no challenge.
    challenges: createChallenges(
      seals,
      relayed.find(([id]) => chainOf(id).family === 'evm')?.[1].nonceOf ?? (() => ''),
    ),
    linkDrafts: createLinkDrafts({
      draftPayment,
      createPayment: createDrafted,
      clock,
      ids: randomIds,
      seals,
      offers: ({ id }: Chain) => chains.has(id),
      takesAuthorizations: ({ id, family }: Chain) =>
        chains.get(id)?.relaying !== undefined &&
        (derivesDepositFromPayment(family) || deposits[family]?.derive !== undefined),
    }),
  };
}

/** Actions of an app's people on its payments. Notes count as changes of the app, so they cannot fill a payment's stream; a cancel is always allowed. */
function tendOf({ handle, clock }: Core, rates: Rates): TendPayment {
  const tend = createTendPayment({ handle, clock, roleCheck: createRoleCheck(handle) });
  return {
    cancel: tend.cancel,
    async annotate(appId, paymentId, annotation, by) {
      await admitApp(rates, 'changes', appId);
      return tend.annotate(appId, paymentId, annotation, by);
    },
  };
}

/** Notifications of members. */
export const noticesOf = ({ reads, writes, clock }: Pick<Core, 'reads' | 'writes' | 'clock'>): NoticeReads => ({
  list: (appId, developerId) => memberNotices(reads, appId, developerId, clock.now()),
  countUnread: (appId, developerId) => countUnread(reads, appId, developerId, clock.now()),
  markRead: async (appId, developerId) => void (await markRead(writes, appId, developerId, clock.now())),
});

/** Public log heads, and evidence of payments. */
export function proofOf({ store, writes }: Pick<Core, 'store' | 'writes'>): ProofDeps {
  const reading: EvidenceDeps = { store, codec: eventCodec, tree: createHeadTree(writes) };
  return {
    newest: () => newestEntry(reading),
    entries: (from, max) => entriesFrom(reading, from, max),
    keys: () => headKeysSince(reading),
    evidence: createFindEvidence(reading),
  };
}

/** Ports that only a local sandbox has. */
export type TrialPorts = Pick<HttpDeps, 'payTest'>;

export interface Servers {
  /** URL of the API, or of the operations port without the API role. */
  readonly url: string;
  readonly operationsUrl: string;
  close(): Promise<void>;
}

/** Opens the operations port, and the API if this instance has that role. @throws CannotListen */
export async function startServers(
  core: Core,
  signal: AbortSignal,
  { hasApi, payTest }: TrialPorts & { readonly hasApi: boolean },
): Promise<Servers> {
  const operations = await startOperations(core);
  try {
    const api = hasApi ? await startApi(core, signal, payTest) : null;
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

async function startApi(core: Core, signal: AbortSignal, payTest: HttpDeps['payTest']): Promise<HttpServer> {
  const { config, clock, reads } = core;
  const clients = createClients(config.trustedProxies);
  const rates = createRates(reads, config.rates);
  void rates.keepSettling(clock, signal);
  const accounts = openAccounts(core, rates);
  const decided = await commandsOf(core, signal);
  const revocations = await openRevocations(core);
  const uses = createKeyUses(reads, clock);
  void uses.keepWriting(clock, signal);
  const requestLog = createRequestLog({ sql: reads, clock, ids: randomIds });
  void requestLog.keepWriting(clock, signal);
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
  const read = queriesOf(core);
  const deps: HttpDeps = {
    ...edge(core),
    ...decided,
    ...read,
    findSession: accounts.findSession,
    feed: {
      changes: news.changes,
      events: (appId, page) => listEvents(reads, appId, page),
      lastOrdinal: (appId) => lastOrdinal(reads, appId),
    },
    ...personCommands(core, rates),
    team: teamOf(core, rates),
    notices: noticesOf(core),
    ...webhooksOf({ ...core, rates, send: webhookSender(core, core) }),
    cashback: cashbackOf(core, publicUrl),
    refunds: refundsOf(core),
    reports: createAppReports({ sql: core.reports, clock, fiatRates: createFiatRates(config.fiatRates, clock) }),
    refundAddresses: refundAddressesOf(core, publicUrl),
    links: linksOf(core, rates),
    tend: tendOf(core, rates),
    proof: proofOf(core),
    clients,
    rates,
    accounts,
    limits: defaultLimits,
    isRevoked: revocations.isRevoked,
    keyUsed: uses.used,
    record: requestLog.record,
    async listApiRequests(appId, asked) {
      // A developer reads it right after the request; other instances' requests follow within 5 s.
      await requestLog.write().catch(() => {});
      return listApiRequests(reads, appId, asked);
    },
    paymentSecrets: createPaymentSecrets(parseMasterKey(config.masterKey), () =>
      core.formerKeys().map(({ links }) => links),
    ),
    walletLink: (payment, amount) => walletLinkOf(payment, amount, config.mode === 'sandbox'),
    networkOf: networkFactsOf(core),
    walletOffer: (payment, amount) => walletOfferOf(payment, amount, localRpcUrls(config, payment.sourceChainId)),
    preparedPayments: createPreparedPayments({
      clock,
      payerFacts: read.payerFacts,
      transactionsOf: (chainId) => core.chains.get(chainId)?.payerTransactions,
      canonicalAddress: familyAddresses.canonical,
      registerPayin: decided.registerPayin,
      seals: createPreparedSeals(parseMasterKey(config.masterKey)),
    }),
    paymentNews,
    ...relaysOf(core, decided),
    relayOn: (chainId) => core.chains.get(chainId)?.relaying,
    site: siteOf(config),
    publicUrl,
    payTest: config.mode === 'sandbox' ? payTest : null,
  };
  const app = createApp(deps, createWebsite(deps));
  const { host, port, connections } = config;
  try {
    const { url, close } = await startHttp(app, { host, port, setBy: ['PORT', 'HOST'], clients, connections });
    listening = url;
    const end = async () => {
      // Answers waiting requests, so closing need not wait for them.
      news.close();
      paymentNews.close();
      await close().finally(revocations.close);
      await Promise.all([uses.write(), requestLog.write()]).catch(() => {});
    };
    return { url, close: end };
  } catch (error) {
    news.close();
    paymentNews.close();
    await revocations.close();
    throw error;
  }
}

/** Only a simulated chain's RPC URLs may leave the service: real ones may hold API keys. */
const localRpcUrls = ({ mode, chains }: Config, chainId: Chain['id']): readonly string[] | null =>
  mode === 'sandbox' ? (chains.find((each) => each.chainId === chainId)?.rpcUrls ?? []) : null;

const siteOf = (config: Config): Site => ({
  mode: onTestNetworks ? 'test' : config.mode === 'sandbox' ? 'sandbox' : 'live',
  chains: config.chains.map(({ chainId }) => chainOf(chainId)),
  fee: config.fee,
  settlementCoolDown_hours: config.settlementCoolDown_hours,
  registrationOpen: config.registration !== 'closed',
  mailboxUrl: config.mailboxUrl,
  demoEmail: config.demoEmail,
});

/** Operations port of every instance, in any role: health, readiness, metrics. */
function startOperations(core: Core): Promise<HttpServer> {
  const clients = createClients([]);
  // The port has no limit of requests: callers at the same time share a read.
  const floats = coalesce(() => floatsOf(core));
  const app = createOperationsApp({
    ...edge(core),
    clients,
    rates: unlimited,
    limits: defaultLimits,
    async metrics() {
      await observeFloatsOf(core).catch(() => {});
      return metrics(core);
    },
    names: core.config.operations.names,
    pages: [createOperatorPages({ floats: () => floats('all') })],
  });
  const { host, port } = core.config.operations;
  return startHttp(app, { host, port, setBy: ['OPERATIONS_PORT', 'OPERATIONS_HOST'], clients });
}

const floatReads = ({ reads, handle }: Pick<Core, 'reads' | 'handle'>): FloatDeps => ({
  sql: reads,
  rebalanceOf: (id) => currentState(handle, rebalance, id),
});

/** Reads nothing unless rebalances are in use. @throws Unavailable */
async function observeFloatsOf(core: Core): Promise<void> {
  const { config, clock, telemetry } = core;
  const { USDC, USDT } = config.floatPolicy;
  const hasLimits = USDC.floats.size + USDT.floats.size > 0;
  if (!hasLimits && config.attestationsUrl === null && !config.usdt0) return;
  const limits = { USDC: USDC.floats, USDT: USDT.floats };
  await observeFloats({ ...floatReads(core), clock, limits, observe: telemetry.observeFloats });
}

const failedWorkShown = { max: 50, errorCharacters: 300 };

/** Contents of the operators' page. @throws Unavailable */
async function floatsOf(core: Core): Promise<FloatsModel> {
  const { config, clock, reads, telemetry } = core;
  const [{ lines, open }, failed] = await Promise.all([
    readFloatTable({ ...floatReads(core), clock }),
    failedWork(reads, failedWorkShown),
  ]);
  const { mode } = siteOf(config);
  return { ...{ mode, policy: config.floatPolicy, lines, open, failed }, alarms: telemetry.raisedAlarms() };
}

const edge = (core: Core) => ({
  clock: core.clock,
  ids: randomIds,
  logger: core.telemetry.logger,
  readiness: () => readiness(core),
  observe: core.telemetry.observeRequest,
  reportUnavailable: core.unavailable.report,
});
