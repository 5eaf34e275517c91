/** Refund address of a payer, in a text signed with the paying key, so nobody else can redirect the refund. */
import { type Decision, refuse } from '../decider.ts';
import { type Instant, plus } from '../time.ts';
import type { PaymentEvent } from './events.ts';
import type { AddressProof } from './shapes.ts';
import type { Payin } from './sources.ts';
import type { ConfirmedAddress, Payment, PaymentState } from './state.ts';

/**
 * Maximum refund addresses per payment: each costs its sender a signature, and the stream an event. A payment records at most a hundred
 * transfers, so as many senders.
 */
export const refundAddressesMax = 20;

export interface AddressWords {
  /** URL of the service, so no other installation can use the signature. */
  readonly service: string;
  readonly paymentId: string;
  /** Chain of the payin and the refund: on another chain the same address may belong to another person. */
  readonly chain: string;
  /** In its chain's spelling. */
  readonly sender: string;
  readonly address: string;
  readonly memo: string | null;
  /** Greater than in every earlier text of the sender for this payment, so an old signature cannot restore an old address. */
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

/** Number of the sender's next address. Other senders' addresses do not change it. */
export const nextNumber = (p: Pick<Payment, 'refundAddresses'>, sender: string): number =>
  (latestOf(p, sender)?.ordinal ?? 0) + 1;

/** Payins of an account that are on their chain as far as is known. */
export const payinsOf = (p: Pick<Payment, 'payins'>, sender: string): readonly Payin[] =>
  p.payins.filter(({ transfer, phase }) => transfer.from === sender && (phase === 'detected' || phase === 'confirmed'));

export interface SignedAddress {
  readonly address: string;
  readonly memo: string | null;
  readonly number: number;
  /** Proof whose signature has been checked. */
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

// Refund addresses that a person of the app confirms, for senders that cannot sign: an exchange sends for its
// customers.

/** Maximum confirmations of one payment. */
export const confirmationsMax = 20;

export type { ConfirmedAddress };

/** Address in its chain's spelling. */
export interface AddressToConfirm {
  readonly sender: string;
  readonly transferId: string;
  readonly address: string;
  readonly memo: string | null;
  /** The person: the cause of the event. */
  readonly by: string;
  /** Time between the confirmation and the first refund to the address: the app's people notice a wrong address and withdraw it. */
  readonly delay_ms: number;
  readonly now: Instant;
}

/** A later confirmation for the same sender and chain replaces the earlier one at once, so the delay begins again. */
export function confirmRefundAddress(p: PaymentState, asked: AddressToConfirm): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const { sender, transferId, address, memo, by, delay_ms, now } = asked;
  if (!payinsOf(p, sender).some(({ id }) => id === transferId))
    return refuse('invalidRequest', 'must be a sender of money to this payment', '/sender');
  const former = confirmedFor(p, sender, chainIn(transferId));
  if (former?.address === address && former.memo === memo) return [];
  if (p.confirmedAddresses.length >= confirmationsMax)
    return refuse('conflict', `an address was confirmed ${confirmationsMax} times for this payment: ask the operator`);
  const number = p.confirmedAddresses.length + 1;
  const effectiveAt = plus(now, delay_ms);
  return [
    {
      type: 'RefundAddressConfirmed',
      data: { number, sender, transferId, address, memo, confirmedBy: by, confirmedAt: now, effectiveAt },
    },
  ];
}

/** Withdraws a confirmation, also after its delay: no refund is ordered to the address from then on. */
export function withdrawRefundAddress(
  p: PaymentState,
  number: number,
  by: string,
  now: Instant,
): Decision<PaymentEvent> {
  const known = p?.confirmedAddresses.find((each) => each.number === number);
  if (!known) return refuse('notFound', 'the payment has no confirmed address with this number', '/number');
  if (known.withdrawn) return [];
  return [{ type: 'RefundAddressWithdrawn', data: { number, withdrawnBy: by, withdrawnAt: now } }];
}

/** The confirmation in force for a sender on a chain, also during its delay; undefined without one. */
export const confirmedFor = (
  { confirmedAddresses }: Pick<Payment, 'confirmedAddresses'>,
  sender: string,
  chainId: number | string,
): ConfirmedAddress | undefined => {
  const latest = confirmedAddresses.findLast(
    (each) => each.sender === sender && chainIn(each.transferId) === String(chainId),
  );
  return latest?.withdrawn ? undefined : latest;
};

/** Chain of a transfer id. */
const chainIn = (transferId: string): string => transferId.split(':')[0] ?? '';
