/** Every event of a relay, as it is stored. Stream `relay-<paymentId>-<attempt>`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Id, oneOf, Text, Time } from '../schema.ts';
import {
  AssetRef,
  Attempt,
  Cost,
  DeathProof,
  Orphaned,
  Place,
  Settled,
  Short,
  SignedAttempt,
} from '../transfer/shapes.ts';

/** Version 2 adds authorization entries of Stellar, version 3 payers' transactions of Solana. */
export const relaySchemaVersion = 3;

/** Relays that one payment can have. A further one needs that all earlier ones ended without money. */
export const relaysPerPaymentMax = 10;

/**
 * `superseded`: another party has sent the authorization, and the payin counts. `cancelled`: the payer has cancelled it
 * in the token. `expired`: its time is over. `drained`: the payer holds too little. `refused`: the token refuses it,
 * such as a frozen payer. `paid`: the payment was paid, or is over, before it was signed.
 */
export const relayEnds = ['superseded', 'cancelled', 'expired', 'drained', 'refused', 'paid'] as const;
export type RelayEnd = (typeof relayEnds)[number];

/** Seconds since 1970, as the token's contract compares them with its block. */
const Seconds = Type.String({ pattern: '^(0|[1-9][0-9]{0,11})$' });
const Word = Type.String({ pattern: '^0x[0-9a-f]{64}$' });

/** The payer's EIP-3009 authorization with its signature, and the deposit that it pays. */
const Authorization = Type.Object(
  {
    kind: Type.Literal('authorization'),
    deposit: Type.Object({ address: Address, salt: Text(128) }, closed),
    payer: Address,
    validAfter: Seconds,
    validBefore: Seconds,
    nonce: Word,
    /** r, s and v: 65 bytes. It authorizes this payment to our deposit alone. */
    signature: Type.String({ pattern: '^0x[0-9a-f]{130}$' }),
    /** Most that the first transaction may cost, in the smallest unit of the chain's coin. */
    costMax: Amount,
  },
  closed,
);

/** The payer's authorization entry on Stellar, and the memo of the treasury that it pays. */
const AuthorizationEntry = Type.Object(
  {
    kind: Type.Literal('authorizationEntry'),
    deposit: Type.Object({ address: Address, salt: Text(128), memo: Text(20) }, closed),
    payer: Address,
    /** Last ledger that accepts it. */
    validUntil: Seconds,
    /** 64 bits with a sign. */
    nonce: Type.String({ pattern: '^-?(0|[1-9][0-9]{0,18})$' }),
    /** The signed entry, XDR in hex: it authorizes this payment to the treasury alone. */
    signature: Type.String({ pattern: '^0x([0-9a-f]{2}){1,1024}$' }),
    /** Most that the first transaction may cost, in stroops. */
    costMax: Amount,
  },
  closed,
);

/** The payer's transaction on Solana, whose fee our relay account pays, and the deposit that it pays. */
const PayerTransaction = Type.Object(
  {
    kind: Type.Literal('payerTransaction'),
    deposit: Type.Object({ address: Address, salt: Text(128) }, closed),
    payer: Address,
    /** SHA-256 of the message. */
    nonce: Word,
    /** The payer's signature of 64 bytes, then the message. Without our own signature no block accepts it. */
    signature: Type.String({ pattern: '^0x([0-9a-f]{2}){65,1232}$' }),
    /** Most that the first transaction may cost, in lamports. */
    costMax: Amount,
  },
  closed,
);

export const relayEventSchemas = {
  RelayOrdered: Type.Object(
    {
      paymentId: Id,
      /** App whose payment it is. */
      appId: Id,
      /** 1, 2, … of the payment's relays. */
      relay: Type.Integer({ minimum: 1, maximum: relaysPerPaymentMax }),
      chainId: oneOf(chainIds),
      token: AssetRef,
      /** The payment's deposit; on Stellar the treasury's M address with the payment's memo. */
      receiver: Address,
      amount: Amount,
      form: Type.Union([Authorization, AuthorizationEntry, PayerTransaction]),
      orderedAt: Time,
    },
    closed,
  ),
  RelaySigned: Type.Object(SignedAttempt, closed),
  /** The attempt is final: it opened the deposit's token account on Solana, and moved nothing. The payer's transaction follows. */
  RelayAccountOpened: Type.Object({ attempt: Attempt, ...Place, cost: Type.Optional(Cost) }, closed),
  RelayDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  RelayOrphaned: Type.Object(Orphaned, closed),
  RelayConfirmed: Type.Object(Settled, closed),
  RelayShort: Type.Object(Short, closed),
  /** Nothing more is sent. Only possible while nothing that was signed for it can land. */
  RelayEnded: Type.Object({ reason: oneOf(relayEnds), detail: Text(400), endedAt: Time }, closed),
} as const;

type Schemas = typeof relayEventSchemas;
export type RelayEventType = keyof Schemas;
export type RelayEvent = {
  [T in RelayEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[RelayEventType];
export type RelayOrdered = Static<Schemas['RelayOrdered']>;
