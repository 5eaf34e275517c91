/**
 * Allowed receivers of treasury money. Operators add them, and each becomes usable only after a delay, so an intruder at an operator's
 * terminal cannot send money to a new address unnoticed. Stream `addressBook-treasury`.
 */
import Type, { type Static } from 'typebox';
import { type ChainId, chainIds } from '../chains.ts';
import { type Decider, type Decision, type Refusal, refuse } from '../decider.ts';
import { Address, closed, oneOf, Time } from '../schema.ts';
import type { Instant } from '../time.ts';
import { Memo } from '../transfer/shapes.ts';

export const addressBookSchemaVersion = 1;

/** There is one such stream. */
export const addressBookInstance = 'treasury';

export const addressesMax = 200;
export const labelMax = 100;

const Operator = Type.String({ minLength: 1, maxLength: 128 });
/** A receiver, in its chain's spelling; an address with a memo is one receiver together with that memo. */
const addressFields = { chainId: oneOf(chainIds), address: Address, memo: Memo };

export const addressBookEventSchemas = {
  AddressAdded: Type.Object(
    {
      ...addressFields,
      label: Type.String({ minLength: 1, maxLength: labelMax }),
      usableFrom: Time,
      by: Operator,
      addedAt: Time,
    },
    closed,
  ),
  AddressRemoved: Type.Object({ ...addressFields, by: Operator, removedAt: Time }, closed),
} as const;

type Schemas = typeof addressBookEventSchemas;
export type AddressBookEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];

export interface BookAddress {
  readonly chainId: ChainId;
  readonly address: string;
  readonly memo: string | null;
}

export interface BookEntry extends BookAddress {
  /** Name that operators give it. */
  readonly label: string;
  readonly usableFrom: Instant;
  readonly by: string;
}

export interface AddressBookState {
  /** In the order of adding. */
  readonly entries: readonly BookEntry[];
}

const isAt = (a: BookAddress, b: BookAddress): boolean =>
  a.chainId === b.chainId && a.address === b.address && a.memo === b.memo;

export const addressBook: Decider<AddressBookState, AddressBookEvent> = {
  category: 'addressBook',
  initial: { entries: [] },
  evolve({ entries }, event) {
    const others = entries.filter((entry) => !isAt(entry, event.data));
    if (event.type === 'AddressRemoved') return { entries: others };
    const { chainId, address, memo, label, usableFrom, by } = event.data;
    return { entries: [...others, { chainId, address, memo, label, usableFrom, by }] };
  },
};

/** True if the book has the receiver, usable or not. */
const holds = ({ entries }: AddressBookState, place: BookAddress): boolean =>
  entries.some((entry) => isAt(entry, place));

/** Adds a receiver. An existing entry keeps its time. @param place address in its chain's spelling */
export function addAddress(
  { entries }: AddressBookState,
  place: BookAddress & {
    readonly label: string;
    readonly usableFrom: Instant;
    readonly by: string;
    readonly now: Instant;
  },
): Decision<AddressBookEvent> {
  if (holds({ entries }, place)) return [];
  if (entries.length >= addressesMax)
    return refuse(
      'illegalStep',
      `the address book holds ${addressesMax} addresses, as many as it takes: remove one first`,
    );
  const { now, ...entry } = place;
  return [{ type: 'AddressAdded', data: { ...entry, addedAt: now } }];
}

/** Removes a receiver at once. Signed transfers to it are still sent; unsigned ones are not signed any more. */
export function removeAddress(
  { entries }: AddressBookState,
  { chainId, address, memo, by, now }: BookAddress & { readonly by: string; readonly now: Instant },
): Decision<AddressBookEvent> {
  if (!holds({ entries }, { chainId, address, memo })) return notInBook;
  return [{ type: 'AddressRemoved', data: { chainId, address, memo, by, removedAt: now } }];
}

const notInBook = refuse(
  'notFound',
  'the address book has no such address: npm run treasury -- addresses lists them, `addresses add` adds one',
);

/** True if the receiver is usable now. A removed and re-added entry waits again, so earlier orders to it are not signed. */
export const isUsable = ({ entries }: AddressBookState, place: BookAddress, now: Instant): boolean =>
  entries.some((entry) => isAt(entry, place) && now >= entry.usableFrom);

/**
 * Returns the entry that is usable now.
 * @param to without a memo, the book's entry for the address if it has exactly one memo
 */
export function usableAddress(
  { entries }: AddressBookState,
  to: { readonly chainId: ChainId; readonly address: string; readonly memo?: string | undefined },
  now: Instant,
): BookEntry | Refusal {
  const there = entries.filter(({ chainId, address }) => chainId === to.chainId && address === to.address);
  const chosen =
    to.memo === undefined && there.length === 1 ? there : there.filter(({ memo }) => memo === (to.memo ?? null));
  const [entry] = chosen;
  if (!entry) {
    return there.length === 0
      ? notInBook
      : refuse(
          'notFound',
          `the address book has it with ${there.map(({ memo }) => memo ?? 'no memo').join(', ')}: say --memo`,
        );
  }
  return now >= entry.usableFrom
    ? entry
    : refuse('illegalStep', `${entry.label} was added recently: it can receive money from ${entry.usableFrom}`);
}
