import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import type { RelayEvent, RelayOrdered } from '../../domain/relay/events.ts';
import {
  type RelayGasState,
  relayGas,
  relayHourOf,
  relaysPerHourMax,
  reserveRelayGas,
} from '../../domain/relay/gas.ts';
import {
  endRelay,
  isRelaySpent,
  nextRelayStep,
  orderRelay,
  type Relay,
  relay,
  relayLeg,
  relayStandingOf,
} from '../../domain/relay/relay.ts';
import { relayResultOf } from '../../domain/relay/result.ts';
import { keyOf, referenceOf } from '../../domain/transfer/shapes.ts';
import {
  attempt,
  baseUsdc,
  bounced,
  confirmed,
  created,
  depositAddress,
  detected,
  expired,
  funded,
  hashOf,
  landed,
  minute,
  orphaned,
  payin,
  paymentAfter,
  reverted,
  treasuryAccount,
} from '../support/payments.ts';
import { paymentId, wide } from '../support/relayDesk.ts';

const payer = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const { symbol, address, decimals } = baseUsdc.token;
const token = { symbol, address, decimals };
const order: RelayOrdered = {
  paymentId,
  appId: 'wallet_demo',
  relay: 1,
  chainId: 8453,
  token,
  receiver: depositAddress,
  amount: '10010000',
  form: {
    kind: 'authorization',
    deposit: { address: depositAddress, salt: '0x01' },
    payer,
    validAfter: '0',
    validBefore: '1795252000',
    nonce: `0x${'ab'.repeat(32)}`,
    signature: `0x${'11'.repeat(65)}`,
    costMax: '1000',
  },
  orderedAt: minute(1),
};
const sent = attempt(1, {});
const signing = {
  ...sent,
  chainId: 8453,
  token,
  receiver: depositAddress,
  receiverMemo: null,
  amount: '10010000',
} as const;
const ordered: RelayEvent = { type: 'RelayOrdered', data: order };
const signed: RelayEvent = { type: 'RelaySigned', data: signing };
const died: RelayEvent = { type: 'RelayDied', data: { attempt: 1, proof: reverted } };
const settled: RelayEvent = { type: 'RelayConfirmed', data: { ...landed(signing), confirmedAt: minute(3) } };
const ended = (reason: 'superseded' | 'drained' | 'paid'): RelayEvent => ({
  type: 'RelayEnded',
  data: { reason, detail: 'said', endedAt: minute(3) },
});

function after(...events: readonly RelayEvent[]): Relay {
  const state = events.reduce(relay.evolve, relay.initial);
  return state ?? assert.fail('it is ordered');
}

describe('a relay', () => {
  it('has a reference of its own, from which its key can be read', () => {
    const key = { kind: 'relay', id: `${paymentId}-1`, part: 1 } as const;
    assert.equal(referenceOf(key), `relay-${paymentId}-1`);
    assert.deepEqual(keyOf(referenceOf(key)), key);
  });

  it('is ordered once: the same authorization again is nothing, another one is refused', () => {
    assert.deepEqual(orderRelay(null, order), [ordered]);
    assert.deepEqual(orderRelay(after(ordered), { ...order, orderedAt: minute(2) }), []);
    const other = { ...order, form: { ...order.form, nonce: `0x${'cd'.repeat(32)}` } };
    assert.equal((orderRelay(after(ordered), other) as { refused?: string }).refused, 'conflict');
  });

  it('is signed, sent and settled like every transfer; after a proven death it is signed again, or ended', () => {
    const steps = (...events: readonly RelayEvent[]) => nextRelayStep(after(...events)).do;
    assert.deepEqual(
      [steps(ordered), steps(ordered, signed), steps(ordered, signed, died), steps(ordered, signed, settled)],
      ['sign', 'broadcast', 'sign', 'done'],
    );
    assert.equal(steps(ordered, signed, died, ended('drained')), 'done');
    assert.equal(relayStandingOf(after(ordered, ended('paid'))), 'ended');
  });

  it('cannot be ended while an attempt of it can land, nor signed once it has ended', () => {
    const end = { reason: 'expired', detail: 'x'.repeat(500), now: minute(4) } as const;
    assert.ok(isRefusal(endRelay(after(ordered, signed), end)));
    assert.ok(isRefusal(endRelay(after(ordered, signed, settled), end)));
    const [event] = endRelay(after(ordered, signed, died), end) as readonly RelayEvent[];
    assert.ok(event?.type === 'RelayEnded' && event.data.detail.length === 400);
    assert.deepEqual(endRelay(after(ordered, ended('drained')), end), []);
    assert.ok(isRefusal(relayLeg.sign(after(ordered, ended('drained')), 1, signing)));
    assert.deepEqual(relayLeg.sign(after(ordered), 1, signing), [signed]);
    assert.ok(isRefusal(relayLeg.sign(after(ordered), 1, { ...signing, receiver: payer })));
  });
});

describe('a relay on Solana whose deposit has no token account', () => {
  const opening = { ...signing, nonce: null, fee: { maxFee: '5080', rent: '2039280' } };
  const { hash, blockNumber, blockHash } = landed(opening);
  const cost = { payer: treasuryAccount, fee: '5080', rent: '2039280' };
  const opened: RelayEvent = { type: 'RelayAccountOpened', data: { attempt: 1, hash, blockNumber, blockHash, cost } };
  const paying = { ...opening, attempt: 2, hash: hashOf('paying'), fee: { maxFee: '10001' } };
  const atOpening = after(ordered, { type: 'RelaySigned', data: opening });
  const final = { kind: 'final', attempt: 1, hash, blockHash, blockNumber: BigInt(blockNumber), cost } as const;
  const toPay = relay.evolve(atOpening, opened) ?? assert.fail();
  const atPayment = relay.evolve(toPay, { type: 'RelaySigned', data: paying }) ?? assert.fail();

  it('opens it first, which settles nothing, and signs the payer’s transaction next', () => {
    assert.deepEqual(relayLeg.conclude(atOpening, 1, final, minute(3)), [opened]);
    assert.deepEqual(relayLeg.conclude(toPay, 1, final, minute(3)), []);
    assert.deepEqual([relayStandingOf(toPay), nextRelayStep(toPay).do], ['ordered', 'sign']);
    assert.deepEqual(relayLeg.sign(toPay, 1, paying), [{ type: 'RelaySigned', data: paying }]);
    assert.ok(isRefusal(relayLeg.sign(atOpening, 1, paying)), 'not while the opening can land');
    const paid = { ...final, attempt: 2, hash: paying.hash };
    const [settled] = relayLeg.conclude(atPayment, 1, paid, minute(4)) as readonly RelayEvent[];
    assert.equal(settled?.type, 'RelayConfirmed');
  });

  it('counts a failed opening as a failed attempt, and no opening as one', () => {
    const dead = { kind: 'dead', attempts: [1], proof: reverted } as const;
    assert.deepEqual(relayLeg.conclude(atOpening, 1, dead, minute(3)), [died]);
    assert.equal(isRelaySpent(toPay), false);
  });

  it('reports no transaction as the payment’s before the payer’s own is signed', () => {
    const pending = (state: Relay) => relayResultOf(paymentAfter([created()]), state);
    assert.deepEqual(pending(atOpening), { kind: 'pending', hash: null });
    assert.deepEqual(pending(atPayment), { kind: 'pending', hash: paying.hash });
  });
});

describe('the result of a relay', () => {
  const own = { ...payin({ amount: '10.01' }), from: payer };
  const foreign = { ...payin({ amount: '10.01', tx: 'other' }), from: depositAddress };
  const paidBy = (transfer: typeof own) => [detected(transfer), confirmed(transfer), funded([transfer])];
  const resultOf = (relay: Relay, ...events: Parameters<typeof paymentAfter>[0][number][]) =>
    relayResultOf(paymentAfter([created(), ...events]), relay);

  it('is paid only by the payer’s own payin, when it has funded the payment', () => {
    const state = after(ordered, signed, settled);
    assert.equal(resultOf(state).kind, 'pending');
    assert.equal(resultOf(state, detected(own)).kind, 'pending');
    assert.deepEqual(resultOf(state, ...paidBy(own)), { kind: 'paid', hash: own.txHash });
    assert.equal(resultOf(state, ...paidBy(foreign)).kind, 'failed');
  });

  it('is the same for every sender of the authorization', () => {
    assert.deepEqual(resultOf(after(ordered, ended('superseded')), ...paidBy(own)), { kind: 'paid', hash: own.txHash });
    assert.deepEqual(resultOf(after(ordered), ...paidBy(own)), { kind: 'paid', hash: own.txHash });
    assert.equal(resultOf(after(ordered, ended('superseded'))).kind, 'pending');
    assert.equal(resultOf(after(ordered, ended('superseded')), detected(own), orphaned(own)).kind, 'pending');
  });

  it('is pending while an attempt can land, whatever the state of the payment', () => {
    for (const events of [[], [expired()], paidBy(foreign)])
      assert.deepEqual(resultOf(after(ordered, signed), ...events), { kind: 'pending', hash: signing.hash });
  });

  it('has failed if nothing moved, with the reason; and is late if the money is held', () => {
    assert.deepEqual(resultOf(after(ordered, ended('drained'))), {
      kind: 'failed',
      reason: 'drained',
      detail: 'said',
      hash: null,
    });
    const late = resultOf(after(ordered, signed, settled), expired(), detected(own), bounced('latePayin', '10.01'));
    assert.deepEqual(late.kind === 'failed' && [late.reason, late.hash], ['late', own.txHash]);
  });
});

describe('the gas of an hour', () => {
  const share = (relay: string, cost: bigint, more = {}) => ({
    relay,
    appId: 'wallet_demo',
    payer,
    cost_microUsd: String(cost),
    reservedAt: minute(1),
    ...more,
  });
  const limits = { ...wide, perHour_microUsd: 100n, perAppHour_microUsd: 60n, perPayerHour_microUsd: 30n };
  const reserved = (...shares: readonly ReturnType<typeof share>[]): RelayGasState =>
    shares.map((data) => ({ type: 'RelayGasReserved', data }) as const).reduce(relayGas.evolve, relayGas.initial);

  it('has a stream for each hour of the clock', () => {
    assert.equal(relayHourOf(minute(1)), '2026-11-21T09');
  });

  it('is divided between payers and apps, to the last unit', () => {
    const other = { payer: depositAddress };
    const app = { ...other, appId: 'other' };
    const state = reserved(share('1', 30n));
    const outcome = (next: ReturnType<typeof share>, from = state) => {
      const decided = reserveRelayGas(from, next, limits);
      return isRefusal(decided) ? decided.message.split(' is used up')[0] : decided.length;
    };
    assert.equal(outcome(share('2', 1n)), 'gas for payments of this payer');
    assert.equal(outcome(share('2', 30n, other)), 1);
    assert.equal(outcome(share('2', 31n, other)), 'gas for payments to this merchant');
    const both = reserved(share('1', 30n), share('2', 30n, other), share('3', 30n, { ...app, payer: hashOf('a') }));
    const fresh = { ...app, payer: hashOf('b') };
    assert.equal(outcome(share('4', 11n, fresh), both), 'gas for all payments');
    assert.equal(outcome(share('4', 10n, fresh), both), 1);
    assert.equal(outcome(share('1', 30n)), 0);
  });

  it('and holds no more relays than its stream can be read with', () => {
    const full = {
      ...relayGas.initial,
      relays: new Set(Array.from({ length: relaysPerHourMax }, (_, n) => String(n))),
    };
    assert.ok(isRefusal(reserveRelayGas(full, share('new', 0n), limits)));
  });
});
