/** Laws of every payment, checked before and after each event. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { rescale } from '../../../../domain/money.ts';
import { routeOf } from '../../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../../domain/payment/events.ts';
import { policyRefunds } from '../../../../domain/payment/policy.ts';
import {
  familyOf,
  forgivenOf,
  isSameAsset,
  payableFrom,
  paysUntil,
  sumOf,
} from '../../../../domain/payment/sources.ts';
import type { Payment } from '../../../../domain/payment/state.ts';
import { refundable, takenBy } from '../../../../domain/payment/state.ts';
import { type PaymentStatus, statusOf } from '../../../../domain/payment/view.ts';
import { canLand, liveAttempts, type TransferLeg } from '../../../../domain/transfer/leg.ts';

export interface Happening {
  readonly before: Payment;
  readonly event: PaymentEvent;
  readonly after: Payment;
}

const legsOf = (p: Payment): readonly TransferLeg[] => [...(p.payout ? [p.payout] : []), ...p.refunds];

/** A bounced payment is refunded at once if all of its money was only held and has been refunded before. */
const bounce: readonly PaymentStatus[] = ['payment_bounced', 'payment_refunded'];

/** Changes of the public status by one event. Keeping the status is always allowed. */
export const moves: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  // Late money that the app accepts funds the payment at once.
  payment_unpaid: ['payment_started', 'payment_expired', 'payment_payin_completed'],
  payment_started: ['payment_unpaid', 'payment_payin_completed', 'payment_bounced'],
  payment_payin_completed: ['payment_bridging', 'payment_payout_started', ...bounce],
  payment_bridging: ['payment_payout_started', ...bounce],
  payment_payout_started: ['payment_payout_completed', 'payment_completed', ...bounce],
  payment_payout_completed: ['payment_payout_started'],
  payment_completed: ['payment_payout_started'],
  payment_expired: [...bounce, 'payment_payin_completed'],
  payment_bounced: ['payment_refunded', 'payment_payin_completed'],
  // More money arrived, or final money left the chain.
  payment_refunded: ['payment_bounced'],
};

const keyOf = ({ chainId, token }: { chainId: number; token: { address: string } }) => `${chainId}:${token.address}`;

/** Money of the source that the payout claims, including money that has left its chain since: the payout may have been sent. */
const claimed = ({ funded, closed }: Payment): bigint => (funded && !closed ? funded.sourceAmount : 0n);

export const laws: Readonly<Record<string, (happening: Happening) => void>> = {
  'the status is one of ten and moves only along its graph'({ before, after }) {
    const [from, to] = [statusOf(before), statusOf(after)];
    assert.ok(from === to || moves[from].includes(to), `${from} → ${to}`);
  },

  'the terms never change, but for the chosen source and the earlier end that a cancel sets'({ before, event, after }) {
    assert.equal(after.sources, before.sources);
    const { source, fee, limits, expiresAt, deposit: _, ...terms } = after.terms;
    if (event.type === 'PaymentCancelled')
      assert.ok(expiresAt <= before.terms.expiresAt, 'a cancel gives no more time');
    else assert.equal(expiresAt, before.terms.expiresAt);
    assert.partialDeepStrictEqual(before.terms, terms);
    assert.ok(payableFrom(after).some((each) => isDeepStrictEqual(each, { ...source, fee, limits })));
    if (before.funded) assert.deepEqual(after.terms, before.terms);
  },

  'a deposit that was disclosed stays, and is the one that is shown'({ before, after }) {
    assert.partialDeepStrictEqual(after.deposits, before.deposits);
    assert.equal(after.terms.deposit, after.deposits[familyOf(after.terms.source)]);
  },

  'what funded a payment came all from one source, and whatever else counted is held'({ event, after }) {
    if (event.type !== 'PaymentFunded') return;
    const counting = after.payins.filter(({ standing }) => standing === 'counted');
    assert.ok(counting.every(({ transfer }) => isSameAsset(transfer, after.terms.source)));
    assert.ok(counting.every(({ id }) => event.data.transferIds.includes(id)));
  },

  'at most one nonce of a transfer is live'({ after }) {
    for (const leg of legsOf(after)) {
      const nonces = new Set(liveAttempts(leg).map(({ account, nonce }) => `${account} ${nonce}`));
      assert.ok(nonces.size <= 1, `live: ${[...nonces].join(', ')}`);
    }
  },

  'a nonce whose attempts are all dead is never used again'({ before, event }) {
    if (event.type !== 'PayoutSigned') return;
    const same = (before.payout?.attempts ?? []).filter(({ signed }) => signed.nonce === event.data.nonce);
    assert.ok(same.length === 0 || same.some(({ fate }) => fate === 'live'));
  },

  'a transfer is settled exactly when one of its attempts is'({ after }) {
    for (const { settled, attempts } of legsOf(after)) {
      const landed = attempts.filter(({ fate }) => fate === 'settled').map(({ signed }) => signed.hash);
      assert.deepEqual(landed, settled ? [settled.hash] : []);
    }
  },

  'nothing is signed while a transfer has fallen short, nor ever again once some of it arrived'({
    before,
    event,
    after,
  }) {
    if (before.payout?.short) assert.notEqual(event.type, 'PayoutSigned');
    if (event.type !== 'PayoutRetried') return;
    const gone = before.payout?.short;
    assert.ok(!gone || gone.arrived === 0n);
    assert.equal(after.payout?.short ?? null, null);
  },

  'every attempt is the transfer that was ordered'({ after }) {
    for (const { order, attempts } of legsOf(after)) {
      attempts.forEach(({ signed }, index) => {
        assert.equal(signed.attempt, index + 1);
        assert.deepEqual([signed.receiver, BigInt(signed.amount)], [order.receiver, order.amount]);
      });
    }
  },

  'received = payout + fee + excess + dust, and it is what the payins brought'({ before, event, after }) {
    if (event.type !== 'PaymentFunded' || !after.funded) return;
    const { received, payout, fee, excess, dust, transferIds } = after.funded;
    const route = routeOf(after.terms);
    assert.equal(rescale(payout, route.destination, route.source) + fee + excess + dust, received);
    const brought = before.payins.filter(({ id, phase }) => phase === 'confirmed' && transferIds.includes(id));
    assert.equal(sumOf(brought), received);
  },

  'a payout is what was split off: never above what was agreed or received'({ after }) {
    if (!after.payout || !after.funded) return assert.equal(after.payout, null);
    const { amount } = after.payout.order;
    const { destination, source } = routeOf(after.terms);
    assert.equal(amount, after.funded.payout);
    assert.ok(amount <= BigInt(after.terms.destination.amount ?? amount), 'not above what was agreed');
    assert.ok(rescale(amount, destination, source) <= after.funded.received, 'not above what was received');
  },

  'a refund is ordered only while refunds and payout together stay within what was received'({ event, after }) {
    if (event.type !== 'RefundRequested') return;
    const asset = keyOf(event.data);
    const received = sumOf(
      after.payins.filter(({ phase, transfer }) => phase === 'confirmed' && keyOf(transfer) === asset),
    );
    const back = after.refunds.filter(({ order }) => keyOf(order) === asset);
    const refunded = back.reduce((total, refund) => total + takenBy(refund), 0n);
    const paidOut = asset === keyOf(after.terms.source) ? claimed(after) : 0n;
    assert.ok(refunded + paidOut <= received, `${refunded} back and ${paidOut} paid out of ${received}`);
    assert.ok(BigInt(event.data.amount) > 0n, 'it covers what sending it costs');
  },

  'an expired payment was never funded, and a closed one pays nothing out'({ after }) {
    if (!after.closed) return;
    if (after.closed.kind === 'expired') assert.equal(after.funded, null);
    assert.deepEqual(after.payout ? [after.payout.settled, liveAttempts(after.payout)] : [null, []], [null, []]);
  },

  'a closed payment stays closed, unless late money that its app takes funds it; a funded one stays funded'({
    before,
    event,
    after,
  }) {
    if (before.funded) assert.equal(after.funded, before.funded);
    if (!before.closed) return;
    if (event.type === 'PaymentFunded') {
      assert.equal(before.terms.policy?.late, 'accept');
      return assert.equal(before.refunds.length, 0, 'nothing had gone back');
    }
    assert.ok(after.closed);
    if (before.closed.kind === 'bounced') assert.deepEqual(after.closed, before.closed);
  },

  'less than was agreed funds a payment only where its app says so, and never for less than is worth paying out'({
    event,
    after,
  }) {
    if (event.type !== 'PaymentFunded' || !after.funded) return;
    const { source, destination, policy } = after.terms;
    const { received, payout, rule } = after.funded;
    const missing = BigInt(source.amount ?? 0) - received;
    const isLess = missing > 0n || payout < BigInt(destination.amount ?? 0);
    assert.equal(isLess, rule === 'short');
    if (!isLess) return;
    assert.ok(policy && payout >= BigInt(policy.leastPayout));
    assert.ok(missing <= forgivenOf(after.terms, source) || policy.under === 'accept');
  },

  'what came too late, or was nothing that payers were offered, funds a payment only where its app says so'({
    event,
    after,
  }) {
    if (event.type !== 'PaymentFunded' || !after.funded) return;
    const { transferIds } = after.funded;
    const funding = after.payins.filter(({ id }) => transferIds.includes(id));
    for (const { transfer } of funding) assert.ok(transfer.blockTime <= paysUntil(after));
    if (!after.sources.some((source) => isSameAsset(source, after.terms.source))) {
      const { wrongToken, wrongChain } = after.terms.policy ?? {};
      assert.ok(wrongToken === 'accept' || wrongChain === 'accept');
    }
  },

  'a refund that was called off has sent nothing, and nothing of it can land'({ after }) {
    for (const refund of after.refunds.filter(({ calledOff }) => calledOff !== null))
      assert.deepEqual([refund.settled, refund.attempts.filter(canLand)], [null, []]);
  },

  'late money funds no payment of which something was ordered back'({ before, event }) {
    if (event.type !== 'PaymentFunded' || before.refunds.length === 0) return;
    const { transferIds } = event.data;
    const others = before.payins.filter(({ id, standing }) => transferIds.includes(id) && standing !== 'counted');
    assert.deepEqual(others, []);
  },

  'what an app wants sent back is money that can go back'({ after }) {
    const back = refundable(after);
    for (const entry of policyRefunds(after)) {
      const whole = back.find((each) => keyOf(each) === keyOf(entry));
      assert.ok(whole && entry.amount > 0n && entry.amount <= whole.amount);
    }
  },

  'a transfer is one payin, however often it is seen'({ after }) {
    assert.equal(new Set(after.payins.map(({ id }) => id)).size, after.payins.length);
  },
};
