import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { eventsPerStreamMax, readStream } from '../../commands/handle.ts';
import { recordPayin } from '../../commands/recordPayin.ts';
import type { DomainEvent } from '../../domain/decider.ts';
import { type Transfer, transferId } from '../../domain/payment/events.ts';
import { payinsMax } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { createFold } from '../../projections/fold.ts';
import { done, payin, unpaid } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const payment = { paymentId: 'p', appId: 'wallet_demo' };
const stream = 'payment-p';
const by = { cause: 'worker:test', appId: payment.appId } as const;

async function world(history: readonly DomainEvent[]) {
  const { start, store, clock, typesIn } = processes();
  const handle = start();
  await accepted(handle(paymentDecider, 'p', () => history as typeof done, by));
  const record = async (transfer: Transfer, ...passes: boolean[]) => {
    for (const final of passes) await accepted(recordPayin({ handle, clock }, payment, { transfer, final }));
  };
  return { start, store, clock, typesIn, record };
}

describe('a flood of transfers to one payment', () => {
  it('keeps a hundred, leaves the others outside its stream, each once and with the payment’s name', async () => {
    const { store, record, typesIn } = await world(done);
    const flood = Array.from({ length: 3 * payinsMax }, (_, index) => payin({ amount: '0.5', tx: 'flood', index }));
    for (const transfer of flood) await record(transfer, false, true, true);
    const events = await readStream(store, stream);
    assert.equal(events.length, done.length + 2 * (payinsMax - 1));
    const beyond = flood.slice(payinsMax - 1);
    for (const transfer of beyond.slice(0, 20)) {
      const kept = await store.read(`unmatched-${transferId(transfer)}`);
      assert.deepEqual(
        kept.map(({ type, data, metadata }) => [type, data, metadata.appId]),
        [['UnmatchedPayinSeen', { transfer, beyond: payment, seenAt: kept[0]?.metadata.at }, payment.appId]],
      );
    }
    assert.deepEqual(await typesIn(`unmatched-${transferId(flood[0] as Transfer)}`), []);
  });

  it('stops neither its read model nor a command of a restarted process', async () => {
    const { store, record, start, clock } = await world(done);
    for (let index = 0; index < 2 * payinsMax; index++)
      await record(payin({ amount: '0.5', tx: 'flood', index }), true);
    const fold = createFold({
      read: eventCodec.read,
      history: async (name, revision) => (await readStream(store, name)).slice(0, Number(revision)),
      introduced: new Map(),
    });
    await fold.prepare(await store.read(stream, { backwards: true, max: 1 }));
    const late = payin({ tx: 'later', amount: '1' });
    await accepted(recordPayin({ handle: start(), clock }, payment, { transfer: late, final: true }));
    assert.equal((await store.read(`unmatched-${transferId(late)}`)).length, 1);
  });

  it('with dust before it is paid, displaces neither the customer’s money nor the payout', async () => {
    const { record, typesIn } = await world(unpaid);
    for (let index = 0; index < 2 * payinsMax; index++)
      await record(payin({ amount: '0.000101', tx: 'flood', index }), false, true);
    await record(payin({ tx: 'customer' }), true);
    assert.equal((await typesIn(stream)).at(-1), 'PaymentFunded');
  });

  it('in an unforeseen form is refused before the stream becomes unreadable', async () => {
    const { start, typesIn } = await world(done);
    const hint = (n: number) => ({
      type: 'PayinRegistered' as const,
      data: { txHash: `0x${n.toString(16).padStart(64, '0')}`, senderAddress: 'x', registeredAt: payin().blockTime },
    });
    const handle = start();
    const many = (from: number, count: number) =>
      handle(paymentDecider, 'p', () => Array.from({ length: count }, (_, n) => hint(from + n)), by);
    for (let written = done.length; written < eventsPerStreamMax; written += 1_000)
      await accepted(many(written, Math.min(1_000, eventsPerStreamMax - written)));
    assert.deepEqual(await many(0, 1), {
      refused: 'illegalStep',
      message: `${stream} has ${eventsPerStreamMax} events, as many as a stream takes: tell the operator`,
    });
    assert.equal((await typesIn(stream)).length, eventsPerStreamMax);
  });
});
