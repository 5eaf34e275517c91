import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { recordOutcome, startSend, webhook } from '../../domain/webhook.ts';
import { reportsSet } from '../../projections/sets.ts';
import { paymentStory, type StoryEntry } from '../../queries/paymentStory.ts';
import type { Database } from '../../src/postgres/database.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const paymentId = paymentIdOf(1);

describe('a payment’s story', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    world = createWorld();
    await database.query('TRUNCATE ops.chain_cursors');
  });

  const given = async ([first, ...rest]: readonly PaymentEvent[]) => {
    const own = { ...first, data: { ...first?.data, paymentId } } as PaymentEvent;
    for (const event of [own, ...rest]) {
      world.clock.advance(1_000);
      await append(world, `payment-${paymentId}`, [event]);
    }
    await fill(database, world.store, reportsSet, [await wholeLog(world.store)]);
  };
  const tell = (appId = 'wallet_demo', id = paymentId) =>
    paymentStory(
      { sql: database, history: (stream) => readStream(world.store, stream), read: eventCodec.read },
      appId,
      id,
    );
  const entries = async (): Promise<readonly StoryEntry[]> => (await tell())?.entries ?? assert.fail('no story');
  const one = async <T extends StoryEntry['type']>(type: T) =>
    (await entries()).find((entry): entry is Extract<StoryEntry, { type: T }> => entry.type === type) ??
    assert.fail(`nothing is ${type}`);

  it('contains every event in order, with the status after it and its amounts in whole tokens', async () => {
    await given(p.done);
    const story = await entries();
    assert.deepEqual(
      story.map(({ type, status }) => `${type} ${status}`),
      [
        'created payment_unpaid',
        'payinDetected payment_started',
        'payinConfirmed payment_started',
        'funded payment_payin_completed',
        'ordered payment_bridging',
        'signed payment_payout_started',
        'settled payment_payout_completed',
      ],
    );
    const usdc = (amount: string) => ({ amount, tokenSymbol: 'USDC' });
    const { type, at, status, ...funded } = await one('funded');
    assert.deepEqual(funded, {
      rule: 'agreed',
      received: usdc('10.01'),
      fee: usdc('0.01'),
      excess: usdc('0.00'),
      dust: usdc('0.00'),
      payout: usdc('10.00'),
    });
    assert.deepEqual((await one('created')).gets, usdc('10.00'));
    const payin = await one('payinConfirmed');
    assert.deepEqual([payin.chainId, payin.amount, payin.txHash], [8453, '10.01', p.payin().txHash]);
    const settled = await one('settled');
    assert.deepEqual([settled.leg, settled.txHash, settled.chainId], ['payout', p.attempt().hash, 1]);
    assert.equal((await tell())?.payment.status, 'payment_payout_completed');
  });

  it('contains the result of each attempt', async () => {
    const second = p.attempt(2, { nonce: '8' });
    await given([...p.sent, p.died(1), p.signed(second), p.settled(second), p.unsettled(second)]);
    const attempts = (await entries()).filter((entry) => entry.type === 'signed');
    assert.deepEqual(
      attempts.map(({ attempt, nonce, fate }) => [attempt, nonce, fate]),
      [
        [1, '7', 'dead'],
        [2, '8', 'live'],
      ],
    );
    assert.deepEqual(
      (await entries()).slice(-4).map(({ type }) => type),
      ['died', 'signed', 'settled', 'left'],
    );
    assert.equal((await one('died')).proof, 'nonceUsed');
  });

  it('states the depth of a transfer that is not final yet, as far as its chain has been read', async () => {
    await given([...p.unpaid, p.detected()]);
    assert.equal((await one('payinDetected')).confirmations, null);
    await database.query(`INSERT INTO ops.chain_cursors VALUES (8453, 'head', 102, '0x', now())`);
    assert.equal((await one('payinDetected')).confirmations, 3);
    await database.query(`UPDATE ops.chain_cursors SET block_number = 99`);
    assert.equal((await one('payinDetected')).confirmations, null);
  });

  it('contains held and refunded money', async () => {
    const back = p.refundAttempt(1, '3.00');
    await given([
      ...p.unpaid,
      p.detected(p.payin({ amount: '3.00' })),
      p.orphaned(p.payin({ amount: '3.00' })),
      p.confirmed(p.payin({ amount: '3.00' })),
      p.bounced('amountTooLow', '3.00'),
      p.refundAddressSet(),
      p.refundRequested('3.00'),
      p.refundSigned(1, back),
      p.refundSettled(1, back),
    ]);
    assert.deepEqual(
      (await entries()).slice(2).map(({ type }) => type),
      ['payinOrphaned', 'payinConfirmed', 'bounced', 'refundAddressSet', 'ordered', 'signed', 'settled'],
    );
    const { leg, refund, reason, money } = await one('ordered');
    assert.deepEqual([leg, refund, reason, money.amount], ['refund', 1, 'bounced', '3.00']);
    assert.equal((await tell())?.payment.refunded, '3.00');
  });

  it('contains webhooks between the events, with their answers and durations', async () => {
    await given(p.paid);
    world.clock.advance(1_000);
    const start = deliveryStart({ paymentId, appId: 'wallet_demo', startedAt: world.clock.now() });
    const facts = { cause: 'worker:test', appId: null } as const;
    await world.handle(webhook, start.deliveryId, (state) => startSend(state, start), facts);
    await world.handle(webhook, start.deliveryId, (state) => recordOutcome(state, deliveryOutcome(204)), facts);
    world.clock.advance(1_000);
    await append(world, `payment-${paymentId}`, [p.payoutRequested()]);
    await fill(database, world.store, reportsSet, [await wholeLog(world.store)]);
    const story = await entries();
    assert.deepEqual(
      story.slice(-3).map(({ type }) => type),
      ['funded', 'webhook', 'ordered'],
    );
    const { delivery, statusCode, duration_ms, kind, status } = await one('webhook');
    assert.deepEqual([delivery, statusCode, duration_ms, kind, status], ['delivered', 204, 12, 'automatic', null]);
  });

  it('names events of unknown types', async () => {
    await given(p.paid);
    await append(world, `payment-${paymentId}`, [{ type: 'PayoutPraised', data: {} }]);
    const last = (await entries()).at(-1);
    assert.deepEqual([last?.type, last?.type === 'other' && last.name], ['other', 'PayoutPraised']);
  });

  it('is readable for its owner only, and does not exist for an unknown payment', async () => {
    await given(p.done);
    assert.equal(await tell('wallet_other'), null);
    assert.equal((await tell('wallet_demo', paymentId.toUpperCase()))?.payment.paymentId, paymentId);
    for (const id of [paymentIdOf(9), '', 'x', '\0', `${paymentId} `])
      assert.equal(await tell('wallet_demo', id), null);
  });
});
