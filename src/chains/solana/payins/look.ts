/** Looks at a page of deposits: their balances are read, and the transactions of those that changed. */
import { inParallel } from '../../../lib/mapLimit.ts';
import type { TransferLog, Unreadable } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import { blockIfThere } from '../newest.ts';
import type { AsOf, Block, Commitment } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { signaturesOf } from '../transactions.ts';
import {
  type Credited,
  type Held,
  type HistoryPart,
  mostByItself,
  mostOfLook,
  type ReadTo,
  readHistory,
  type Unread,
  unread,
} from './accountHistory.ts';
import { type ExplainByBlocks, readByBlocks } from './byBlocks.ts';
import { logOf } from './credits.ts';
import { gathered } from './gathering.ts';
import type { Memory, ReadAccount } from './memory.ts';
import type { Recall } from './recall.ts';
import { type AddressBook, heldBy } from './tokenAccounts.ts';

export interface Page {
  readonly logs: readonly TransferLog[];
  /** Owners whose accounts hold what their history does not explain. */
  readonly unexplained: readonly string[];
  readonly unreadable: readonly Unreadable[];
  readonly read: readonly ReadAccount[];
}

/** Accounts whose histories are read side by side, so that their calls go out together. */
const historiesAtOnce = 40;

export interface Looking {
  readonly accountsOf: AddressBook;
  readonly memory: Memory;
  readonly recall: Recall;
  readonly asOf: LookedAsOf;
}

/** @param asOf `minContextSlot`: the slot of the look @throws RpcFailed */
export async function lookAt(
  asked: SolanaNode,
  owners: readonly string[],
  { accountsOf, memory, recall, asOf }: Looking,
): Promise<Page> {
  const node = gathered(asked);
  const { held: all } = await heldBy(node, owners, accountsOf, asOf);
  const changed = memory.changed(all, asOf.minContextSlot);
  const byBlocks = await readByBlocks(node, asOf.commitment === 'confirmed' ? changed : [], memory.lookBefore());
  const blocks = createBlocks(node, asOf.commitment);
  const paidAgain = asOf.commitment === 'finalized' ? await paidTheSameAgain(node, all, memory, asOf) : [];
  const read = await inParallel([...changed, ...paidAgain], historiesAtOnce, (held) =>
    readAccount(node, held, memory.lastRead(held.account), { asOf, blocks, byBlocks, recall }),
  );
  const unexplained = new Set(read.filter(({ explained }) => !explained).map(({ owner }) => owner));
  return {
    logs: read.flatMap(({ logs }) => logs),
    unexplained: [...unexplained],
    unreadable: read.flatMap(({ owner, unreadable }) => unreadable.map((each) => parkedOf(owner, each))),
    read,
  };
}

/** Accounts that hold what they held although later transactions name them. Only sweeps empty accounts, and only final money is swept. */
async function paidTheSameAgain(
  node: SolanaNode,
  held: readonly Held[],
  memory: Memory,
  asOf: LookedAsOf,
): Promise<readonly Held[]> {
  const { minContextSlot: slot } = asOf;
  const found = await inParallel(memory.dueForCheck(held, slot), callsAtOnce, async ({ held: each, newest: until }) => {
    const later = await signaturesOf(node, each.account, { until, before: null }, asOf);
    if (later.some(({ signature }) => signature !== until)) return [each];
    memory.checked(each.account, slot);
    return [];
  });
  return found.flat();
}

export interface LookedAsOf extends AsOf {
  readonly minContextSlot: bigint;
}

interface Read extends ReadAccount, Pick<HistoryPart, 'unreadable'> {
  readonly owner: string;
  readonly logs: readonly TransferLog[];
}

interface Reading {
  readonly asOf: AsOf;
  readonly blocks: Blocks;
  readonly byBlocks: ExplainByBlocks;
  readonly recall: Recall;
}

async function readAccount(node: SolanaNode, held: Held, from: ReadTo, reading: Reading): Promise<Read> {
  const { asOf, blocks, byBlocks, recall } = reading;
  const { owner, account, amount: balance } = held;
  const common = { owner, account, balance };
  // Emptied: swept, or what it held has left the chain, from where the same transaction may come back.
  if (balance === 0n) return { ...common, explained: true, readTo: unread, newest: null, logs: [], unreadable: [] };
  if (asOf.commitment === 'finalized') {
    const recalled = await recall.explaining(node, held, from, async (slot) => (await blocks(slot))?.hash);
    const signature = recalled?.at(-1)?.txHash;
    if (recalled && signature !== undefined) {
      const readTo = { amount: balance, signature };
      return { ...common, explained: true, readTo, newest: signature, logs: recalled, unreadable: [] };
    }
  }
  const found = byBlocks(held, from);
  if (found) {
    recall.keep(node, account, found.logs);
    return { ...common, ...found, explained: true, newest: found.readTo.signature, unreadable: [] };
  }
  const part = await readHistory(node, held, from, asOf, mostOfLook);
  const { newest, whole, unreadable } = part;
  const { logs, complete } = await logsOf(part.credits, blocks);
  if (asOf.commitment === 'confirmed' && complete) recall.keep(node, account, logs);
  const read = { ...common, newest, logs, unreadable };
  // The block of one of them is not there yet: it is read the next time, with all that came after it.
  if (!complete) return { ...read, explained: false, readTo: from };
  // All was read and it does not add up: something of it has left the chain.
  const again = whole && !part.explained ? { ...part.readTo, signature: null } : part.readTo;
  return { ...read, explained: part.explained, readTo: again };
}

/** What one deposit ever received, whatever a pass remembers of it. @throws RpcFailed */
export async function readWhole(
  node: SolanaNode,
  owner: string,
  accountsOf: AddressBook,
  asOf: AsOf,
): Promise<{ readonly logs: readonly TransferLog[]; readonly explained: boolean }> {
  const { held: all } = await heldBy(node, [owner], accountsOf, asOf);
  const held = all.filter(({ amount }) => amount > 0n);
  const blocks = createBlocks(node, asOf.commitment);
  const read = await inParallel(held, callsAtOnce, async (each) => {
    const { credits, unreadable, explained } = await readHistory(node, each, unread, asOf, mostByItself);
    const { logs, complete } = await logsOf(credits, blocks);
    return { logs, explained: explained && complete && unreadable.length === 0 };
  });
  return { logs: read.flatMap(({ logs }) => logs), explained: read.every(({ explained }) => explained) };
}

const parkedOf = (owner: string, { seen, why }: Unread): Unreadable => ({
  txHash: seen.signature,
  blockNumber: seen.slot,
  addresses: [owner],
  evidence: why.evidence,
});

/** Oldest first, up to the first one whose block the node does not show: `complete` when there is none such. */
async function logsOf(
  credits: readonly Credited[],
  blocks: Blocks,
): Promise<{ readonly logs: readonly TransferLog[]; readonly complete: boolean }> {
  const found = await inParallel(credits, callsAtOnce, async ({ credit, transaction }) => {
    const block = await blocks(transaction.slot);
    return block && logOf(credit, transaction, block);
  });
  const missing = found.indexOf(null);
  const shown = missing < 0 ? found : found.slice(0, missing);
  return { logs: shown.filter((log) => log !== null), complete: missing < 0 };
}

type Blocks = (slot: bigint) => Promise<Block | null>;

/** Reads blocks, each once. */
function createBlocks(node: SolanaNode, commitment: Commitment): Blocks {
  const asked = new Map<bigint, Promise<Block | null>>();
  return (slot) => {
    const block = asked.get(slot) ?? blockIfThere(node, slot, commitment);
    asked.set(slot, block);
    return block;
  };
}
