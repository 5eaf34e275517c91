/**
 * A test network was reset: closes the treasury's books and nonces of the old network. They open again on the new one.
 *
 * Crash anywhere: each stream is closed once. The next run closes the remaining streams and changes nothing else.
 */
import type { ChainId } from '../domain/chains.ts';
import { categoryOf, isRefusal, type Refusal } from '../domain/decider.ts';
import { closeNetwork } from '../domain/treasury/books.ts';
import { books, booksInstance } from '../domain/treasury/booksState.ts';
import { closeTreasuryNetwork } from '../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../domain/treasury/state.ts';
import type { By, Handle } from './handle.ts';
import type { Clock, EventStore } from './ports.ts';

export interface BegunAnewDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly store: Pick<EventStore, 'all'>;
}

export interface OldNetwork {
  readonly chainId: ChainId;
  /** The treasury's account. Other accounts are found in the log. */
  readonly account: string;
  /** Addresses whose money belongs to the treasury account. */
  readonly payinAddresses: readonly string[];
  /** Value that identified the network; null if it was not stored. */
  readonly network: string | null;
}

/** Accounts whose streams this run closed. Empty if all were closed before. */
export interface NetworkClosed {
  readonly books: readonly string[];
  readonly treasury: readonly string[];
}

/** @throws Unavailable */
export async function closeOldNetwork(
  deps: BegunAnewDeps,
  old: OldNetwork,
  by: By,
  signal: AbortSignal,
): Promise<NetworkClosed | Refusal> {
  const { handle, clock } = deps;
  const { chainId, network } = old;
  const known = await accountsInLog(deps.store, chainId, signal);
  const closed = { books: [] as string[], treasury: [] as string[] };
  for (const account of new Set([old.account, ...known.books])) {
    const payinAddresses = account === old.account ? old.payinAddresses.filter((each) => each !== account) : [];
    const end = { network, payinAddresses, now: clock.now() };
    const facts = { ...by, appId: null };
    const done = await handle(books, booksInstance(chainId, account), (state) => closeNetwork(state, end), facts);
    if (isRefusal(done)) return done;
    if (done.appended > 0) closed.books.push(account);
  }
  for (const account of known.treasury) {
    const end = { network, now: clock.now() };
    const instance = treasuryInstance(chainId, account);
    const facts = { ...by, appId: null };
    const done = await handle(treasury, instance, (state) => closeTreasuryNetwork(state, end), facts);
    if (isRefusal(done)) return done;
    if (done.appended > 0) closed.treasury.push(account);
  }
  return closed;
}

/** Uses the log: read models may be behind, and nodes of the new network do not know the old accounts. */
async function accountsInLog(store: Pick<EventStore, 'all'>, chainId: ChainId, signal: AbortSignal) {
  const prefixes = [`books-${chainId}-`, `treasury-${chainId}-`];
  const found = { books: new Set<string>(), treasury: new Set<string>() };
  const stop = new AbortController();
  try {
    const until = AbortSignal.any([signal, stop.signal]);
    for await (const { events, live } of store.all({ after: null, prefixes, signal: until })) {
      for (const { stream } of events) {
        const category = categoryOf(stream) === 'books' ? 'books' : 'treasury';
        found[category].add(stream.slice(`${category}-${chainId}-`.length));
      }
      if (live) break;
    }
  } finally {
    stop.abort();
  }
  signal.throwIfAborted();
  return found;
}
