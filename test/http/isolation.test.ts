/**
 * Two apps on the real commands, read models and queries. What one has is out of the other's reach on every route that the router
 * serves: a route without an attempt of its own here fails this spec.
 */
import assert from 'node:assert/strict';
import type { Express } from 'express';
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { recordOutcome, startSend, webhook } from '../../domain/webhook.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { getPayment, getPaymentByOrder } from '../../queries/getPayment.ts';
import { listPayments } from '../../queries/listPayments.ts';
import { getStats, listTransactions } from '../../queries/reports.ts';
import { createApp } from '../../src/http/app.ts';
import { defaultLimits, type HttpDeps } from '../../src/http/deps.ts';
import { unlimited } from '../../src/http/rates.ts';
import type { Database } from '../../src/postgres/database.ts';
import { webhooksOf } from '../../src/roles/webhooks.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { append, createWorld, type World as Log } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import type { Answered } from './client.ts';
import { commandsOn, goodRequest, type Headers, receiver, startWorld, type World } from './world.ts';

const theirReceiver = p.customerWallet;
const deliveryId = '0198f3c2-0000-8000-8000-000000000777';
const txHash = p.hashOf('mine');
const payin = p.payin({ amount: '77.01' });
const attempt = p.attempt(1, { amount: '77.00', receiver: theirReceiver });

/** What the other app has, and where its list goes on. */
interface Theirs {
  readonly id: string;
  readonly cursor: string;
  /** Texts that stand in its data and nowhere else. */
  readonly marks: readonly string[];
}

interface Attempt {
  readonly path: string;
  readonly body?: object;
  /** The statuses that the other app may get: its keys, orders and admin, and its owner signed in. */
  readonly answered: readonly number[];
  /** Asked with the other app's own admin key, the answer holds its data: the attempt would find it. */
  readonly theirsWith?: number;
}

const base = '/payment-api/payments';
const deliveriesPath = '/merchant-api/me/webhook/deliveries';

/** As it was given and in capitals. */
const byId = ({ id }: Theirs, rest: string, more: Partial<Attempt>): readonly Attempt[] => [
  { path: `${base}/${id}${rest}`, answered: [404], theirsWith: 200, ...more },
  { path: `${base}/${id.toUpperCase()}${rest}`, answered: [404], ...(more.body && { body: more.body }) },
];
const creation = (path: string): Attempt[] => [
  { path, body: goodRequest({ appId: 'wallet_closed', orderId: 'their-order' }), answered: [403], theirsWith: 200 },
  { path, body: goodRequest({ orderId: 'their-order' }), answered: [201, 200] },
];
const open = (path: string): Attempt[] => [{ path, answered: [200] }];

const attempts: Readonly<Record<string, (theirs: Theirs) => readonly Attempt[]>> = {
  'POST /payment-api': () => creation('/payment-api'),
  'POST /payment-api/payments': () => creation(base),
  'GET /payment-api/payments': ({ cursor }) => [
    { path: base, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?orderId=their-order`, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?cursor=${encodeURIComponent(cursor)}`, answered: [403, 200, 400], theirsWith: 200 },
    { path: `${base}?status=payment_payout_completed&limit=100`, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?appId=wallet_closed`, answered: [403, 400] },
  ],
  'GET /payment-api/payments/:id': (theirs) => byId(theirs, '', {}),
  'GET /payment-api/payments/order/:appId/:orderId': () => [
    { path: `${base}/order/wallet_closed/their-order`, answered: [404], theirsWith: 200 },
    { path: `${base}/order/wallet_demo/their-order`, answered: [404, 200] },
    { path: `${base}/order/WALLET_CLOSED/their-order`, answered: [404, 400] },
  ],
  'POST /payment-api/payments/:id/payin': (theirs) =>
    byId(theirs, '/payin', { body: { txHash, fromAddress: receiver }, theirsWith: 409 }),
  'GET /payment-api/payments/:id/transactions': (theirs) => byId(theirs, '/transactions', {}),
  'GET /merchant-api/me/stats': () =>
    ['today', '7d', '30d'].map((period) => ({
      path: `/merchant-api/me/stats?period=${period}`,
      answered: [403, 200],
      theirsWith: 200,
    })),
  'GET /merchant-api/me/webhook/deliveries': ({ id }) =>
    ['limit=100', `paymentId=${id}`, 'status=exhausted'].map((query) => ({
      path: `${deliveriesPath}?${query}`,
      answered: [403, 200],
      theirsWith: 200,
    })),
  'GET /merchant-api/me/webhook/deliveries/:id': () => [
    { path: `${deliveriesPath}/${deliveryId}`, answered: [403, 404], theirsWith: 200 },
    { path: `${deliveriesPath}/${deliveryId.toUpperCase()}`, answered: [403, 404], theirsWith: 200 },
  ],
  'POST /merchant-api/me/webhook/deliveries/:id/redeliver': () => [
    { path: `${deliveriesPath}/${deliveryId}/redeliver`, body: { acknowledged: true }, answered: [401, 404] },
  ],
  'POST /merchant-api/me/webhook/test': () => [{ path: '/merchant-api/me/webhook/test', answered: [401, 409] }],
  'GET /healthz': () => open('/healthz'),
  'GET /readyz': () => open('/readyz'),
};

/** Files of the documentation hold nothing of any app; pages are tried with sessions, in a spec of their own. */
const isElsewhere = (route: string): boolean => /^\w+ \/(docs|openapi|dashboard|$)/.test(route);

/** As express has them, so that no table of ours can leave one out. */
function routesOf(app: Express): readonly string[] {
  interface Layer {
    readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
    readonly handle?: { readonly stack?: readonly Layer[] };
  }
  const read = ({ route, handle }: Layer): readonly string[] => {
    if (!route) return (handle?.stack ?? []).flatMap(read);
    const methods = Object.keys(route.methods).filter((method) => method !== 'options' && method !== '_all');
    return methods.map((method) => `${method.toUpperCase()} ${route.path}`);
  };
  return (app.router.stack as unknown as readonly Layer[]).flatMap(read);
}

const served = routesOf(createApp({ limits: defaultLimits } as HttpDeps)).filter((route) => !isElsewhere(route));

describe('what another app has', () => {
  let world: World;
  let theirs: Theirs;
  before(async () => {
    const database = await freshDatabase();
    const log = createWorld();
    world = await startWorld(realDeps(database, log));
    theirs = await fillBoth(world, database, log);
  });
  after(() => world.stop());

  const ask = (route: string, { path, body }: Attempt, headers: Headers): Promise<Answered> =>
    world.call(route.split(' ')[0] ?? '', path, { headers, ...(body && { body }) });
  /** What was sent is known to the sender: only what comes back besides would give something away. */
  const given = (attempt: Attempt, { text }: Answered) =>
    theirs.marks.filter((mark) => text.includes(mark) && !JSON.stringify(attempt).includes(mark));

  it('is tried on every route that the router serves, and on no other', () => {
    assert.deepEqual(Object.keys(attempts).toSorted(), served.toSorted());
  });

  for (const route of served) {
    it(`is out of reach: ${route}`, async () => {
      for (const attempt of attempts[route]?.(theirs) ?? assert.fail(`${route} has no attempt`)) {
        for (const key of [world.keys.wallet, world.keys.walletAdmin, world.owners.wallet, {}]) {
          const answer = await ask(route, attempt, key);
          const keyless = Object.keys(key).length === 0;
          // Some routes take keys alone.
          const answered = key === world.owners.wallet ? [...attempt.answered, 401] : attempt.answered;
          if (!keyless) assert.ok(answered.includes(answer.status), `${attempt.path}: ${answer.status}`);
          const isPublic = keyless && route === 'GET /payment-api/payments/:id';
          if (!isPublic) assert.deepEqual(given(attempt, answer), [], `${attempt.path} gives something away`);
        }
        if (attempt.theirsWith === undefined) continue;
        const owner = await ask(route, attempt, world.keys.otherAdmin);
        assert.equal(owner.status, attempt.theirsWith, attempt.path);
        if (owner.status === 200)
          assert.notDeepEqual(given(attempt, owner), [], `${attempt.path} finds nothing at all`);
      }
    });
  }
});

/** Both apps have a payment; the other app's went all the way and its webhook was sent. */
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
    const { status, body: made } = await world.call('POST', base, { headers, body });
    assert.equal(status, 201);
    return made;
  };
  await create(world.keys.wallet, 'my', receiver, '10.00');
  const older = await create(world.keys.other, 'their-older', theirReceiver, '20.00');
  const payment = await create(world.keys.other, 'their', theirReceiver, '77.00');
  const events = paidOut();
  await append(log, `payment-${payment.id}`, events);
  await sendWebhook(log, payment.id);
  const all = await wholeLog(log.store);
  for (const set of [workSet, reportsSet]) await fill(database, log.store, set, [all]);
  const page = await world.call('GET', `${base}?limit=1`, { headers: world.keys.otherAdmin });
  const deposits = [payment, older].map(({ source }) => source.receiverAddress);
  const texts = ['their title', 'their-order', 'their-metadata', 'their-older', deliveryId, '77.01', theirReceiver];
  return {
    id: payment.id,
    cursor: page.body.nextCursor,
    marks: [payment.id, older.id, ...deposits, payin.txHash, attempt.hash, ...texts],
  };
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

function realDeps(sql: Database, { store, handle, clock }: Log): Partial<HttpDeps> {
  const reading = {
    sql,
    history: (stream: string) => readStream(store, stream),
    read: eventCodec.read,
    paymentIdOf,
  };
  return {
    ...commandsOn(handle, clock),
    getPayment: (paymentId) => getPayment(reading, paymentId),
    getPaymentByOrder: (appId, orderId) => getPaymentByOrder(reading, appId, orderId),
    listPayments: (filter) => listPayments(sql, filter),
    listTransactions: (paymentId) => listTransactions(sql, paymentId),
    getStats: (appId, period) => getStats(sql, appId, period, p.minute(30)),
    ...webhooksOf({ handle, clock, store, reads: sql, send: async () => 'exhausted', rates: unlimited }),
  };
}
