/**
 * Where the treasury's money may be sent: addresses that operators have written down, each usable only some time after that, so that
 * whoever gets at an operator's terminal cannot have money sent to himself before anybody sees it. Stream `addressBook-treasury`.
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
/** On its chain, as the chain spells it; a receiver that is told apart by a memo is one with that memo. */
const Place = { chainId: oneOf(chainIds), address: Address, memo: Memo };

export const addressBookEventSchemas = {
  AddressAdded: Type.Object(
    {
      ...Place,
      label: Type.String({ minLength: 1, maxLength: labelMax }),
      usableFrom: Time,
      by: Operator,
      addedAt: Time,
    },
    closed,
  ),
  AddressRemoved: Type.Object({ ...Place, by: Operator, removedAt: Time }, closed),
} as const;

type Schemas = typeof addressBookEventSchemas;
export type AddressBookEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];

export interface Place {
  readonly chainId: ChainId;
  readonly address: string;
  readonly memo: string | null;
}

export interface Entry extends Place {
  /** What operators call it. */
  readonly label: string;
  readonly usableFrom: Instant;
  readonly by: string;
}

export interface AddressBookState {
  /** In the order in which they were added. */
  readonly entries: readonly Entry[];
}

const isAt = (a: Place, b: Place): boolean => a.chainId === b.chainId && a.address === b.address && a.memo === b.memo;

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

/** Whether it is written down, usable yet or not. */
const holds = ({ entries }: AddressBookState, place: Place): boolean => entries.some((entry) => isAt(entry, place));

/** One that is there already stays as it is, with its own time. @param place the address is spelled as its chain spells it */
export function addAddress(
  { entries }: AddressBookState,
  place: Place & { readonly label: string; readonly usableFrom: Instant; readonly by: string; readonly now: Instant },
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

/** At once. What is signed already is sent; what waits for its signature is not signed any more. */
export function removeAddress(
  { entries }: AddressBookState,
  { chainId, address, memo, by, now }: Place & { readonly by: string; readonly now: Instant },
): Decision<AddressBookEvent> {
  if (!holds({ entries }, { chainId, address, memo })) return notInBook;
  return [{ type: 'AddressRemoved', data: { chainId, address, memo, by, removedAt: now } }];
}

const notInBook = refuse(
  'notFound',
  'the address book has no such address: npm run treasury -- addresses lists them, `addresses add` adds one',
);

/**
 * Whether money may be sent to just that place now. One that was taken out and written down again waits anew: whoever puts it back gets
 * nothing signed that was ordered before.
 */
export const isUsable = ({ entries }: AddressBookState, place: Place, now: Instant): boolean =>
  entries.some((entry) => isAt(entry, place) && now >= entry.usableFrom);

/**
 * The entry that money may be sent to now.
 * @param to without a memo, and where the book has the address with one memo alone, that one is meant
 */
export function usableAddress(
  { entries }: AddressBookState,
  to: { readonly chainId: ChainId; readonly address: string; readonly memo?: string | undefined },
  now: Instant,
): Entry | Refusal {
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
