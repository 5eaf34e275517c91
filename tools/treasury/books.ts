/** `npm run treasury -- books`: opening, receipts, expenses and costs, beside each account's balance. */

import type { Command } from 'commander';
import { type BooksAccount, type BooksDeps, compareAt, explainBooks, loadBooks } from '../../commands/books.ts';
import { type ChainId, chainOf, heldTokens, tokenAt } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { coinAddress, coinOf, formatAmount } from '../../domain/money.ts';
import { type Reckoned, reckon } from '../../domain/treasury/books.ts';
import {
  type Amounts,
  addAmounts,
  type Books,
  networksClosedIn,
  nonZero,
  openIn,
} from '../../domain/treasury/booksState.ts';
import { type MovementSum, movementSums, signedAmong } from '../../queries/treasury.ts';
import type { OpenChain } from '../../src/chains/family.ts';
import type { Core } from '../../src/core.ts';
import { loadTreasury } from '../../src/workers/treasury/account.ts';
import { booksAccountsOf, booksDeps, recordedMovements } from '../../src/workers/treasury/index.ts';
import { withCore } from '../connections.ts';
import { print, printError, printJson, printTable } from '../print.ts';
import { namedChain, operator } from '../program.ts';

export interface BooksComparison {
  readonly state: Books;
  readonly blockNumber: bigint;
  readonly chain: Amounts;
  /** Effects of recorded transfers since the opening. */
  readonly moved: Amounts;
  /** Money from outside that is not recorded yet. */
  readonly arriving: Reckoned['topUps'];
  /** Effects of our transactions that are on the chain and not recorded yet. */
  readonly underWay: Amounts;
  /** Unexplained rest: without any, the books close. */
  readonly difference: Amounts;
  readonly evidence: string;
}

/**
 * Compares an account's books with its present balances.
 * @param isOurs returns which of these transactions the log has signed
 * @returns undefined while the books are not open
 * @throws ChainUnavailable, StandingDisputed, HistoryTooLong
 */
export async function compareBooks(
  deps: BooksDeps,
  of: BooksAccount,
  isOurs: (hashes: readonly string[]) => Promise<ReadonlySet<string>>,
  signal: AbortSignal,
): Promise<BooksComparison | undefined> {
  const state = openIn(await loadBooks(deps, of));
  if (!state) return undefined;
  const standing = await deps.history.standing(of.account, signal);
  const how = { state, standing, search: true, patienceOver: true, closingDue: false };
  const look = await compareAt(deps, of, how, signal);
  const { topUps, rest, evidence } = reckon(state, look);
  const unrecorded = look.unrecorded ?? [];
  const ours = await isOurs(unrecorded.map(({ txHash }) => txHash));
  const underWay = unrecorded
    .filter(({ txHash }) => ours.has(txHash))
    .reduce<Amounts>((sum, { changes }) => addAmounts(sum, changes), {});
  return {
    state,
    blockNumber: standing.blockNumber,
    chain: standing.balances,
    moved: look.moved,
    arriving: topUps,
    underWay,
    difference: nonZero(addAmounts(rest, underWay, -1n)),
    evidence,
  };
}

const answer_ms = 120_000;

/** For one asset of one account, in smallest units. */
interface Line {
  readonly chainId: ChainId;
  readonly account: string;
  readonly asset: string;
  readonly opening: bigint;
  readonly toppedUp: bigint;
  readonly in: bigint;
  readonly out: bigint;
  readonly gas: bigint;
  readonly rent: bigint;
  readonly underWay: bigint;
  readonly chain: bigint;
  readonly difference: bigint;
}

interface Page {
  readonly of: BooksAccount;
  /** Undefined while the books are not open. */
  readonly compared: BooksComparison | undefined;
  /** Number of networks of the chain that were reset and closed. */
  readonly networksClosed: number;
  readonly lines: readonly Line[];
}

async function pageOf(core: Core, chain: OpenChain, of: BooksAccount, signal: AbortSignal): Promise<Page> {
  const { cancelled } = await loadTreasury(core.handle, of);
  const cancels = new Set(cancelled.flatMap(({ signed }) => signed.map(({ hash }) => hash)));
  const isOurs = async (hashes: readonly string[]) =>
    new Set([...(await signedAmong(core.database, hashes)), ...hashes.filter((hash) => cancels.has(hash))]);
  const compared = await compareBooks(booksDeps(core, chain), of, isOurs, signal);
  if (!compared) return { of, compared, networksClosed: networksClosedIn(await loadBooks(core, of)), lines: [] };
  const { opened, networksClosed } = compared.state;
  const range = { networksClosed, after: opened.blockNumber, upTo: compared.blockNumber };
  const sums = await movementSums(core.database, recordedMovements(of, range));
  const assets = [coinAddress, ...heldTokens(chainOf(of.chainId)).map(({ address }) => address)];
  return { of, compared, networksClosed, lines: assets.map((asset) => lineOf(of, asset, compared, sums)) };
}

const told = new Set(['topUp', 'flush', 'explained']);

function lineOf(of: BooksAccount, asset: string, compared: BooksComparison, sums: readonly MovementSum[]): Line {
  const { state, chain, underWay, difference, arriving } = compared;
  const own = sums.filter((each) => each.asset === asset && !told.has(each.kind));
  const sumOf = (wanted: (sum: MovementSum) => boolean) =>
    own.filter(wanted).reduce((sum, { units }) => sum + units, 0n);
  const opening = state.opened.balances[asset] ?? 0n;
  const coming = arriving.reduce((sum, each) => sum + (each.asset === asset ? BigInt(each.amount) : 0n), 0n);
  return {
    chainId: of.chainId,
    account: of.account,
    asset,
    opening,
    toppedUp: (state.own[asset] ?? 0n) - opening + coming,
    in: sumOf(({ part, units }) => part === 'amount' && units > 0n),
    out: -sumOf(({ part, units }) => part === 'amount' && units < 0n),
    gas: -sumOf(({ part }) => part === 'fee'),
    rent: -sumOf(({ part }) => part === 'rent'),
    underWay: underWay[asset] ?? 0n,
    chain: chain[asset] ?? 0n,
    difference: difference[asset] ?? 0n,
  };
}

function showPages(pages: readonly Page[], json: boolean): void {
  const lines = pages.flatMap((page) => page.lines);
  if (json) {
    printJson(lines);
    return;
  }
  printTable(Object.fromEntries(lines.map((line) => [nameOf(line), inWords(line)])));
  for (const { of, compared, networksClosed } of pages) {
    const began = networksClosed === 0 ? '' : ' on the network that began anew';
    if (!compared)
      print(`${of.account} on ${chainOf(of.chainId).name}: its books are not open yet, the service opens them${began}`);
    else if (compared.evidence) print(`${of.account} on ${chainOf(of.chainId).name}: ${compared.evidence}`);
  }
}

const assetOf = ({ chainId, asset }: Line) =>
  asset === coinAddress ? coinOf(chainId) : (tokenAt(chainOf(chainId), asset) ?? { symbol: asset, decimals: 0 });

const nameOf = (line: Line): string =>
  `${chainOf(line.chainId).name} ${line.account.slice(0, 6)}…${line.account.slice(-4)} ${assetOf(line).symbol}`;

function inWords(line: Line): Record<string, string> {
  const text = (units: bigint) =>
    `${units < 0n ? '-' : ''}${formatAmount(units < 0n ? -units : units, assetOf(line).decimals)}`;
  const books = line.chain - line.difference;
  return {
    opening: text(line.opening),
    'topped up': text(line.toppedUp),
    in: text(line.in),
    out: text(line.out),
    gas: text(line.gas),
    rent: text(line.rent),
    'under way': text(line.underWay),
    books: text(books),
    chain: text(line.chain),
    difference: line.difference === 0n ? 'none' : text(line.difference),
  };
}

/** @returns true if all of them close */
async function show(core: Core, chains: readonly OpenChain[], json: boolean): Promise<boolean> {
  const signal = AbortSignal.timeout(answer_ms);
  const pages = await Promise.all(
    chains.map(async (chain) => {
      const accounts = await booksAccountsOf(chain, signal);
      return Promise.all(accounts.map((of) => pageOf(core, chain, of, signal)));
    }),
  );
  showPages(pages.flat(), json);
  const open = pages.flat().flatMap(({ lines }) => lines.filter(({ difference }) => difference !== 0n));
  for (const line of open)
    printError(`${nameOf(line)}: the account holds ${inWords(line)['difference']} besides what the books say`);
  return open.length === 0;
}

async function explain(core: Core, chains: readonly OpenChain[], reason: string): Promise<void> {
  const signal = AbortSignal.timeout(answer_ms);
  for (const chain of chains) {
    for (const of of await booksAccountsOf(chain, signal)) {
      const outcome = await explainBooks(booksDeps(core, chain), of, reason, operator());
      print(`${of.account}: ${isRefusal(outcome) ? outcome.message : 'done'}`);
    }
  }
}

/** Adds `books`. */
export function addBooksVerbs(program: Command): void {
  program
    .command('books [chain]')
    .description(
      'Compare the balance of each account with opening, receipts, payments and gas. Exit code 1 on a difference.',
    )
    .option('--json', 'Print JSON with amounts in smallest units', false)
    .option('--explain <reason>', 'Accept a recorded difference, with the reason')
    .action((stated: string | undefined, { json, explain: reason }: { json: boolean; explain?: string }) =>
      withCore(async (core) => {
        const all = [...core.chains.values()];
        const chosen = stated === undefined ? all : all.filter(({ rail }) => rail.chainId === namedChain(stated)?.id);
        if (chosen.length === 0) throw new Error(`${stated} is not a configured chain: set RPC_URLS_<chainId>`);
        if (reason !== undefined && stated === undefined)
          throw new Error('--explain needs a chain: name the chain of the difference');
        if (reason !== undefined) await explain(core, chosen, reason);
        else if (!(await show(core, chosen, json))) process.exitCode = 1;
      }),
    );
}
