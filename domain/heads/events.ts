/**
 * Heads of the log: what all streams looked like up to a position, as one root, signed. Stream `heads-log`. Each entry names the hash of the
 * one before it, so that whoever keeps one of them notices when an older one is told differently.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, closed, Digest, Hash, Height, nullable, oneOf, Text, Time } from '../schema.ts';

export const headsSchemaVersion = 1;
/** There is one such stream. */
export const headsInstance = 'log';

/** Entries are numbered from 1: the number is the event's revision and one. */
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
      /** All that are covered. */
      events: Height,
      streams: Height,
      /** Whose streams are covered, sorted. */
      categories: Type.Array(Category, { minItems: 1, maxItems: 100 }),
      /** Over the newest event of every stream (commands/heads/tree.ts). */
      root: Digest,
      /** SHA-256 of the text of the entry before; null of the first. */
      previous: nullable(Digest),
      publicKey: PublicKey,
      /** The entry from which on the key is in force: 1, or a change. */
      keySince: EntryNumber,
      /** Over `textOf` the entry. */
      signature: Signature,
    },
    closed,
  ),
  /** Behind it heads are signed with another key. */
  HeadKeyChanged: Type.Object(
    {
      number: EntryNumber,
      /** Of the newest head. */
      position: Height,
      previous: Digest,
      publicKey: PublicKey,
      formerKey: PublicKey,
      /** By the former key; the new one's shows that whoever changed it has it. */
      formerSignature: Signature,
      signature: Signature,
    },
    closed,
  ),
  /** Left to the operator's word: the former key is lost. Whoever does not know why must not believe what follows. */
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
  /** A transaction of ours whose memo is the hash of a head is on its chain for good: the head cannot be younger than that. */
  HeadAnchored: Type.Object(
    {
      number: EntryNumber,
      /** Of the newest head, which may be a later one than that which is anchored. */
      position: Height,
      previous: Digest,
      publicKey: PublicKey,
      keySince: EntryNumber,
      /** The number of the head. */
      head: EntryNumber,
      /** SHA-256 of its text: what the memo is. */
      headHash: Digest,
      chainId: oneOf(chainIds),
      /** Whose transaction it is. */
      account: Address,
      transaction: Hash,
      /** The block, which Stellar calls a ledger. */
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
