/** Text that an entry's signatures cover, and the rule for the next entry. */

import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, refuse, unreachable } from '../decider.ts';
import { Address, closed, Digest, Hash, Height, nullable, oneOf, Text, Time } from '../schema.ts';

// Signed heads of the log: the state of all streams up to a position, as one root. Stream `heads-log`. Each entry
// holds the hash of the previous entry, so a holder of one entry notices any later change of older ones.

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

/** The newest entry; null before the first. It holds everything that the next entry needs. */
export const heads: Decider<HeadsEvent | null, HeadsEvent> = {
  category: 'heads',
  initial: null,
  window: 1,
  evolve: (_, event) => event,
};

/**
 * Text that an entry's signatures cover; the next entry holds its SHA-256. One line per field, in this order, so any language can reproduce
 * it. No field can contain a line end.
 */
export function signedTextOf({ type, data }: HeadsEvent): string {
  switch (type) {
    case 'HeadSigned':
      return lines('payment-intents head v1', {
        number: data.number,
        position: data.position,
        until: data.until,
        events: data.events,
        streams: data.streams,
        categories: data.categories.join(','),
        root: data.root,
        previous: data.previous ?? 'none',
        publicKey: data.publicKey,
        keySince: data.keySince,
      });
    case 'HeadKeyChanged':
      return lines('payment-intents head key changed v1', {
        number: data.number,
        position: data.position,
        previous: data.previous,
        formerKey: data.formerKey,
        publicKey: data.publicKey,
      });
    case 'HeadKeyLost':
      return lines('payment-intents head key lost v1', {
        number: data.number,
        position: data.position,
        previous: data.previous,
        formerKey: data.formerKey,
        publicKey: data.publicKey,
        reason: JSON.stringify(data.reason),
      });
    case 'HeadAnchored':
      return lines('payment-intents head anchored v1', {
        number: data.number,
        position: data.position,
        previous: data.previous,
        publicKey: data.publicKey,
        keySince: data.keySince,
        head: data.head,
        headHash: data.headHash,
        chainId: data.chainId,
        account: data.account,
        transaction: data.transaction,
        ledger: data.ledger,
      });
    default:
      return unreachable(type);
  }
}

const lines = (title: string, fields: Readonly<Record<string, string | number>>): string =>
  [title, ...Object.entries(fields).map(([name, value]) => `${name} ${value}`)].map((line) => `${line}\n`).join('');

/** @param hashOf SHA-256 of an entry's text, as hex */
export type HashOf = (entry: HeadsEvent) => string;

/** Returns nothing for a position that a head covers: each position is signed once. */
export function signHead(
  newest: HeadsEvent | null,
  head: Omit<HeadSigned, 'number' | 'previous' | 'keySince' | 'signature'>,
  { hashOf, sign }: { readonly hashOf: HashOf; readonly sign: (text: string) => string },
): Decision<HeadsEvent> {
  if (newest && BigInt(head.position) <= BigInt(newest.data.position)) return [];
  if (newest && newest.data.publicKey !== head.publicKey)
    return refuse('illegalStep', `heads are signed with key ${newest.data.publicKey}, not ${head.publicKey}`);
  const data = {
    ...head,
    number: (newest?.data.number ?? 0) + 1,
    previous: newest ? hashOf(newest) : null,
    keySince: newest ? keySinceOf(newest) : 1,
  };
  return [signed({ type: 'HeadSigned', data: { ...data, signature: '' } }, sign)];
}

/** Number of the entry that introduced the key in force after this one. */
export const keySinceOf = ({ data }: HeadsEvent): number => ('keySince' in data ? data.keySince : data.number);

/** A head that is on a chain, and where. */
export type Anchor = Pick<HeadAnchored, 'head' | 'headHash' | 'chainId' | 'account' | 'transaction' | 'ledger'>;

/**
 * @param seen the newest entry when the caller found no record of the anchor
 * @returns a refusal if another entry was appended since, which may record the anchor
 */
export function tellAnchor(
  newest: HeadsEvent | null,
  anchor: Anchor,
  how: {
    readonly seen: number;
    readonly publicKey: string;
    readonly hashOf: HashOf;
    readonly sign: (text: string) => string;
  },
): Decision<HeadsEvent> {
  if (newest?.data.number !== how.seen)
    return refuse('conflict', 'another entry was recorded at the same time: run the command again');
  const { number, position, publicKey } = newest.data;
  if (publicKey !== how.publicKey)
    return refuse('illegalStep', `heads are signed with key ${publicKey}, not ${how.publicKey}`);
  const common = { number: number + 1, position, previous: how.hashOf(newest), publicKey };
  const data = { ...common, keySince: keySinceOf(newest), ...anchor, signature: '' };
  return [signed({ type: 'HeadAnchored', data }, how.sign)];
}

/** @param former signs with the key in force; null if that key is lost, with the reason */
export function changeHeadKey(
  newest: HeadsEvent | null,
  publicKey: string,
  how: {
    readonly hashOf: HashOf;
    readonly sign: (text: string) => string;
    readonly former: { readonly sign: (text: string) => string } | { readonly lost: string };
  },
): Decision<HeadsEvent> {
  if (newest === null || newest.data.publicKey === publicKey) return [];
  const { number, position, publicKey: formerKey } = newest.data;
  const common = { number: number + 1, position, previous: how.hashOf(newest), publicKey, formerKey, signature: '' };
  if ('lost' in how.former)
    return [signed({ type: 'HeadKeyLost', data: { ...common, reason: how.former.lost } }, how.sign)];
  const event: HeadsEvent = { type: 'HeadKeyChanged', data: { ...common, formerSignature: '' } };
  const formerSignature = how.former.sign(signedTextOf(event));
  return [signed({ ...event, data: { ...event.data, formerSignature } }, how.sign)];
}

const signed = <E extends HeadsEvent>(event: E, sign: (text: string) => string): E => ({
  ...event,
  data: { ...event.data, signature: sign(signedTextOf(event)) },
});
