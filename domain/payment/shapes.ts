/** Shapes that several events of a payment share: part of the storage format, like the events themselves. */
import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { Attempt, Memo, Reason } from '../transfer/shapes.ts';

export const Chain = oneOf(chainIds);

export const TokenRef = Type.Object(
  { symbol: oneOf(tokenSymbols), address: Address, decimals: Type.Integer({ minimum: 0, maximum: 18 }) },
  closed,
);

export const Deposit = Type.Object(
  {
    /** Scheme and version that derived the address, so old deposits stay sweepable. */
    scheme: Text(32),
    address: Address,
    memo: Memo,
    /** Stellar contract intent: the contract to call and the memo to pass, equal to `memo`. Null there in older events. */
    contract: nullable(Address),
    contractMemo: Memo,
    /** One-way value that the address was derived from; never the payment id. */
    salt: Text(128),
  },
  closed,
);

export const Fee = Type.Object(
  {
    /** In source units. */
    fixed: Amount,
    basisPoints: Type.Integer({ minimum: 0, maximum: 10_000 }),
    /** In source units; null for anyAmount until funded. */
    amount: nullable(Amount),
    /**
     * Part of `amount`, in source units: the difference between the rounded requested amount and the exact fee. Missing
     * if nothing was rounded, and in events before version 9.
     */
    rounding: Type.Optional(Amount),
  },
  closed,
);
/** Bounds of the amount that anyAmount accepts, in source units. */
export const Limits = nullable(Type.Object({ min: Amount, max: Amount }, closed));

/** A source of a payment, and the amount due there. */
export const SourceTerms = Type.Object(
  { chainId: Chain, token: TokenRef, amount: nullable(Amount), fee: Fee, limits: Limits },
  closed,
);

/** A transfer that a chain holds. Its identity is (chainId, txHash, index). */
export const Transfer = Type.Object(
  {
    chainId: Chain,
    txHash: Hash,
    /** Index among the transaction's own logs or effects: it stays the same after a re-inclusion in another block. */
    index: Type.Integer({ minimum: 0 }),
    blockNumber: Height,
    blockHash: Hash,
    blockTime: Time,
    token: TokenRef,
    from: Address,
    /** Receiving account, or the payin contract that the payer called. */
    to: Address,
    /** Memo of the transfer; omitted if the chain has no memos. */
    memo: Type.Optional(Memo),
    amount: Amount,
  },
  closed,
);

export const TransferId = Type.String({ minLength: 1, maxLength: 200 });

export type Deposit = Static<typeof Deposit>;
export type Transfer = Static<typeof Transfer>;
export type TokenRef = Static<typeof TokenRef>;
export type SourceTerms = Static<typeof SourceTerms>;

/** `8453:0xabc…:0` */
export const transferId = (transfer: Pick<Transfer, 'chainId' | 'txHash' | 'index'>): string =>
  `${transfer.chainId}:${transfer.txHash}:${transfer.index}`;

// Refund fields besides the transfer's own: part of the storage format. Older events have none.

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
