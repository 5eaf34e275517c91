import { ask, type LedgerHead, ledgerRange, malformed } from '../reads.ts';
import type { StellarNode } from '../rpc.ts';

/**
 * A ledger that closed at or before a time, near it: where a scan begins that must not miss what came after. The oldest one that the
 * node remembers when even that is later. Found by the transactions of ledgers, of which every node tells the time.
 */
export async function ledgerAt(node: StellarNode, at_s: number): Promise<LedgerHead> {
  const { oldest, latest } = await ledgerRange(node);
  if (latest.closedAt_s <= at_s) return latest;
  let before = oldest;
  let after = latest.ledger;
  while (after - before.ledger > 1n) {
    const middle = (before.ledger + after) / 2n;
    const next = await firstFrom(node, middle);
    if (next && next.closedAt_s <= at_s && next.ledger < after) before = next;
    else after = middle;
  }
  return before;
}

/** The first ledger from here on that holds a transaction. */
async function firstFrom(node: StellarNode, ledger: bigint): Promise<LedgerHead | undefined> {
  const method = 'getTransactions';
  const answer = await ask(node, method, { startLedger: Number(ledger), pagination: { limit: 1 } });
  const [first] = (answer['transactions'] ?? []) as readonly { ledger?: number; createdAt?: number | string }[];
  if (!first) return undefined;
  const [number, closedAt_s] = [Number(first.ledger), Number(first.createdAt)];
  if (!Number.isSafeInteger(number) || !Number.isSafeInteger(closedAt_s))
    throw malformed(node, method, 'a transaction');
  return { ledger: BigInt(number), closedAt_s };
}
