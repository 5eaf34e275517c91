/** Floods of the endpoints of payers' wallets: cost of a request, and the callers whose requests count. */
import assert from 'node:assert/strict';
import type { PayerOrder, PayerTransactions } from '../../commands/payerTransactions.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { situationOf } from '../../domain/payment/situation.ts';
import { viewOf } from '../../domain/payment/view.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { createPreparedPayments, preparing, termsLife_ms } from '../../src/api/preparedPayments.ts';
import { defaultRates, type RateCount, type RateName, type Rates } from '../../src/api/rateLimits.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { createPreparedSeals } from '../../src/security/masterKey.ts';
import * as p from '../support/payments.ts';
import { goodRequest, paymentSecrets, receiver, startWorld, steppedClock } from './world.ts';

const account = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const seals = createPreparedSeals(new Uint8Array(32).fill(7));

function factsOf(history: readonly PaymentEvent[] = [p.created({ from: p.solanaUsdc })]): PayerFacts {
  const payment = p.paymentAfter(history);
  const at = p.minute(45);
  return {
    payment: viewOf(payment, at),
    situation: situationOf(payment, at, { head: null, needed: null }),
    choiceOpen: false,
    owners: [],
    transactions: [],
    version: '1',
    now: at,
  };
}

/** @param replaced parts of the preparation */
function prepared(replaced: Partial<PayerTransactions> = {}, facts: PayerFacts | null = factsOf()) {
  const calls = { terms: 0, prepare: 0, most: 0, now: 0 };
  const orders: PayerOrder[] = [];
  const clock = steppedClock();
  const transactions: PayerTransactions = {
    async readTerms() {
      calls.terms += 1;
      return { number: calls.terms };
    },
    async prepare(order, terms) {
      calls.prepare += 1;
      orders.push(order);
      return { transaction: JSON.stringify(terms), hash: 'h' };
    },
    ...replaced,
  };
  const payments = createPreparedPayments({
    clock,
    payerFacts: async () => facts,
    transactionsOf: () => transactions,
    canonicalAddress: familyAddresses.canonical,
    registerPayin: async () => refuse('conflict', 'nothing is registered here'),
    seals,
  });
  return { payments, calls, orders, clock };
}

describe('prepared transactions under a flood', () => {
  it('share their reads of the network: a thousand requests read it once in five seconds', async () => {
    const { payments, calls, clock } = prepared();
    for (let burst = 0; burst < 50; burst += 1)
      await Promise.all(Array.from({ length: 20 }, () => payments.prepare('a payment', { account })));
    assert.deepEqual([calls.prepare, calls.terms], [1_000, 1]);
    clock.advance(termsLife_ms - 1);
    await payments.prepare('a payment', { account });
    assert.equal(calls.terms, 1);
    clock.advance(1);
    await payments.prepare('a payment', { account });
    assert.equal(calls.terms, 2);
  });

  it('cache no failure of the network', async () => {
    let fails = true;
    const { payments } = prepared({
      async readTerms() {
        if (fails) throw new Error('away');
        return {};
      },
    });
    await assert.rejects(payments.prepare('a payment', { account }), /away/);
    fails = false;
    assert.ok(!isRefusal(await payments.prepare('a payment', { account })));
  });

  it('call nodes for a few at a time: the rest wait, and requests beyond the queue are answered at once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = { now: 0, most: 0 };
    const { payments } = prepared({
      async prepare() {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await promise;
        running.now -= 1;
        return { transaction: '', hash: null };
      },
    });
    const room = preparing.running + preparing.waiting;
    const asked = Array.from({ length: room + 10 }, () => payments.prepare('a payment', { account }));
    const outcomes = Promise.allSettled(asked);
    const refused = await Promise.race([Promise.any(asked.slice(room).map((each) => each.catch(String))), outcomes]);
    assert.match(String(refused), /too many payments are being prepared/);
    resolve();
    const kept = (await outcomes).filter(({ status }) => status === 'fulfilled').length;
    assert.deepEqual([kept, running.most], [room, preparing.running]);
  });

  it('are for exactly the amount due, from an account of the chain', async () => {
    const { payments, orders } = prepared();
    await payments.prepare('a payment', { account });
    assert.deepEqual([orders[0]?.amount, orders[0]?.payer, orders[0]?.token.symbol], [10_010_000n, account, 'USDC']);
    const wrong = await payments.prepare('a payment', { account: receiver });
    assert.ok(isRefusal(wrong) && wrong.pointer === '/account');
    for (const history of [[...p.unpaid, p.expired()], p.paid]) {
      const { payments: over, calls } = prepared({}, factsOf(history));
      const refused = await over.prepare('a payment', { account: receiver });
      assert.ok(isRefusal(refused) && refused.refused === 'paymentNotUpdatable', JSON.stringify(refused));
      assert.deepEqual([calls.terms, calls.prepare], [0, 0]);
    }
  });

  it('are for the amount that the payer chooses where any is accepted, and for no other amount', async () => {
    const any = factsOf([p.created({ type: 'anyAmount', from: p.solanaUsdc })]);
    const { payments, orders, calls } = prepared({}, any);
    assert.ok(!isRefusal(await payments.prepare('a payment', { account, amount: '12.5' })));
    assert.equal(orders[0]?.amount, 12_500_000n);
    for (const amount of [undefined, '', '0', '0.01', '-1', '1e3', '0.0000001', '10000.01', '0x10', '１']) {
      const refused = await payments.prepare('a payment', { account, amount });
      assert.ok(isRefusal(refused) && refused.pointer === '/amount', `${amount}: ${JSON.stringify(refused)}`);
    }
    const received = [p.created({ type: 'anyAmount', from: p.solanaUsdc }), p.detected(p.payin({ in: p.solanaUsdc }))];
    const again = await prepared({}, factsOf(received)).payments.prepare('a payment', { account, amount: '12.5' });
    assert.ok(isRefusal(again) && again.refused === 'paymentNotUpdatable', JSON.stringify(again));
    const agreed = await prepared().payments.prepare('a payment', { account, amount: '10.01' });
    assert.ok(isRefusal(agreed) && agreed.pointer === '/amount', JSON.stringify(agreed));
    assert.equal(calls.prepare, 1);
  });

  it('are sent for the chosen amount that they were prepared for: its seal fits no other', async () => {
    const sent: string[] = [];
    const signed = {
      hashOf: () => 'h',
      async send(transaction: string) {
        sent.push(transaction);
        return undefined;
      },
    };
    const any = factsOf([p.created({ type: 'anyAmount', from: p.solanaUsdc })]);
    const { payments } = prepared({ signed }, any);
    const made = await payments.prepare('a payment', { account, amount: '12.5' });
    assert.ok(!isRefusal(made) && made.seal !== null);
    const body = { account, transaction: 'signed', seal: made.seal };
    for (const amount of ['12.4', '12.6', undefined]) {
      const refused = await payments.sendSigned('a payment', { ...body, amount }, { cause: 'payer' });
      assert.ok(isRefusal(refused), String(amount));
    }
    assert.deepEqual(sent, []);
    assert.equal(await payments.sendSigned('a payment', { ...body, amount: '12.50' }, { cause: 'payer' }), 'h');
    assert.deepEqual(sent, ['signed']);
  });
});

/** Counts requests until the limits refuse, per caller and per payment. */
function counting(): { readonly rates: Rates; readonly counted: (readonly [RateName, string])[] } {
  const counted: (readonly [RateName, string])[] = [];
  const rates: Rates = {
    async count(name, who): Promise<RateCount | null> {
      counted.push([name, who]);
      const rate = defaultRates[name];
      const times = counted.filter(([counts, whose]) => counts === name && whose === who).length;
      return {
        ...rate,
        name,
        allowed: times <= rate.requestsMax,
        remaining: Math.max(0, rate.requestsMax - times),
        reset_s: 30,
      };
    },
  };
  return { rates, counted };
}

describe('HTTP: requests of payers’ wallets', () => {
  it('are counted by address and by payment, and a link of no payment costs no count of either', async () => {
    const { rates, counted } = counting();
    let prepares = 0;
    const never = async () => refuse('conflict', 'not here');
    const world = await startWorld({
      rates,
      preparedPayments: {
        prepare: async () => {
          prepares += 1;
          return { transaction: 'AAAA', seal: null };
        },
        sendSigned: never,
        register: never,
      },
    });
    try {
      const { body } = await world.call('POST', '/payment-api/payments', {
        headers: world.keys.wallet,
        body: goodRequest(),
      });
      const path = `/pay/${paymentSecrets.secretOf(body.id)}/transaction`;
      const ask = (to = path, more: object = {}) => world.call('POST', to, { body: { account, ...more } });
      assert.equal((await ask(`/pay/${'A'.repeat(43)}/transaction`)).status, 404);
      assert.deepEqual(
        counted.filter(([name]) => name !== 'address' && name.startsWith('wallet')),
        [],
      );
      const most = defaultRates.walletPayment.requestsMax;
      const statuses: number[] = [];
      for (let nth = 0; nth <= most; nth += 1) statuses.push((await ask()).status);
      assert.deepEqual(statuses, [...Array<number>(most).fill(200), 429]);
      assert.equal(prepares, most);
      assert.deepEqual(
        [...new Set(counted.map(([name]) => name).filter((name) => name.startsWith('wallet')))],
        ['wallet', 'walletPayment'],
      );
      assert.equal((await ask(path, { more: 1 })).status, 400);
    } finally {
      await world.stop();
    }
  });
});
