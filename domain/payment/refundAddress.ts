/** Where a payer's money goes back to, in words that he signs with the key that paid: nobody else can send it elsewhere. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { Payin } from './counting.ts';
import type { PaymentEvent } from './events.ts';
import type { AddressProof } from './refundShapes.ts';
import type { Payment, PaymentState } from './state.ts';

/** Of one payment: each costs its payer a signature, and its stream an event. */
export const refundAddressesMax = 20;

export interface AddressWords {
  /** Where payments are paid, so that no other installation can use the signature. */
  readonly service: string;
  readonly paymentId: string;
  /** Spelled as its chain spells it. */
  readonly sender: string;
  readonly address: string;
  readonly memo: string | null;
  /** 1 for the payment's first, 2 for its next: an old signature cannot bring an old address back. */
  readonly number: number;
}

/**
 * One line for each field, its value in JSON: no value can pretend to be another line, so two different addresses never share a text. Only
 * printable ASCII: every wallet shows and signs the same bytes.
 */
export function refundText({ service, paymentId, sender, address, memo, number }: AddressWords): string {
  const fields: readonly (readonly [name: string, value: string | number | null])[] = [
    ['service', service],
    ['payment', paymentId],
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

/** The number that the next address of the payment has. */
export const nextNumber = ({ refundAddressesSet }: Pick<Payment, 'refundAddressesSet'>): number =>
  refundAddressesSet + 1;

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
  const known = p.refundAddresses.find((each) => each.proof?.sender === proof.sender);
  if (known?.proof?.text === proof.text) return [];
  if (!payinsOf(p, proof.sender).some(({ id }) => id === proof.transferId))
    return refuse('conflict', 'the account that signed has sent nothing to this payment', '/from');
  if (p.refundAddressesSet >= refundAddressesMax)
    return refuse('conflict', `its address was set ${refundAddressesMax} times: ask the merchant`);
  if (number !== nextNumber(p)) return refuse('conflict', 'another address was set meanwhile: sign the new text');
  return [{ type: 'RefundAddressSet', data: { address, memo, setAt: now, proof } }];
}
