/** Shapes that several events of a payment share: part of the storage format, like the events themselves. */
import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, Text, Time } from '../schema.ts';
import { Memo } from '../transfer/shapes.ts';

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
