/** Refund fields besides the transfer's own: part of the storage format. Older events have none. */
import Type, { type Static } from 'typebox';
import { Address, Amount, closed, Id, oneOf, Text } from '../schema.ts';
import { Attempt, Reason } from '../transfer/shapes.ts';
import { TransferId } from './shapes.ts';

/** A payer's signed refund address. Holders of text and signature can check it. */
export const AddressProof = Type.Object(
  {
    /** Account that paid. Only its own money goes to the address. */
    sender: Address,
    /** A transfer of the account to this payment. */
    transferId: TransferId,
    /** contract: it accepted the signature on the chain of that transfer; the same address may have other owners elsewhere. */
    by: oneOf(['key', 'contract']),
    text: Text(2_000),
    signature: Text(16_384),
  },
  closed,
);
export type AddressProof = Static<typeof AddressProof>;

/** all: the refundable amount. excess: the amount above what was due. part: an amount of one token. */
export const refundScopes = ['all', 'excess', 'part'] as const;
/** operator: any address of the operator's choice. The others need a proven address. */
export const refundAskers = ['operator', 'owner', 'key', 'policy'] as const;

/** signature: signed for this payment. credit: the sender has paid by signed messages. merchant: confirmed by a person of the app. */
export const addressProofs = ['signature', 'credit', 'merchant'] as const;

/** The funded refund that a payment pays out. */
export const FundedBy = Type.Object({ paymentId: Id, refund: Attempt }, closed);
export type FundedBy = Static<typeof FundedBy>;

export const fundedOutcomes = ['paid', 'unpaid'] as const;

export const RefundRequest = {
  /** In the refund's token: the cost of sending, deducted from the held money besides the amount. Omitted if none was deducted. */
  networkFee: Type.Optional(Amount),
  /** True if the fee includes opening the receiver's account for the token. Omitted in older events, and if none is needed. */
  opensAccount: Type.Optional(Type.Boolean()),
  scope: Type.Optional(oneOf(refundScopes)),
  requestedBy: Type.Optional(oneOf(refundAskers)),
  /** Idempotency key of the request. */
  requestKey: Type.Optional(Id),
  note: Type.Optional(Reason),
  /** Owner of the money, and the proof of their address. */
  proof: Type.Optional(Type.Object({ sender: Address, by: oneOf(addressProofs) }, closed)),
};

export type RefundScopeName = (typeof refundScopes)[number];
export type RefundAsker = (typeof refundAskers)[number];
