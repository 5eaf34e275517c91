/** Paged history of an account for a family: range by range, each page ending at a block boundary. */
import { higher, lower } from '../lib/concurrency.ts';
import { agreedOn, type Statement } from './node/agreement.ts';
import type { ChainNode } from './node/jsonRpc.ts';
import type { ChainRpc } from './node/nodes.ts';
import {
  type AccountBalances,
  type AccountTransaction,
  type HistoryAsked,
  type HistoryPage,
  StandingDisputed,
} from './ports.ts';

export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** A relevant transaction before it is read. */
export interface Happened {
  readonly hash: string;
  readonly blockNumber: bigint;
}

export interface HappenedIn {
  /** Each once, unordered. */
  readonly found: readonly Happened[];
  /** True if it contains all transactions that the account sent. */
  readonly complete: boolean;
}

export interface HistorySource {
  /** Blocks of one search. */
  readonly span: bigint;
  happenedIn(range: BlockRange): Promise<HappenedIn>;
  read(found: readonly Happened[]): Promise<readonly AccountTransaction[]>;
}

/** Maximum searches of a page: an empty search still advances. */
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

/** Remaining range after a block is read. */
function behind({ from, to }: BlockRange, order: Order, block: bigint): BlockRange | null {
  const rest = order === 'oldestFirst' ? { from: block + 1n, to } : { from, to: block - 1n };
  return rest.from <= rest.to ? rest : null;
}

/** Transactions up to the maximum, rounded up to whole blocks. @returns `upTo`: the last block, if some remain for the next page */
function wholeBlocks({ found }: HappenedIn, order: Order, max: number) {
  const sign = order === 'oldestFirst' ? 1 : -1;
  const sorted = found.toSorted((a, b) => sign * Number(a.blockNumber - b.blockNumber));
  const last = sorted.at(max - 1)?.blockNumber;
  const taken = sorted.filter(({ blockNumber }) => last === undefined || sign * Number(blockNumber - last) <= 0);
  return { taken, upTo: taken.length < sorted.length ? last : undefined };
}

/** Within a block the account's own transactions are ordered by nonce; the others have no order. */
function inOrder(found: readonly AccountTransaction[], order: Order): readonly AccountTransaction[] {
  const sign = order === 'oldestFirst' ? 1 : -1;
  const place = ({ nonce }: AccountTransaction) => nonce ?? -1n;
  return found.toSorted((a, b) => sign * Number(a.blockNumber - b.blockNumber || place(a) - place(b)));
}

// An account's balances need the required number of agreeing nodes: a wrong answer would open the books, or hide a
// difference.

/**
 * @param read reads the account's current state from a node
 * @param again reads another node at the same block, or the nearest available one; throws RpcFailed if it cannot
 * @throws StandingDisputed, ChainUnavailable
 */
export async function agreedStanding(
  rpc: ChainRpc,
  account: string,
  read: (node: ChainNode) => Promise<AccountBalances>,
  again: (node: ChainNode, said: AccountBalances) => Promise<AccountBalances>,
  signal: AbortSignal,
): Promise<AccountBalances> {
  const said = await rpc.answer(read, signal);
  if (rpc.agree.usual <= 1) return said;
  const { agreed, dispute } = await agreedOn(
    rpc,
    rpc.agree.usual,
    async (node) => compared(said, await again(node, said)),
    signal,
  );
  if (agreed && !dispute) return said;
  throw new StandingDisputed(account, dispute ?? { reason: 'nodesTooFew', message: 'too few nodes can say' });
}

function compared(said: AccountBalances, other: AccountBalances): Statement {
  const assets = new Set([...Object.keys(said.balances), ...Object.keys(other.balances)]);
  const differing = [...assets].filter((asset) => (said.balances[asset] ?? 0n) !== (other.balances[asset] ?? 0n));
  if (differing.length === 0 && said.sent !== other.sent)
    return { instead: `the account has sent ${other.sent} transactions by block ${other.blockNumber}` };
  if (differing.length === 0) return 'same';
  const amounts = differing.map((asset) => `${other.balances[asset] ?? 0n} units of ${asset}`).join(', ');
  return { instead: `it holds ${amounts} in block ${other.blockNumber}` };
}
