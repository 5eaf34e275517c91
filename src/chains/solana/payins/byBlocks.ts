/**
 * What came into many accounts at once, by the blocks of the few slots since they were looked at last: one call for each slot in place of two
 * for each account. What it finds counts only where it adds up to what the account holds; else the account's history is read.
 */
import { higher } from '../../../lib/bigints.ts';
import { inParallel } from '../../../lib/mapLimit.ts';
import type { TransferLog } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import { type Landed, landedInBlock } from '../landed.ts';
import { type Block, wholeBlockAt } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { type Held, type ReadTo, unread } from './accountHistory.ts';
import { changeIn, creditsOf, logOf } from './credits.ts';

/** All that changed an account, oldest first, and how far it is read by that. */
export interface Explained {
  readonly logs: readonly TransferLog[];
  readonly readTo: ReadTo & { readonly signature: string };
}

/** Undefined where the blocks do not explain what the account holds. */
export type ExplainByBlocks = (held: Held, from: ReadTo) => Explained | undefined;

/** Blocks are large on the real network: so few are read at a time. */
const slotsMax = 16n;

/**
 * @param changed accounts whose balance is another than what they were read to
 * @param last the slot of the look before; undefined for none
 * @returns what explains nothing where reading blocks is no cheaper
 */
export async function readByBlocks(
  node: SolanaNode,
  changed: readonly Held[],
  last: bigint | undefined,
): Promise<ExplainByBlocks> {
  const newest = changed.map(({ slot }) => slot).reduce(higher, 0n);
  const count = last === undefined ? 0n : newest - last;
  if (count <= 0n || count > slotsMax || count > BigInt(changed.length)) return () => undefined;
  const slots = Array.from({ length: Number(count) }, (_, at) => newest - count + 1n + BigInt(at));
  const wanted = new Set(changed.map(({ account }) => account));
  const found = await inParallel(slots, callsAtOnce, (slot) => changesIn(node, slot, wanted));
  const changes = found.flat();
  return (held, from) => explained(held, from, changes);
}

interface Change {
  readonly block: Block;
  readonly transaction: Landed;
}

/** None where the slot has no block, or the node does not show it: then nothing adds up that was in it. */
async function changesIn(node: SolanaNode, slot: bigint, wanted: ReadonlySet<string>): Promise<readonly Change[]> {
  const whole = await wholeBlockAt(node, slot, 'confirmed').catch(() => undefined);
  if (!whole) return [];
  return whole.transactions.flatMap((shown) => {
    const transaction = landedInBlock(slot, shown);
    const touches = transaction?.after.some(({ account }) => wanted.has(account));
    return transaction && touches && !transaction.failed ? [{ block: whole.block, transaction }] : [];
  });
}

function explained(held: Held, from: ReadTo, changes: readonly Change[]): Explained | undefined {
  const { owner, account, amount, slot } = held;
  const own = changes.filter(({ block, transaction }) => block.slot <= slot && changeIn(account, transaction) !== 0n);
  const start = from.signature === null ? unread.amount : from.amount;
  const sum = own.reduce((total, { transaction }) => total + changeIn(account, transaction), start);
  const signature = own.at(-1)?.transaction.signature;
  if (sum !== amount || signature === undefined) return undefined;
  const logs = own.flatMap(({ block, transaction }) =>
    creditsOf(transaction, [owner])
      .filter((credit) => credit.account === account)
      .map((credit) => logOf(credit, transaction, block)),
  );
  return { logs, readTo: { amount, signature } };
}
