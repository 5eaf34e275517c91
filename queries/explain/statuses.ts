/** One sentence for each status, and one for each situation of its money. */
import type { SituationKind } from '../../domain/payment/situation.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { type PaymentStatus, statusOf } from '../../domain/payment/view.ts';
import { chainName } from './words.ts';

const of: Readonly<Record<PaymentStatus, (p: Payment) => string>> = {
  payment_unpaid: () => 'No money that counts has come yet.',
  payment_started: () => 'Money has come, and it is not all there or not final on its chain yet.',
  payment_payin_completed: () => 'The money is there for good; the payout is not signed yet.',
  payment_bridging: ({ terms }) =>
    `The money is there for good; the payout on ${chainName(terms.destination.chainId)} is ordered and not signed yet.`,
  payment_payout_started: ({ terms }) =>
    `The payout is signed and recorded; it is not final on ${chainName(terms.destination.chainId)} yet.`,
  payment_payout_completed: ({ terms }) =>
    `The receiver has the money: the payout is final on ${chainName(terms.destination.chainId)}.`,
  payment_completed: ({ terms }) =>
    `The receiver has the money: the payout is final on ${chainName(terms.destination.chainId)}, the chain that it was paid on.`,
  payment_bounced: () => 'Money came and cannot be paid out: it is held, and can go back.',
  payment_expired: () => 'Its time was over before the money came.',
  payment_refunded: () => 'What came has gone back, final on its chain.',
};

export const statusSentence = (p: Payment): string => of[statusOf(p)](p);

export const situationSentences: Readonly<Record<SituationKind, string>> = {
  waiting: 'It waits for its payer.',
  timeUp:
    'By the clock its time is over; it ends as soon as the blocks of its last moments have been read to their final depth.',
  detected: 'All that is due has been seen in a block, and nothing above it yet.',
  confirming: 'All that is due has been seen; blocks above it are being counted.',
  underpaid: 'Less than is due has come: the rest may still come until its time is over.',
  paid: 'What came is final and pays for it.',
  payingOut: 'The payout is on its way.',
  completed: 'Nothing is left to be done.',
  expired: 'Nothing came in time. What comes later is recorded and held.',
  late: 'Only money that came too late is there.',
  wrongToken: 'Only another token than agreed is there.',
  wrongChain: 'Only money on another chain than agreed is there.',
  otherSender: 'Only money of another sender than announced is there.',
  tooLow: 'Less than agreed came in time.',
  tooHigh: 'More than the accepted limit came.',
  unpayable: 'Its receiver cannot be paid.',
  refunding: 'Money is on its way back.',
  refunded: 'All that came has gone back.',
};
