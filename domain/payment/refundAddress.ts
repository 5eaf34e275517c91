/** Where a payer's money goes back to, in words that he signs with the key that paid: nobody else can send it elsewhere. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { PaymentEvent } from './events.ts';
import type { AddressProof } from './refundShapes.ts';
import type { Payin } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

/** Of each sender: each costs him a signature, and the stream an event. A hundred transfers, and so senders, are recorded of a payment. */
export const refundAddressesMax = 20;

export interface AddressWords {
  /** Where payments are paid, so that no other installation can use the signature. */
  readonly service: string;
  readonly paymentId: string;
  /** The chain that the money came on and goes back on: the same address may be another's elsewhere. */
  readonly chain: string;
  /** Spelled as its chain spells it. */
  readonly sender: string;
  readonly address: string;
  readonly memo: string | null;
  /** Greater than in any text that the sender has signed for this payment: an old signature cannot bring an old address back. */
  readonly number: number;
}

/**
 * One line for each field, its value in JSON: no value can pretend to be another line, so two different addresses never share a text. Only
 * printable ASCII: every wallet shows and signs the same bytes.
 */
export function refundText({ service, paymentId, chain, sender, address, memo, number }: AddressWords): string {
  const fields: readonly (readonly [name: string, value: string | number | null])[] = [
    ['service', service],
    ['payment', paymentId],
    ['chain', chain],
    ['from', sender],
    ['to', address],
    ['memo', memo],
    ['number', number],
  ];
  const lines = fields.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${ascii(value)}`]));
  return ['Send my money back to this address', ...lines].join('\n');
}

const ascii = (value: string | number): string =>
  JSON.stringify(value).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const latestOf = ({ refundAddresses }: Pick<Payment, 'refundAddresses'>, sender: string) =>
  refundAddresses.findLast(({ proof }) => proof?.sender === sender);

/** The number that the sender's next address has. What others set meanwhile does not change it. */
export const nextNumber = (p: Pick<Payment, 'refundAddresses'>, sender: string): number =>
  (latestOf(p, sender)?.ordinal ?? 0) + 1;

/** Transfers of an account to the payment that are on their chain as far as is known. */
export const payinsOf = (p: Pick<Payment, 'payins'>, sender: string): readonly Payin[] =>
  p.payins.filter(({ transfer, phase }) => transfer.from === sender && (phase === 'detected' || phase === 'confirmed'));

export interface SignedAddress {
  readonly address: string;
  readonly memo: string | null;
  readonly number: number;
  /** The signature is checked already. */
  readonly proof: AddressProof;
  readonly now: Instant;
}

export function setRefundAddress(p: PaymentState, signed: SignedAddress): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const { address, memo, number, proof, now } = signed;
  const { sender } = proof;
  if (p.refundAddresses.some((each) => each.proof?.sender === sender && each.proof.text === proof.text)) return [];
  if (!payinsOf(p, proof.sender).some(({ id }) => id === proof.transferId))
    return refuse('conflict', 'the account that signed has sent nothing to this payment', '/from');
  if ((latestOf(p, sender)?.times ?? 0) >= refundAddressesMax)
    return refuse('conflict', `its address was set ${refundAddressesMax} times: ask the merchant`);
  if (number !== nextNumber(p, sender))
    return refuse('conflict', 'another address was set in the meantime: sign the new text');
  return [{ type: 'RefundAddressSet', data: { address, memo, setAt: now, proof } }];
}
