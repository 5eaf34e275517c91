/**
 * Signed heads of the log: the state of all streams up to a position, as one root. Stream `heads-log`. Each entry holds the hash of the
 * previous entry, so a holder of one entry notices any later change of older ones.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, closed, Digest, Hash, Height, nullable, oneOf, Text, Time } from '../schema.ts';

export const headsSchemaVersion = 1;
/** There is one such stream. */
export const headsInstance = 'log';

/** Entries are numbered from 1. The number is the event's revision plus one. */
const EntryNumber = Type.Integer({ minimum: 1 });
/** 32 bytes of Ed25519, as hex. */
const PublicKey = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** 64 bytes of Ed25519, as hex. */
const Signature = Type.String({ pattern: '^[0-9a-f]{128}$' });
const Category = Type.String({ pattern: '^[A-Za-z]{1,40}$' });

export const headsEventSchemas = {
  HeadSigned: Type.Object(
    {
      number: EntryNumber,
      /** Log position of the newest event that is covered. */
      position: Height,
      /** When that event was written. */
      until: Time,
      /** Number of covered events. */
      events: Height,
      streams: Height,
      /** Stream categories that are covered, sorted. */
      categories: Type.Array(Category, { minItems: 1, maxItems: 100 }),
      /** Root over the newest event of every stream (commands/heads/tree.ts). */
      root: Digest,
      /** SHA-256 of the previous entry's text; null for the first entry. */
      previous: nullable(Digest),
      publicKey: PublicKey,
      /** Number of the entry that introduced the key in force: 1, or a change. */
      keySince: EntryNumber,
      /** Signature over `textOf` of the entry. */
      signature: Signature,
    },
    closed,
  ),
  /** Later heads are signed with another key. */
  HeadKeyChanged: Type.Object(
    {
      number: EntryNumber,
      /** Position of the newest head. */
      position: Height,
      previous: Digest,
      publicKey: PublicKey,
      formerKey: PublicKey,
      /** Signature by the former key. The new key's signature proves that the operator has the new key. */
      formerSignature: Signature,
      signature: Signature,
    },
    closed,
  ),
  /**
   * The former key is lost, so only the operator's reason supports the change. Auditors who do not know the reason must not trust later
   * entries.
   */
  HeadKeyLost: Type.Object(
    {
      number: EntryNumber,
      position: Height,
      previous: Digest,
      publicKey: PublicKey,
      formerKey: PublicKey,
      reason: Text(500),
      signature: Signature,
    },
    closed,
  ),
  /** A transaction of ours, with the head's hash as its memo, is final on its chain. The head is at least as old as that transaction. */
  HeadAnchored: Type.Object(
    {
      number: EntryNumber,
      /** Position of the newest head, which may be later than the anchored one. */
      position: Height,
      previous: Digest,
      publicKey: PublicKey,
      keySince: EntryNumber,
      /** Number of the anchored head. */
      head: EntryNumber,
      /** SHA-256 of the head's text, which is the memo. */
      headHash: Digest,
      chainId: oneOf(chainIds),
      /** Account of the transaction. */
      account: Address,
      transaction: Hash,
      /** Block number; Stellar calls a block a ledger. */
      ledger: Height,
      signature: Signature,
    },
    closed,
  ),
} as const;

type Schemas = typeof headsEventSchemas;
export type HeadsEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];
export type HeadSigned = Static<Schemas['HeadSigned']>;
export type HeadAnchored = Static<Schemas['HeadAnchored']>;
