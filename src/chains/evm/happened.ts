/** Which transactions of a range of blocks moved an account's tokens, or were its own. */

import { inParallel } from '../../lib/mapLimit.ts';
import type { BlockRange, Happened, HappenedIn } from '../historyPages.ts';
import { logsOfAccount, nonceAt, type Transaction, transactionsAt, transactionsOf } from './accounts.ts';
import { callsAtOnce } from './payins/calls.ts';
import { type EvmNode, RpcFailed } from './rpc.ts';

/** Of one range, each found by some ten calls. */
const hiddenMax = 200;

/** @throws RpcFailed */
export async function happenedIn(
  node: EvmNode,
  account: string,
  tokens: readonly string[],
  range: BlockRange,
): Promise<HappenedIn> {
  const logged = await loggedIn(node, account, tokens, range);
  const nonces = await noncesIn(node, account, range);
  const sent = nonces ? await hiddenIn(node, account, range, { ...nonces, logged }) : { found: [], complete: false };
  const all = new Map([...logged, ...sent.found].map((each) => [each.hash, each]));
  return { found: [...all.values()], complete: sent.complete };
}

/** A range that a node does not take is asked for in halves. */
async function loggedIn(
  node: EvmNode,
  account: string,
  tokens: readonly string[],
  { from, to }: BlockRange,
): Promise<readonly Happened[]> {
  try {
    const { logs, broken } = await logsOfAccount(node, account, tokens, { from, to });
    const [unread] = broken;
    if (unread) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', unread.evidence);
    const ours = logs.filter(({ removed }) => !removed);
    return ours.map(({ txHash, blockNumber }) => ({ hash: txHash, blockNumber }));
  } catch (error) {
    const isTooWide = error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'tooLarge');
    if (!isTooWide || from === to) throw error;
    const middle = (from + to) / 2n;
    const first = await loggedIn(node, account, tokens, { from, to: middle });
    return [...first, ...(await loggedIn(node, account, tokens, { from: middle + 1n, to }))];
  }
}

interface Nonces {
  /** The first one that is used in the range, and the first one that is not used by its end. */
  readonly first: bigint;
  readonly end: bigint;
}

/** Undefined where the node keeps no states of so long ago. */
async function noncesIn(node: EvmNode, account: string, { from, to }: BlockRange): Promise<Nonces | undefined> {
  try {
    const [first, end] = await Promise.all([
      from === 0n ? 0n : nonceAt(node, account, from - 1n),
      nonceAt(node, account, to),
    ]);
    return { first, end };
  } catch (error) {
    if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
    throw error;
  }
}

/** What the account sent that no log shows: plain payments of the coin, cancels, what was reverted. */
async function hiddenIn(
  node: EvmNode,
  account: string,
  range: BlockRange,
  { first, end, logged }: Nonces & { readonly logged: readonly Happened[] },
): Promise<HappenedIn> {
  const isOwn = ({ from }: Transaction) => from.toLowerCase() === account.toLowerCase();
  const shown = await transactionsOf(
    node,
    logged.map(({ hash }) => hash),
  );
  const known = new Set(shown.flatMap((each) => (each && isOwn(each) ? [each.nonce] : [])));
  const count = Number(end - first);
  const hidden = Array.from({ length: count }, (_, at) => first + BigInt(at)).filter((nonce) => !known.has(nonce));
  const searched = hidden.slice(0, hiddenMax);
  const blocks = await inParallel(searched, callsAtOnce, (nonce) => blockOf(node, account, nonce, range));
  const found = await inParallel([...new Set(blocks)], callsAtOnce, async (blockNumber) =>
    (await transactionsAt(node, blockNumber)).filter(isOwn).map(({ hash }) => ({ hash, blockNumber })),
  );
  return { found: found.flat(), complete: searched.length === hidden.length };
}

/** The first block of the range after which the nonce is used. */
async function blockOf(node: EvmNode, account: string, nonce: bigint, { from, to }: BlockRange): Promise<bigint> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await nonceAt(node, account, middle)) > nonce) high = middle;
    else low = middle + 1n;
  }
  return low;
}
