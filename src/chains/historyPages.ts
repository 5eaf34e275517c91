/** How a family's history of an account is read a page at a time: range by range, each page ending with a block. */
import { higher, lower } from '../lib/inParallel.ts';
import type { AccountTransaction, HistoryAsked, HistoryPage } from './ports.ts';

export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** A transaction of interest, before it is read. */
export interface Happened {
  readonly hash: string;
  readonly blockNumber: bigint;
}

export interface HappenedIn {
  /** Each once, in no order. */
  readonly found: readonly Happened[];
  /** Whether all that the account sent is among it. */
  readonly complete: boolean;
}

export interface HistorySource {
  /** Blocks that are searched at once. */
  readonly span: bigint;
  happenedIn(range: BlockRange): Promise<HappenedIn>;
  read(found: readonly Happened[]): Promise<readonly AccountTransaction[]>;
}

/** Searches of a page: one that finds nothing leads on all the same. */
const searchesMax = 10;

export async function readPage(asked: HistoryAsked, source: HistorySource): Promise<HistoryPage> {
  const { order, max } = asked;
  const [transactions, parts]: [AccountTransaction[], HappenedIn[]] = [[], []];
  let rest = restOf(asked);
  for (let searches = 0; searches < searchesMax && rest && transactions.length < max; searches += 1) {
    const range = nextOf(rest, order, source.span);
    const all = await source.happenedIn(range);
    const part = { ...all, found: all.found.filter(({ hash }) => !asked.except?.has(hash)) };
    const { taken, upTo } = wholeBlocks(part, order, max - transactions.length);
    transactions.push(...inOrder(await source.read(taken), order));
    parts.push(part);
    rest = behind(rest, order, upTo ?? (order === 'oldestFirst' ? range.to : range.from));
  }
  const next = rest && String(order === 'oldestFirst' ? rest.from : rest.to);
  return { transactions, next, complete: parts.every(({ complete }) => complete) };
}

type Order = HistoryAsked['order'];

function restOf({ from, to, order, after }: HistoryAsked): BlockRange | null {
  const [first, last] = order === 'oldestFirst' ? [BigInt(after ?? from), to] : [from, BigInt(after ?? to)];
  return first <= last ? { from: first, to: last } : null;
}

const nextOf = ({ from, to }: BlockRange, order: Order, span: bigint): BlockRange =>
  order === 'oldestFirst' ? { from, to: lower(to, from + span - 1n) } : { from: higher(from, to - span + 1n), to };

/** What is left once a block is read. */
function behind({ from, to }: BlockRange, order: Order, block: bigint): BlockRange | null {
  const rest = order === 'oldestFirst' ? { from: block + 1n, to } : { from, to: block - 1n };
  return rest.from <= rest.to ? rest : null;
}

/** As many as fit, and of the last block all. @returns `upTo`: the last block, where some are left for the next page */
function wholeBlocks({ found }: HappenedIn, order: Order, max: number) {
  const sign = order === 'oldestFirst' ? 1 : -1;
  const sorted = found.toSorted((a, b) => sign * Number(a.blockNumber - b.blockNumber));
  const last = sorted.at(max - 1)?.blockNumber;
  const taken = sorted.filter(({ blockNumber }) => last === undefined || sign * Number(blockNumber - last) <= 0);
  return { taken, upTo: taken.length < sorted.length ? last : undefined };
}

/** Within a block the account's own go by their nonces; what else there is has no order of its own. */
function inOrder(found: readonly AccountTransaction[], order: Order): readonly AccountTransaction[] {
  const sign = order === 'oldestFirst' ? 1 : -1;
  const place = ({ nonce }: AccountTransaction) => nonce ?? -1n;
  return found.toSorted((a, b) => sign * Number(a.blockNumber - b.blockNumber || place(a) - place(b)));
}
