/** A batch receives a payment's payout, and a finished batch returns it. */
import { type PayoutBatchEvent, payoutBatch } from '../../../../domain/batch/batch.ts';
import { type Decision, fold } from '../../../../domain/decider.ts';
import type { PaymentEvent } from '../../../../domain/payment/events.ts';
import { asMember, copyBatch, joinBatch } from '../../../../domain/payment/payout.ts';
import type { Payment, PaymentState } from '../../../../domain/payment/state.ts';
import type { Instant } from '../../../../domain/time.ts';
import { treasuryAccount } from '../../../support/payments.ts';

type Question = (state: PaymentState) => Decision<PaymentEvent>;

const batch = 'batch-1';

/** The batch contains another payment too. */
function opening(p: Payment, openedAt: Instant) {
  const { chainId, token } = p.terms.destination;
  const own = asMember(p);
  const members = [own, { ...own, paymentId: 'another', amount: '1' }];
  return { chainId, account: treasuryAccount, token, contract: `0x${'cc'.repeat(20)}`, members, openedAt };
}

export function join(p: Payment, now: Instant): Question {
  const opened = opening(p, now);
  return (state) => joinBatch(state, { batch, position: 1, opened, now });
}

/** The batch is dissolved before a signature. */
export function release(p: Payment, now: Instant): Question {
  const events: readonly PayoutBatchEvent[] = [
    { type: 'BatchOpened', data: opening(p, now) },
    { type: 'BatchGathered', data: { joined: [1, 2], gatheredAt: now } },
    { type: 'BatchDissolved', data: { reason: 'one by one is cheaper', dissolvedAt: now } },
  ];
  const dissolved = fold(payoutBatch, events);
  return (state) => (dissolved ? copyBatch(state, batch, dissolved, now) : []);
}
