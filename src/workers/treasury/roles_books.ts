/** What the books of the treasury's accounts stand on, for the worker that watches them and for the operator's tool. */
import type { BooksAccount, BooksDeps, Range, Recorded } from '../../../commands/books.ts';
import type { Sql } from '../../../projections/sql.ts';
import { depositsAmong, type MovementsOf, movedBetween, movedIn } from '../../../queries/books.ts';
import type { OpenChain } from '../../chains/family.ts';
import type { Core } from '../../core.ts';
import type { RoleWorker } from '../run.ts';
import { booksWorker } from './books.ts';

const booksIdle_ms = 15_000;

/** The account itself, and those that number its transfers. @throws ChainUnavailable */
export async function booksAccountsOf(
  { rail, ingester }: OpenChain,
  signal: AbortSignal,
): Promise<readonly BooksAccount[]> {
  const { chainId, account: own } = rail;
  const numbering = (await rail.numberingAccounts?.(signal)) ?? [];
  const accounts = new Set([own, ...numbering.map(({ account }) => account)]);
  const shared = ingester.sharedAddresses.includes(own) ? ingester.sharedAddresses : [];
  return [...accounts].map((account) => ({ chainId, account, payinAddresses: account === own ? shared : [] }));
}

export const movementsOf = ({ chainId, account, payinAddresses }: BooksAccount, range: Range): MovementsOf => ({
  chainId,
  account,
  accounts: [...new Set([account, ...payinAddresses])],
  ...range,
});

const recordedIn = (sql: Sql): Recorded => ({
  moved: (of, range) => movedBetween(sql, movementsOf(of, range)),
  hashes: (of, range) => movedIn(sql, movementsOf(of, range)),
  deposits: (addresses) => depositsAmong(sql, addresses),
});

export const booksDeps = (
  { workHandle, clock, database }: Pick<Core, 'workHandle' | 'clock' | 'database'>,
  { history }: OpenChain,
): BooksDeps => ({ handle: workHandle, clock, history, recorded: recordedIn(database) });

export const booksWorkers = (core: Core): readonly RoleWorker[] =>
  [...core.chains].map(([chainId, chain]) => ({
    worker: booksWorker(
      {
        ...booksDeps(core, chain),
        accounts: (signal) => booksAccountsOf(chain, signal),
        alarm: core.telemetry.alarm,
      },
      chainId,
    ),
    idle_ms: booksIdle_ms,
  }));
