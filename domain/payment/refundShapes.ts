/** What events say of a refund besides the transfer that it is: part of the storage format. Older ones say none of it. */
import Type, { type Static } from 'typebox';
import { Address, Amount, closed, Id, oneOf, Text } from '../schema.ts';
import { Reason } from '../transfer/shapes.ts';
import { TransferId } from './shapes.ts';

/** Who signed where his money goes back to. Whoever has the text and the signature can check it. */
export const AddressProof = Type.Object(
  {
    /** The account that paid. Its own money alone goes to the address. */
    sender: Address,
    /** A transfer of its to this payment. */
    transferId: TransferId,
    /** contract: it took the signature for its own, on the chain of that transfer; others may own the same address elsewhere. */
    by: oneOf(['key', 'contract']),
    text: Text(2_000),
    signature: Text(16_384),
  },
  closed,
);
export type AddressProof = Static<typeof AddressProof>;

/** all: what can go back. excess: what came over what was due. part: an amount of one token. */
export const refundScopes = ['all', 'excess', 'part'] as const;
/** operator: to an address of his choice. The others only where a sender has proven one. */
export const refundAskers = ['operator', 'owner', 'key', 'policy'] as const;

export const RefundRequest = {
  /** In the refund's token: what sending it costs, taken off what is held besides the amount. Missing where nothing was taken. */
  networkFee: Type.Optional(Amount),
  /** Whether that is also for the receiver's account for the token, which did not exist. Missing in older ones, and where none is needed. */
  opensAccount: Type.Optional(Type.Boolean()),
  scope: Type.Optional(oneOf(refundScopes)),
  requestedBy: Type.Optional(oneOf(refundAskers)),
  /** The request's own: sent again, it orders nothing again. */
  requestKey: Type.Optional(Id),
  note: Type.Optional(Reason),
  /** Whose money it is, and by what he has proven the address: a signature for it, or that he has paid by signatures before. */
  proof: Type.Optional(Type.Object({ sender: Address, by: oneOf(['signature', 'credit']) }, closed)),
};

export type RefundScopeName = (typeof refundScopes)[number];
export type RefundAsker = (typeof refundAskers)[number];
