/** The HTTP interface over loopback with the real create command, everything else in memory; two apps of each relevant type. */

import pino from 'pino';
import { chooseSource } from '../../commands/chooseSource.ts';
import { eventCodec } from '../../commands/codec.ts';
import { type AppSettings, createPayment, quotePayment } from '../../commands/createPayment.ts';
import { createFundedRefunds } from '../../commands/fundedRefunds.ts';
import {
  createHandle,
  createRoleCheck,
  currentState,
  type Handle,
  type RoleCheck,
  readStream,
} from '../../commands/handle.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import { type CanReceive, type Clock, Unavailable } from '../../commands/ports.ts';
import { registerPayin } from '../../commands/recordPayin.ts';
import { createRefundAddresses } from '../../commands/refundAddress.ts';
import { createRefunds } from '../../commands/refunds.ts';
import { createTendPayment } from '../../commands/tendPayment.ts';
import { createWithdrawCashback } from '../../commands/withdrawCashback.ts';
import type { AsOf } from '../../domain/asOf.ts';
import { type Chain, chains } from '../../domain/chains.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { KeyScope } from '../../domain/merchant/events.ts';
import { defaultChoice } from '../../domain/merchant/notifications.ts';
import { noProfile } from '../../domain/merchant/profile.ts';
import { expire } from '../../domain/payment/close.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { transactionsOf } from '../../domain/payment/transactions.ts';
import { type PaymentView, viewOf } from '../../domain/payment/view.ts';
import { type Instant, instant, plus } from '../../domain/time.ts';
import type { App, Caller } from '../../queries/apps.ts';
import { payerFacts } from '../../queries/payerFacts.ts';
import { getPaymentAsOf } from '../../queries/payments.ts';
import { createApp } from '../../src/api/app.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { defaultLimits } from '../../src/api/middleware.ts';
import { createClients, unlimited } from '../../src/api/rateLimits.ts';
import { createChallenges } from '../../src/api/relays/mpp.ts';
import { createAppReports, limitExports } from '../../src/api/reports.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { type Listening, startHttp } from '../../src/api/server.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { nonceFrom } from '../../src/chains/evm/authorization.ts';
import { canonicalTxHash, familyAddresses, walletLinkOf, walletOfferOf } from '../../src/chains/families.ts';
import { createMessageSigners } from '../../src/chains/messages.ts';
import { randomIds } from '../../src/process/system.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { createPaymentSecrets, createPreparedSeals } from '../../src/security/masterKey.ts';
import { createWebsite } from '../../web/index.ts';
import { otherPayer, stellarDeposits, stellarTreasury } from '../support/contractPayments.ts';
import { createCreditWorld } from '../support/credit.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { freePayouts } from '../support/payoutCosts.ts';
import { accepted } from '../support/processes.ts';
import { easyAccounts } from './accounts.ts';
import { type Client, createClient } from './client.ts';
import { headersOf, type Owners, ownersDeps } from './owners.ts';
import { sampleDelivery, sampleOverview, sampleStats } from './samples.ts';

export const receiver = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: receiver, receiverMemo: null };
const treasury = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const started = instant(Date.UTC(2026, 10, 21, 9));

const app = (appId: string, more: Partial<App> = {}): App => ({
  appId,
  developerId: null,
  idSalt: randomIds.secret(),
  webhookUrl: 'https://shop.example/hooks',
  settlement: null,
  keylessAllowed: false,
  ...more,
});

/** Owned by cleo. */
export const merchantApp = app('merchant_demo', { settlement });

/** No chain has a relay account. */
const noRelays: HttpDeps['relays'] = {
  read: () => null,
  desk: async () => null,
  draftDesk: async (payment) => ({ payment, offers: [], last: null }),
  find: async () => null,
  verify: async () => ({ ...refuse('notFound', 'there is no such payment'), fault: 'invalid_network' }),
  accept: async () => ({ ...refuse('notFound', 'there is no such payment'), fault: 'invalid_network' }),
};

export interface World {
  readonly url: string;
  readonly call: Client;
  /** Keys by app and scope, as headers. */
  readonly keys: Readonly<
    Record<'wallet' | 'walletAdmin' | 'other' | 'otherAdmin' | 'merchant' | 'merchantAdmin' | 'bare', Headers>
  >;
  /** Owner tokens of the apps, as headers. */
  readonly owners: Readonly<Record<'wallet' | 'other' | 'merchant', Headers>>;
  /** Reads and changes of signed-in people. */
  readonly people: Owners;
  readonly clock: { advance(duration_ms: number): void; now(): Instant };
  /** Number of key lookups. */
  readonly lookUps: () => number;
  revoke(key: Headers): void;
  /** Ends an unpaid payment. */
  expire(paymentId: string): Promise<void>;
  /** Appends events to a payment, as its chains and workers would. */
  happen(paymentId: string, events: readonly PaymentEvent[]): Promise<void>;
  stop(): Promise<void>;
}
export type Headers = Readonly<Record<string, string>>;

/** @param replaced dependencies that a test replaces @param door proxies and limits of connections */
export async function startWorld(
  replaced: Partial<HttpDeps> = {},
  door: Partial<Pick<Listening, 'clients' | 'connections'>> = {},
): Promise<World> {
  const clock = steppedClock();
  const apps = new Map(
    [app('wallet_demo', { keylessAllowed: true }), app('wallet_closed'), merchantApp, app('merchant_bare')].map(
      (each) => [each.appId, each],
    ),
  );
  const people = ownersDeps(clock);
  for (const [appId, developerId] of Object.entries(ownerOf))
    await people.merchants.register(appId, { developerId, webhookUrl: 'https://shop.example/hooks' }, byOperator);
  const callers = new Map<string, Caller>();
  let lookUps = 0;
  let listening = '';
  const keyFor = (appId: string, scope: KeyScope): Headers => {
    const { keyId, key, hash } = newApiKey();
    callers.set(hash, { keyId, appId, scope, expiresAt: null });
    return { 'X-API-Key': key };
  };
  const keys = {
    wallet: keyFor('wallet_demo', 'orders'),
    walletAdmin: keyFor('wallet_demo', 'admin'),
    other: keyFor('wallet_closed', 'orders'),
    otherAdmin: keyFor('wallet_closed', 'admin'),
    merchant: keyFor('merchant_demo', 'orders'),
    merchantAdmin: keyFor('merchant_demo', 'admin'),
    bare: keyFor('merchant_bare', 'orders'),
  };
  const hashes = new Map([...callers.keys()].map((hash, index) => [Object.values(keys)[index], hash]));

  const service = () => listening;
  const { endUnpaid, happen, ...payments } = paymentDeps(clock, apps, service, createRoleCheck(people.handle));
  const deps: HttpDeps = {
    ...payments,
    getStats: async (_appId, period) => ({ ...sampleStats, period }),
    getOverview: async (_appId, period) => ({ ...sampleOverview, stats: { ...sampleStats, period } }),
    paymentStory: async () => null,
    findPayments: async (filter, page) => {
      const found = await payments.listPayments({ ...filter, ...page });
      return isRefusal(found) ? found : { ...found, ...noSums };
    },
    paymentsInNeed: async () => ({ holding: { count: 0, sums: [] }, underpaid: [], capped: false }),
    exportPayments: limitExports(async function* () {
      yield '"payment_id"\r\n';
    }),
    reports: createAppReports({ sql: { query: async () => [] }, clock, fiatRates: async () => null }),
    ...webhooksInMemory(),
    findApiKey: async (hash) => {
      lookUps += 1;
      return callers.get(hash) ?? null;
    },
    isRevoked: () => false,
    keyUsed: () => {},
    payTest: null,
    listApiRequests: async () => ({ requests: [], nextCursor: null }),
    findApp: async (appId) => apps.get(appId) ?? null,
    ...people,
    links: {
      ...people.links,
      async payments(appId, linkId, limit) {
        const found = await payments.listPayments({ appId, limit: 100 });
        if (isRefusal(found)) return [];
        return found.payments.filter(({ metadata }) => metadata?.['linkId'] === linkId).slice(0, limit);
      },
    },
    accounts: easyAccounts,
    readiness: async () => ({ ready: true, checks: { store: { ok: true }, postgres: { ok: true } } }),
    clock,
    ids: randomIds,
    logger: pino({ level: 'silent' }),
    limits: defaultLimits,
    publicUrl: () => listening,
    site: {
      mode: 'sandbox',
      fee: { fixed_microUsd: 10_000n, basisPoints: 50 },
      settlementCoolDown_hours: 48,
      chains,
      registrationOpen: true,
      mailboxUrl: null,
      demoEmail: null,
    },
    clients: createClients([]),
    feed: quietFeed,
    withdrawCashback: async () => ({ paymentId: randomIds.paymentId(), balance_cents: 0n }),
    cashback: createCreditWorld(clock, () => `${listening}/v1/cashbacksign`).deps,
    proof: quietProof,
    paymentSecrets,
    walletLink: walletLinkOf,
    networkOf: () => ({ final_ms: 20_000, cost_microUsd: 3_000n }),
    walletOffer: walletOfferOf,
    preparedPayments: {
      ...easyTransactions,
      register: (paymentId, hint, by) => payments.registerPayin({ paymentId, appId: 'wallet_demo' }, hint, by),
    },
    paymentNews: quietPaymentNews,
    relays: noRelays,
    challenges: createChallenges(createPreparedSeals(new Uint8Array(32).fill(7)), nonceFrom),
    depositPayment: async () => null,
    linkDrafts: { paymentIdOf: () => null, draft: async () => refuse('unavailable', 'no link makes a payment here') },
    networks: new Map(),
    relayOn: () => undefined,
    relayAccountOn: () => '',
    notices: quietNotices,
    findProfile: async () => noProfile,
    embeddingSites: async () => [],
    rates: unlimited,
    ...replaced,
  };
  const server = await startHttp(createApp(deps, createWebsite(deps)), {
    port: 0,
    host: '127.0.0.1',
    setBy: ['PORT', 'HOST'],
    clients: createClients([]),
    ...door,
  });
  listening = server.url;
  return {
    url: server.url,
    call: await createClient(server.url),
    keys,
    owners,
    people,
    clock,
    lookUps: () => lookUps,
    expire: endUnpaid,
    happen,
    revoke: (key) => void callers.delete(hashes.get(key) ?? ''),
    stop: server.close,
  };
}

const noSums = {
  counts: { all: 0, groups: { waiting: 0, paid: 0, needs: 0, expired: 0, refunded: 0 }, needsCapped: false },
  sums: { count: 0, capped: false, tokens: [] },
  searchCapped: false,
};

/** A feed without events. */
const quietFeed: HttpDeps['feed'] = {
  events: async () => [],
  lastOrdinal: async () => '0',
  async *changes() {},
};

/** A proof without signed heads. */
export const quietProof: HttpDeps['proof'] = {
  newest: async () => null,
  entries: async () => [],
  keys: async () => [],
  evidence: async () => refuse('notFound', 'no head is signed yet'),
};

/** Notices of apps that have none. */
const quietNotices: HttpDeps['notices'] = {
  list: async () => ({ choice: defaultChoice, notices: [], seenAt: null }),
  countUnread: async () => 0,
  markRead: async () => {},
};

const quietPaymentNews: HttpDeps['paymentNews'] = {
  listen: () => ({ awaitHead() {}, async *[Symbol.asyncIterator]() {} }),
};

/** Prepares and sends every transaction, without a chain. */
const easyTransactions: Pick<HttpDeps['preparedPayments'], 'prepare' | 'sendSigned'> = {
  prepare: async () => ({ transaction: 'AAAA', seal: null }),
  sendSigned: async () => 'ab'.repeat(32),
};

/** Shared by all worlds. */
export const paymentSecrets = createPaymentSecrets(new Uint8Array(32).fill(7));

/** Owner of each app. */
const ownerOf = { wallet_demo: 'ann', wallet_closed: 'bob', merchant_demo: 'cleo' };
const byOperator = { cause: 'operator:spec' } as const;
const owners = {
  wallet: headersOf('ann'),
  other: headersOf('bob'),
  merchant: headersOf('cleo'),
};

/** Returns one delivery for every app. */
const webhooksInMemory = (): DeliveryRoutesDeps => {
  const { request: _request, redeliveries: _, redeliverable: __, ...listed } = sampleDelivery;
  return {
    listDeliveries: async (_appId, { limit }) => ({ deliveries: [listed].slice(0, limit), nextCursor: null }),
    getDelivery: async (_appId, id) => (id === sampleDelivery.deliveryId ? sampleDelivery : null),
    redeliver: async () => ({ delivery: sampleDelivery, sentNow: true }),
    sendTest: async () => sampleDelivery,
  };
};

export function steppedClock(): Clock & { advance(duration_ms: number): void } {
  let now = started;
  return {
    now: () => now,
    sleep: async () => {},
    advance: (duration_ms) => {
      now = plus(now, duration_ms);
    },
  };
}

/** An account without a trustline, and an unknown account whose node does not answer. */
export const noTrustline = otherPayer;
export const unknowable = stellarTreasury;

const canReceive: CanReceive = async (_chain, token, account) => {
  if (account === unknowable) throw new Unavailable('the node does not answer');
  if (account !== noTrustline) return undefined;
  return refuse('invalidRequest', `the receiver has no trustline for ${token.symbol}: let it add one`);
};

/** The real commands on a log, without chains. */
export function commandsOn(
  handle: Handle,
  clock: Clock,
  service: () => string,
  roleCheck: RoleCheck,
): Pick<
  HttpDeps,
  | 'createPayment'
  | 'quotePayment'
  | 'chooseSource'
  | 'registerPayin'
  | 'withdrawCashback'
  | 'refunds'
  | 'fundedRefunds'
  | 'refundAddresses'
  | 'tend'
> {
  const creating = {
    handle,
    clock,
    ids: randomIds,
    addresses: familyAddresses,
    offers: (chain: Chain) => chain.family !== 'solana',
    deposits: { evm: createEvmDeposits({ treasury }), stellar: stellarDeposits() },
    canReceive: { stellar: canReceive },
    feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 0 }),
    payoutCostOf: freePayouts,
    checkRoute: () => undefined,
    roleCheck,
  };
  const registering = { handle, clock, addresses: familyAddresses, canonicalTxHash, lookUp: () => {} };
  return {
    createPayment: (request, settings, caller) => createPayment(creating, request, settings, caller),
    quotePayment: (request, settings, caller) => quotePayment(creating, request, settings, caller),
    chooseSource: (paymentId, source, by) => chooseSource(creating, paymentId, source, by),
    registerPayin: (own, hint, by) => registerPayin(registering, own, hint, by),
    withdrawCashback: createWithdrawCashback(creating),
    fundedRefunds: createFundedRefunds({
      handle,
      clock,
      roleCheck,
      addresses: familyAddresses,
      createPayment: (request, settings, caller, refunding) =>
        createPayment(creating, request, settings, caller, refunding),
      async checkPayment(request, settings) {
        const quoted = await quotePayment(creating, request, settings, { keyless: false });
        return isRefusal(quoted) ? quoted : undefined;
      },
      signers: async () => [],
      confirmDelay_ms: 48 * 3_600_000,
    }),
    tend: createTendPayment({ handle, clock, roleCheck }),
    refunds: createRefunds({
      roleCheck,
      handle,
      clock,
      addresses: familyAddresses,
      canReceive: {},
      payoutCostOf: async () => ({ cost_microUsd: 50_000n, least_microUsd: 0n }),
    }),
    refundAddresses: createRefundAddresses({
      handle,
      clock,
      addresses: familyAddresses,
      signers: createMessageSigners(new Map()),
      service,
    }),
  };
}

/** Creates payments with the real commands; reads fold the streams. */
function paymentDeps(
  clock: Clock,
  apps: ReadonlyMap<string, AppSettings>,
  service: () => string,
  roleCheck: RoleCheck,
) {
  const store = memoryEventStore();
  const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec });
  const reading = {
    sql: { query: async () => [] },
    history: (stream: string) => readStream(store, stream),
    read: eventCodec.read,
    confirmationsNeeded: () => null,
  };
  const newest: string[] = [];
  const changed = new Map<string, Instant>();
  const commands = commandsOn(handle, clock, service, roleCheck);
  const load = (paymentId: string) => currentState(handle, paymentDecider, paymentId);
  const read = async (paymentId: string): Promise<PaymentView | null> => {
    const payment = await load(paymentId);
    return payment && viewOf(payment, changed.get(paymentId) ?? payment.terms.createdAt);
  };

  return {
    createPayment: (async (request, settings, caller) => {
      const created = await commands.createPayment(request, settings, caller);
      if (!isRefusal(created) && created.createdNow) newest.unshift(created.payment.terms.paymentId);
      return created;
    }) satisfies HttpDeps['createPayment'],

    refunds: commands.refunds,
    fundedRefunds: commands.fundedRefunds,
    tend: commands.tend,
    refundAddresses: commands.refundAddresses,
    quotePayment: commands.quotePayment,
    chooseSource: commands.chooseSource,

    registerPayin: (async (own, hint, by) => {
      const registered = await commands.registerPayin(own, hint, by);
      if (!isRefusal(registered) && registered.at) changed.set(own.paymentId, registered.at);
      return registered;
    }) satisfies HttpDeps['registerPayin'],

    async endUnpaid(paymentId: string): Promise<void> {
      const payment = await load(paymentId);
      const ended = plus(payment?.terms.expiresAt ?? clock.now(), 1);
      const decide = (state: PaymentState) => expire(state, { scannedTo: () => ended, now: ended });
      await handle(paymentDecider, paymentId, decide, { cause: 'worker:spec', appId: payment?.terms.appId ?? '' });
    },

    async happen(paymentId: string, events: readonly PaymentEvent[]): Promise<void> {
      const facts = { cause: 'worker:spec', appId: null } as const;
      await accepted(handle(paymentDecider, paymentId, () => events, facts));
    },

    getPayment: read,
    getPaymentAsOf: (paymentId: string, asOf: AsOf) => getPaymentAsOf(reading, paymentId, asOf),
    payerFacts: (paymentId: string) => payerFacts(reading, paymentId, clock.now()),
    getPaymentByOrder: async (appId: string, orderId: string) => {
      const salt = apps.get(appId)?.idSalt;
      return salt === undefined ? null : read(paymentIdOf(salt, orderId));
    },
    listTransactions: async (paymentId: string) => {
      const payment = await load(paymentId);
      return payment ? transactionsOf(payment) : [];
    },
    listPayments: (async ({ appId, limit, cursor, status, orderId, createdAfter }) => {
      const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64url').toString());
      if (Number.isNaN(from)) {
        return refuse('invalidRequest', 'this cursor is not from here: start without one', '/cursor');
      }
      const views = (await Promise.all(newest.map(read))).filter(
        (view): view is PaymentView =>
          view?.appId === appId &&
          (status ?? view.status) === view.status &&
          (orderId ?? view.orderId) === view.orderId &&
          (createdAfter === undefined || view.createdAt > createdAfter),
      );
      const end = from + limit;
      return { payments: views.slice(from, end), nextCursor: end < views.length ? cursorAt(end) : null };
    }) satisfies HttpDeps['listPayments'],
  };
}

/** As long as a real cursor, which contains a time and an id. */
const cursorAt = (place: number): string => Buffer.from(String(place).padStart(61, '0')).toString('base64url');

/** A complete, valid request for the open wallet app. */
export const goodRequest = (more: object = {}): Record<string, unknown> => ({
  type: 'exactOut',
  display: { title: 'Coffee beans', currency: 'USD' },
  source: { chainId: 8453, tokenSymbol: 'USDC' },
  destination: { chainId: 1, tokenSymbol: 'USDC', amount: '10.00', receiverAddress: receiver },
  ...more,
});
