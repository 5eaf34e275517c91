/** One sentence for each event of a payment: what happened, by which rule, with which amounts. No address of a payer is in it, and no secret. */
import { unreachable } from '../../domain/decider.ts';
import type { PaymentEvent, PaymentEventData, PaymentEventType } from '../../domain/payment/events.ts';
import type { Payment } from '../../domain/payment/state.ts';
import type { TransferLeg } from '../../domain/transfer/leg.ts';
import { type LegEvent, unprefixed } from '../../domain/transfer/record.ts';
import type { DeathProof } from '../../domain/transfer/shapes.ts';
import { payinSentences, policySentence } from './payins.ts';
import { chainName, sum } from './words.ts';

type Sentences = {
  readonly [T in PaymentEventType]?: (data: PaymentEventData<T>, after: Payment) => string;
};

function created({ source, destination, fee, policy, keyless, expiresAt }: PaymentEventData<'PaymentCreated'>): string {
  const due = source.amount === null ? `Any amount of ${source.token.symbol}` : sum(source.amount, source.token);
  const paid = destination.amount === null ? 'what the fee leaves' : sum(destination.amount, destination.token);
  const charged =
    fee.amount === null
      ? `${sum(fee.fixed, source.token)} and ${fee.basisPoints} hundredths of a percent`
      : sum(fee.amount, source.token);
  const terms = `It was created ${keyless ? 'without a key' : 'by its app'}. ${due} may be paid on ${chainName(source.chainId)} until ${expiresAt}; ${paid} is paid out on ${chainName(destination.chainId)}; the fee is ${charged}.`;
  return policy ? `${terms} ${policySentence(policy)}` : `${terms} What was not agreed is held.`;
}

const reasons: Readonly<Record<PaymentEventData<'RefundRequested'>['reason'], string>> = {
  bounced: 'what came cannot be paid out',
  excess: 'more than agreed came',
  held: 'it did not count',
};

const askers: Readonly<Record<NonNullable<PaymentEventData<'RefundRequested'>['requestedBy']>, string>> = {
  operator: 'an operator',
  owner: "the app's owner",
  key: 'an API key of the app',
  policy: "the app's policy",
};

const own: Sentences = {
  PaymentCreated: created,
  ...payinSentences,
  PayoutRequested: ({ chainId, token, receiverAddress, amount }) =>
    `The payout of ${sum(amount, token)} to ${receiverAddress} on ${chainName(chainId)} was ordered.`,
  PayoutBatched: ({ batch, position }) =>
    `The payout is paid together with others, as number ${position} of batch ${batch}: nothing is signed for it by itself until the batch lets it go.`,
  PayoutReleased: ({ batch, reason }) =>
    `Batch ${batch} let the payout go, which is paid by itself from now on: ${reason}`,
  PayoutHeld: ({ reason }) => `An operator put the payout on hold: ${reason}`,
  RefundAddressSet: ({ proof }) =>
    proof
      ? 'A sender has proven where his money goes back to.'
      : 'An address for refunds was set that nothing proves: nothing goes there by itself.',
  RefundRequested: ({ refund, amount, token, chainId, reason, requestedBy, networkFee = '0' }) =>
    `Refund ${refund} of ${sum(amount, token)} on ${chainName(chainId)} was ordered${requestedBy ? ` by ${askers[requestedBy]}` : ''}, for ${reasons[reason]}; ${sum(networkFee, token)} are taken off for sending it.`,
  RefundCalledOff: ({ refund, reason }) => `An operator called refund ${refund} off: ${reason}`,
};

const proofs: Readonly<Record<DeathProof['reason'], string>> = {
  nonceUsed: 'another transaction took its place on the chain',
  reverted: 'the chain took it up and refused it',
  validityPassed: 'its time is over on the chain',
  declared: 'an operator has found out that it did not land and cannot any more',
};

/** @param name `The payout` or `Refund 1` */
function legSentence(name: string, { type, data }: LegEvent, { order }: TransferLeg): string {
  const { symbol } = order.token;
  switch (type) {
    case 'Signed':
      return `${name}: attempt ${data.attempt} was signed and recorded before it was sent: transaction ${data.hash}${data.nonce === null ? '' : `, nonce ${data.nonce} of ${data.account}`}.`;
    case 'Died':
      return `${name}: attempt ${data.attempt} can never land, which is proven (${data.proof.reason}): ${proofs[data.proof.reason]}. Only therefore another one may be signed.`;
    case 'Confirmed':
      return `${name} is final: transaction ${data.hash} in block ${data.blockNumber} brought all that was ordered.`;
    case 'Orphaned':
      return `${name}: the block of ${data.hash} left the chain; the same bytes are sent again, so that nothing is paid twice.`;
    case 'Short':
      return `${name} landed, and only ${sum(data.arrived, order.token)} of ${sum(order.amount, order.token)} arrived: nothing more is signed until an operator has decided.`;
    case 'Accepted':
      return `${name}: an operator counts less ${symbol} as all that was ordered: ${data.reason}`;
    case 'Retried':
      return `${name}: an operator had it go on: ${data.reason}`;
    default:
      return unreachable(type);
  }
}

/** @param after the payment right after the event. Undefined for an event that has no sentence: there is none, a spec goes over all. */
export function eventSentence(event: PaymentEvent, after: Payment): string | undefined {
  const sentence = own[event.type] as ((data: PaymentEvent['data'], after: Payment) => string) | undefined;
  if (sentence) return sentence(event.data, after);
  const payout = unprefixed('Payout', event);
  if (payout && after.payout) return legSentence('The payout', payout, after.payout);
  const number = 'refund' in event.data ? event.data.refund : undefined;
  const refund = after.refunds.find((each) => each.refund === number);
  const recorded = unprefixed('Refund', event);
  return recorded && refund ? legSentence(`Refund ${number}`, recorded, refund) : undefined;
}
