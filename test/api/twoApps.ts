/** Two apps of two owners on the real commands, read models and queries. The first one must not reach the second one's data. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { eventCodec } from '../../commands/codec.ts';
import { createRoleCheck, type Handle, type RoleCheck, readStream } from '../../commands/handle.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import { createTendPayment } from '../../commands/tendPayment.ts';
import type { CreditEvent } from '../../domain/credit.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { HeadSigned } from '../../domain/heads/heads.ts';
import { createLink, link } from '../../domain/link.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { recordOutcome, startSend, webhook } from '../../domain/webhook.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { listApiRequests } from '../../queries/apiRequests.ts';
import { cashbackMovements, getCashback } from '../../queries/cashback.ts';
import { lastOrdinal, listEvents } from '../../queries/feed.ts';
import { findPayments, paymentsInNeed } from '../../queries/findPayments.ts';
import { paymentStory } from '../../queries/paymentStory.ts';
import { getPayment, getPaymentAsOf, getPaymentByOrder, listPayments } from '../../queries/payments.ts';
import { paymentsCsv } from '../../queries/paymentsCsv.ts';
import { getOverview, getStats, listTransactions } from '../../queries/reports.ts';
import { createApp } from '../../src/api/app.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { createRequestLog, defaultLimits } from '../../src/api/middleware.ts';
import { unlimited } from '../../src/api/rateLimits.ts';
import { createAppReports, limitExports } from '../../src/api/reports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds } from '../../src/process/system.ts';
import { webhooksOf } from '../../src/workers/webhooks/index.ts';
import { createWebsite } from '../../web/index.ts';
import { createCreditWorld } from '../support/credit.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { append, createWorld, type World as Log } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import { commandsOn, goodRequest, type Headers, quietProof, receiver, startWorld, type World } from './world.ts';

export const base = '/payment-api/payments';
const theirReceiver = p.customerWallet;
export const deliveryId = '0198f3c2-0000-8000-8000-000000000777';
const linkId = 'dGhlaXItbGluay10aGVpci1saW5rLXRoZWly';
const payin = p.payin({ amount: '77.01' });
const attempt = p.attempt(1, { amount: '77.00', receiver: theirReceiver });

const buyer = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const paidByCredit: CreditEvent = {
  type: 'CreditSpent',
  data: {
    account: buyer,
    appId: 'wallet_closed',
    digest: 'ab'.repeat(32),
    orderId: null,
    cents: '90',
    amountLocal: null,
    currencyLocal: null,
    about: 'their bread',
    signedAt: p.minute(1),
    after: { balance_cents: '10', earnedOn: [8453] },
    spentAt: p.minute(1),
  },
};

/** Data of the other app, and the cursor behind its list. */
export interface Theirs {
  readonly id: string;
  readonly deliveryId: string;
  readonly keyId: string;
  readonly endpointId: string;
  readonly linkId: string;
  readonly cursor: string;
  /** Texts that occur only in its data. */
  readonly marks: readonly string[];
}

export interface TwoApps {
  readonly world: World;
  readonly theirs: Theirs;
}

/** @param more dependencies that the spec replaces */
export async function startTwoApps(more: Partial<HttpDeps> = {}): Promise<TwoApps> {
  const database = await freshDatabase();
  const log = createWorld();
  // Owners are in the log of people, payments in this log.
  const handle: Handle = (decider, ...rest) =>
    (decider.category === 'merchant' ? world.people : log).handle(decider, ...rest);
  // A separate log has the settings of the apps.
  const roleCheck: RoleCheck = (appId, by, action) => createRoleCheck(world.people.handle)(appId, by, action);
  const tend = createTendPayment({ handle, clock: log.clock, roleCheck });
  const world: World = await startWorld({ ...realDeps(database, log, roleCheck), tend, ...more });
  return { world, theirs: await fillBoth(world, database, log) };
}

/** A head of another log. */
const someHead: HeadSigned = JSON.parse(
  readFileSync(new URL('../../clients/verify/example.json', import.meta.url), 'utf8'),
).head.data;

/** Every route of the router, in the form of express, so that no table can omit one. */
export function servedRoutes(): readonly string[] {
  interface Layer {
    readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
    readonly handle?: { readonly stack?: readonly Layer[] };
  }
  const read = ({ route, handle }: Layer): readonly string[] => {
    if (!route) return (handle?.stack ?? []).flatMap(read);
    const methods = Object.keys(route.methods).filter((method) => method !== 'options' && method !== '_all');
    return methods.map((method) => `${method.toUpperCase()} ${route.path}`);
  };
  const deps = { limits: defaultLimits, cashback: { path: '' } } as HttpDeps;
  const app = createApp(deps, createWebsite(deps));
  return (app.router.stack as unknown as readonly Layer[]).flatMap(read);
}

/** Gives both apps a payment; the other app's payment is completed and its webhook sent. */
async function fillBoth(world: World, database: Database, log: Log): Promise<Theirs> {
  const create = async (headers: Headers, whose: string, receiverAddress: string, amount: string) => {
    const destination = { chainId: 1, tokenSymbol: 'USDC', amount, receiverAddress };
    const display = { title: `${whose} title`, currency: 'USD' };
    const body = goodRequest({
      orderId: `${whose}-order`,
      display,
      destination,
      metadata: { of: `${whose}-metadata` },
    });
    const named = { ...headers, 'X-Request-Id': `${whose}-request` };
    const { status, body: made } = await world.call('POST', base, { headers: named, body });
    assert.equal(status, 201);
    return made;
  };
  await create(world.keys.wallet, 'my', receiver, '10.00');
  const older = await create(world.keys.other, 'their-older', theirReceiver, '20.00');
  const payment = await create(world.keys.other, 'their', theirReceiver, '77.00');
  const events = paidOut();
  log.clock.advance(1_000);
  await append(log, `payment-${payment.id}`, events);
  await sendWebhook(log, payment.id);
  await append(log, `credit-${buyer}`, [paidByCredit]);
  const all = await wholeLog(log.store);
  for (const set of [workSet, reportsSet]) await fill(database, log.store, set, [all]);
  const page = await world.call('GET', `${base}?limit=1`, { headers: world.keys.otherAdmin });
  const deposits = [payment, older].map(({ source }) => source.receiverAddress);
  const texts = [
    'their title',
    'their-order',
    'their-metadata',
    'their-older',
    'their bread',
    'their-request',
    deliveryId,
    '77.01',
    theirReceiver,
    'their key',
    'their shop',
    'their roof',
    'https://their-books.example/',
    linkId,
  ];
  await theirLink(world);
  return {
    id: payment.id,
    deliveryId,
    linkId,
    keyId: await theirSettings(world),
    endpointId: await theirEndpoint(world),
    cursor: page.body.nextCursor,
    marks: [payment.id, older.id, ...deposits, payin.txHash, attempt.hash, ...texts],
  };
}

/** @returns the id of one of their keys */
async function theirSettings({ people }: World): Promise<string> {
  const by = { cause: 'operator:spec' } as const;
  const named = await people.merchants.setProfile('wallet_closed', { name: 'their shop' }, by);
  assert.equal(isRefusal(named), false);
  const request = { scope: 'orders', name: 'their key', expiresAt: null } as const;
  const issued = await people.merchants.issueKey('wallet_closed', request, by);
  return isRefusal(issued) ? assert.fail(issued.message) : issued.keyId;
}

/** @returns the id of their webhook endpoint */
async function theirEndpoint({ people }: World): Promise<string> {
  const endpoint = { url: 'https://their-books.example/', types: ['payment_payout_completed'] };
  const added = await people.merchants.addEndpoint('wallet_closed', endpoint, { cause: 'operator:spec' });
  assert.ok(!isRefusal(added));
  return added.endpointId;
}

/** Creates a link as a merchant app's owner does. Both specs know this app's owner. */
async function theirLink({ people, clock }: World): Promise<void> {
  const terms = {
    linkId,
    appId: 'wallet_closed',
    type: 'exactOut',
    amount_microUsd: '5000000',
    limits_microUsd: null,
    title: 'their roof',
    description: null,
    source: null,
    createdAt: clock.now(),
  } as const;
  const by = { cause: 'operator:spec', appId: 'wallet_closed' } as const;
  assert.equal(isRefusal(await people.handle(link, linkId, (state) => createLink(state, terms), by)), false);
}

const paidOut = (): readonly PaymentEvent[] => [
  p.detected(payin),
  p.confirmed(payin),
  p.funded([payin], { received: '77.01', sourceAmount: '77.01', payout: '77.00' }),
  p.payoutRequested('77.00'),
  p.signed(attempt),
  p.settled(attempt),
];

async function sendWebhook({ handle, clock, store }: Log, paymentId: string): Promise<void> {
  const told = (await store.read(`payment-${paymentId}`)).find(({ type }) => type === 'PaymentFunded');
  assert.ok(told);
  const start = deliveryStart({
    deliveryId,
    paymentId,
    appId: 'wallet_closed',
    eventId: told.id,
    eventRevision: told.revision.toString(),
    startedAt: clock.now(),
  });
  const facts = { cause: 'worker:test', appId: 'wallet_closed' } as const;
  await handle(webhook, deliveryId, (state) => startSend(state, start), facts);
  await handle(webhook, deliveryId, (state) => recordOutcome(state, deliveryOutcome(500, clock.now())), facts);
}

/** Commands and queries on a log and its read models. */
export function realDeps(sql: Database, { store, handle, clock }: Log, roleCheck: RoleCheck): Partial<HttpDeps> {
  const reading = {
    sql,
    history: (stream: string) => readStream(store, stream),
    read: eventCodec.read,
    paymentIdOf,
  };
  const requestLog = createRequestLog({ sql, clock, ids: randomIds });
  return {
    record: requestLog.record,
    async listApiRequests(appId, asked) {
      await requestLog.write();
      return listApiRequests(sql, appId, asked);
    },
    ...commandsOn(handle, clock, () => 'https://pay.example', roleCheck),
    getPayment: (paymentId) => getPayment(reading, paymentId),
    getPaymentAsOf: (paymentId, asOf) => getPaymentAsOf(reading, paymentId, asOf),
    getPaymentByOrder: (appId, orderId) => getPaymentByOrder(reading, appId, orderId),
    listPayments: (filter) => listPayments(sql, filter),
    findPayments: (filter, page) => findPayments(sql, filter, page),
    paymentsInNeed: (appId) => paymentsInNeed(sql, appId),
    listTransactions: (paymentId) => listTransactions(sql, paymentId),
    exportPayments: limitExports((filter) => paymentsCsv(sql, filter, p.minute(30))),
    reports: createAppReports({ sql, clock: { now: () => p.minute(30) }, fiatRates: async () => null }),
    paymentStory: (appId, paymentId) => paymentStory(reading, appId, paymentId),
    getOverview: (appId, period) => getOverview(sql, appId, period, p.minute(30)),
    feed: {
      events: (appId, page) => listEvents(sql, appId, page),
      lastOrdinal: (appId) => lastOrdinal(sql, appId),
      async *changes() {},
    },
    cashback: {
      ...createCreditWorld(clock, () => 'https://pay.example.com/v1/cashbacksign').deps,
      of: (appId, limit) => getCashback(sql, appId, limit),
      movements: (appId, limit) => cashbackMovements(sql, appId, limit),
    },
    getStats: (appId, period) => getStats(sql, appId, period, p.minute(30)),
    proof: {
      ...quietProof,
      // Others must not learn which events it has. Proofs of events are public.
      evidence: async (stream) => ({
        stream,
        events: await readStream(store, stream),
        way: [],
        head: someHead,
      }),
    },
    ...webhooksOf({ handle, clock, store, reads: sql, send: async () => 'exhausted', rates: unlimited, roleCheck }),
  };
}
