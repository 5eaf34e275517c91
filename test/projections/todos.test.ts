import assert from 'node:assert/strict';
import type { StoredEvent } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { deliveryIdOf, deliveryKinds } from '../../domain/webhook.ts';
import { deposits } from '../../projections/payments.ts';
import type { MovedBy, Projection, RowChange, SeenEventOf } from '../../projections/projection.ts';
import { hourlyStats } from '../../projections/stats.ts';
import { todoPayments, todoWebhooks } from '../../projections/todos.ts';
import { transfersOfPayments } from '../../projections/transfers.ts';
import { deliveryStart } from '../support/deliveries.ts';
import * as p from '../support/payments.ts';

/** A projection's changes for a history's last event; events are written a minute apart. */
function afterLast(projection: Projection, history: readonly PaymentEvent[]): readonly RowChange[] {
  const before = history.slice(0, -1).reduce(paymentDecider.evolve, paymentDecider.initial);
  const last = history.at(-1) as PaymentEvent;
  const stored = { id: `event-${history.length}`, revision: BigInt(history.length - 1), metadata: { at: at(history) } };
  const seen = {
    category: 'payment',
    event: last,
    stored: stored as StoredEvent,
    before,
    after: paymentDecider.evolve(before, last),
  };
  return projection.project(seen as SeenEventOf);
}

const at = (history: readonly unknown[]) => p.minute(history.length);
const rows = (changes: readonly RowChange[]) => changes.map((change) => ('row' in change ? change.row : change.key));

describe('the to-do list of payments', () => {
  const todo = (history: readonly PaymentEvent[]) => {
    const [change] = afterLast(todoPayments, history);
    if (change?.op !== 'upsert') return change?.op;
    const { chain_id, due_at } = change.row;
    return { chain_id, due_at };
  };

  it('has a waiting payment due at the end of its time, on the source chain', () => {
    assert.deepEqual(todo(p.unpaid), { chain_id: 8453, due_at: p.expires_at });
  });
  it('has a payment with a choice due on every chain whose deposit was disclosed, and on no other', () => {
    const created = p.created({ alternatives: [p.polygonUsdc, p.solanaUsdc] });
    const dueOn = (history: readonly PaymentEvent[]) =>
      afterLast(todoPayments, history).map((change) => [
        change.op,
        'row' in change ? change.row.chain_id : change.key.chain_id,
      ]);
    const evm = [
      ['upsert', 8453],
      ['upsert', 137],
    ];
    assert.deepEqual(dueOn([created]), evm);
    assert.deepEqual(dueOn([created, p.chose(p.solanaUsdc)]), [...evm, ['upsert', 501]]);
    assert.deepEqual(dueOn([created, p.chose(p.solanaUsdc), ...p.paid.slice(1)]), [
      ['remove', 8453],
      ['remove', 137],
      ['remove', 501],
    ]);
  });
  it('has nothing left for a payment that is funded, expired or bounced', () => {
    assert.equal(todo(p.paid), 'remove');
    assert.equal(todo([...p.unpaid, p.expired()]), 'remove');
    assert.equal(todo([...p.unpaid, p.bounced('amountTooLow', '1.00')]), 'remove');
  });
});

describe('the list of transfers', () => {
  const listed = (history: readonly PaymentEvent[]) =>
    rows(afterLast(transfersOfPayments, history)).map(({ kind, chain_id, step, due_at }) => ({
      kind,
      chain_id,
      step,
      due_at,
    }));
  const payout = (step: string, history: readonly unknown[]) => [
    { kind: 'payout', chain_id: 1, step, due_at: at(history) },
  ];

  it('has a payout of each funded payment, on the destination chain', () => {
    assert.deepEqual(listed(p.unpaid), []);
    assert.deepEqual(listed(p.paid), payout('order', p.paid));
    assert.deepEqual(listed(p.ordered), payout('sign', p.ordered));
    assert.deepEqual(listed(p.sent), payout('broadcast', p.sent));
    assert.deepEqual(listed(p.done), payout('done', p.done));
  });
  it('holds a payout whose money has left, until as much is final again', () => {
    const gone = [...p.ordered, p.orphaned(), p.lost()];
    assert.deepEqual(listed([...p.ordered, p.orphaned()]), payout('hold', gone.slice(0, -1)));
    assert.deepEqual(listed(gone), []);
    const back = [...gone, p.detected(), p.confirmed()];
    assert.deepEqual(listed(back), payout('sign', back));
  });
  it('has a payout again that left its chain', () => {
    const again = [...p.done, p.unsettled()];
    assert.deepEqual(listed(again), payout('broadcast', again));
  });
  it('has each refund, on the chain of the money', () => {
    const bounced = [...p.unpaid, p.detected(), p.confirmed(), p.bounced('amountTooLow', '10.01')];
    const ordered = [...bounced, p.refundRequested('10.01')];
    assert.deepEqual(listed(ordered), [{ kind: 'refund', chain_id: 8453, step: 'sign', due_at: at(ordered) }]);
  });
});

describe('the to-do list of webhooks', () => {
  const told = (history: readonly PaymentEvent[]) => rows(afterLast(todoWebhooks, history));
  const withHook = ([, ...rest]: readonly PaymentEvent[]) => [
    p.created({ webhookUrl: 'https://shop.example/hook' }),
    ...rest,
  ];

  it('has the funding and the payout, each at its revision', () => {
    const [funded] = told(withHook(p.paid));
    assert.equal(funded?.event_type, 'payment_payin_completed');
    assert.equal(funded?.event_revision, '3');
    assert.equal(funded?.delivery_id, deliveryIdOf('event-4'));
    assert.equal(told(withHook(p.done))[0]?.event_type, 'payment_payout_completed');
  });
  it('has nothing where the app has no webhook', () => {
    assert.deepEqual(told(p.paid), []);
  });
  it('has nothing for other events: any other type, or a payout confirmed again', () => {
    assert.deepEqual(told(withHook(p.sent)), []);
    assert.deepEqual(told(withHook([...p.done, p.unsettled(), p.settled(p.attempt(), 201)])), []);
  });
  it('gains nothing by an owner’s requests: tests and redeliveries are claimed as they are sent', () => {
    for (const kind of deliveryKinds) {
      const data = deliveryStart({ kind });
      const seen = { category: 'webhook', event: { type: 'WebhookSendStarted', data } } as SeenEventOf<'webhook'>;
      assert.deepEqual(todoWebhooks.project(seen as SeenEventOf & MovedBy), [
        { op: 'remove', table: 'todo_webhooks', key: { delivery_id: data.deliveryId } },
      ]);
    }
  });
});

describe('hourly statistics', () => {
  const added = (history: readonly PaymentEvent[]) => rows(afterLast(hourlyStats, history));
  const share = { app_id: 'wallet_demo', hour: '2026-11-21T09:00:00.000Z' };

  it('count a payment at its confirmed payout: the received and the paid-out amount', () => {
    assert.deepEqual(added(p.done), [{ ...share, volume: '10.01', net: '10.00', refunded: '0', count: 1 }]);
    assert.deepEqual(added(p.sent), []);
  });
  it('subtract a payout that left its chain, and count it once more when it is back', () => {
    const away = [...p.done, p.unsettled()];
    assert.deepEqual(added(away), [{ ...share, volume: '-10.01', net: '-10.00', refunded: '0', count: -1 }]);
    assert.deepEqual(added([...away, p.settled(p.attempt(), 201)]), [
      { ...share, volume: '10.01', net: '10.00', refunded: '0', count: 1 },
    ]);
  });
});

describe('the deposit index', () => {
  it('holds EVM addresses in lower case and the agreed amount in whole tokens, rounded up', () => {
    const [row] = rows(afterLast(deposits, p.unpaid));
    assert.equal(row?.address, p.depositAddress.toLowerCase());
    assert.equal(row?.agreed_usd, '11');
    assert.equal(row?.memo, '');
  });
  it('gets the deposit of another family when it is chosen, once, and has the largest agreed amount of all sources', () => {
    const created = p.created({ alternatives: [p.solanaUsdc, p.bnbUsdc] });
    const shown = (history: readonly PaymentEvent[]) =>
      rows(afterLast(deposits, history)).map(({ address, chain_id, agreed_usd }) => [address, chain_id, agreed_usd]);
    assert.deepEqual(shown([created]), [[p.depositAddress.toLowerCase(), 8453, '11']]);
    assert.deepEqual(shown([created, p.chose(p.solanaUsdc)]), [['deposit on solana', 501, '11']]);
    assert.deepEqual(shown([created, p.chose(p.bnbUsdc, p.terms().deposit)]), []);
    assert.deepEqual(shown([created, p.chose(p.solanaUsdc), p.detected()]), []);
  });
  it('has no agreed amount for a payment of any amount', () => {
    assert.equal(rows(afterLast(deposits, [p.created({ type: 'anyAmount' })]))[0]?.agreed_usd, null);
  });
});
