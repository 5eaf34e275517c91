/** Polls the balances of deposits' token accounts, and reads the transactions of those that changed. */
import { instant } from '../../../../domain/time.ts';
import type { Watch } from '../../family.ts';
import { inParallel } from '../../inParallel.ts';
import type { Cursor, Ingester, Pass, ScannedRange } from '../../ports.ts';
import { callsAtOnce, solanaChainId } from '../config.ts';
import { type AsOf, type Block, blockAt, type Commitment, lagging, slotOf } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { type HistoryPart, readHistory, unread } from './accountHistory.ts';
import { logOf, timeOf } from './credits.ts';
import { createMemory, type Memory, type ReadAccount, readingOrder } from './memory.ts';
import { balancesOf, createAddressBook } from './watchedAccounts.ts';

export interface SolanaScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  /** The newest slot up to which a final pass has seen everything. */
  finalSlot(): bigint;
}

const commitments: Partial<Record<Pass, Commitment>> = { head: 'confirmed', final: 'finalized' };

interface Poll {
  readonly range: ScannedRange;
  /** To be called once the range is recorded. */
  readonly keep: () => void;
}

export function createScanner(rpc: SolanaRpc, watch: Watch): SolanaScanner {
  const memories = new Map<Pass, Memory>();
  const addresses = createAddressBook();
  let finalSlot = 0n;

  function memoryOf(pass: Pass): Memory {
    const memory = memories.get(pass) ?? createMemory();
    memories.set(pass, memory);
    return memory;
  }

  /** @returns undefined when the chain has not moved since the cursor */
  async function poll(node: SolanaNode, cursor: Cursor, signal: AbortSignal): Promise<Poll | undefined> {
    const memory = memoryOf(cursor.pass);
    const commitment = commitments[cursor.pass] ?? 'finalized';
    const slot = await slotOf(node, commitment);
    if (slot === cursor.blockNumber) return undefined;
    if (slot < cursor.blockNumber) throw lagging(node, 'getSlot', cursor.blockNumber);
    const asOf: AsOf = { commitment, minContextSlot: slot };

    // Asked after the slot: a deposit that was paid in it is created by now, and in the answers.
    const owners = await ownersAt(slot, memory, signal);
    const open = addresses.accountsOf(owners.open);
    const late = owners.late && addresses.accountsOf(owners.late);
    const balances = await balancesOf(node, [...open, ...(late ?? [])], asOf);
    const changed = memory.changed({ open, late }, balances);
    const read = await inParallel(readingOrder(changed), callsAtOnce, async (account) =>
      readAccount(node, account, balances.get(account) ?? 0n, memory, asOf),
    );

    const blocks = createBlocks(node, commitment);
    const credited = read.flatMap(({ credits }) => credits);
    const logs = await inParallel(credited, callsAtOnce, async ({ credit, transaction }) =>
      logOf(credit, transaction, await blocks(transaction.slot)),
    );
    // A node may show a balance before it finds what made it: until then the slot is not wholly read.
    const isOpen = new Set(open);
    const complete = read.every(({ account, explained }) => explained || !isOpen.has(account));
    const next = cursorAt(cursor.pass, await blocks(slot));
    return {
      range: { logs, orphaned: [], next: complete ? next : cursor },
      keep() {
        memory.keep(slot, { open, late }, changed, read);
        if (owners.late) addresses.keepOnly(new Set([...owners.open, ...owners.late]));
      },
    };
  }

  async function ownersAt(slot: bigint, memory: Memory, signal: AbortSignal) {
    const open = await watch.open(signal);
    if (!memory.lateIsDue(slot)) return { open, late: null };
    const isOpen = new Set(open);
    const late = (await watch.late(signal)).filter((owner) => !isOpen.has(owner));
    return { open, late };
  }

  return {
    finalSlot: () => finalSlot,

    // An account's whole history is read when it is first seen: no pass has to begin anywhere.
    start: async (pass, at) => ({ ...nowhere(pass, 0n), chainTime: at }),
    cursorAt: async (pass, blockNumber) => nowhere(pass, blockNumber),

    async *scan(cursor, signal) {
      const polled = await rpc.first((node) => poll(node, cursor, signal), signal);
      if (!polled) return;
      const { range, keep } = polled;
      if (cursor.pass !== 'head' && range.next.blockNumber > finalSlot) finalSlot = range.next.blockNumber;
      yield range;
      // Only here the caller has recorded what the range holds.
      keep();
    },
  };
}

async function readAccount(
  node: SolanaNode,
  account: string,
  balance: bigint,
  memory: Memory,
  asOf: AsOf,
): Promise<ReadAccount & Pick<HistoryPart, 'credits'>> {
  // Emptied: swept, or what it held has left the chain, from where the same transaction may come back.
  if (balance === 0n) return { account, explained: true, readTo: unread, credits: [] };
  const { credits, readTo } = await readHistory(node, account, memory.lastRead(account), asOf);
  const explained = readTo.amount === balance;
  return { account, explained, readTo: explained ? readTo : { ...readTo, signature: null }, credits };
}

/** Reads blocks, each once. */
function createBlocks(node: SolanaNode, commitment: Commitment): (slot: bigint) => Promise<Block> {
  const asked = new Map<bigint, Promise<Block>>();
  return (slot) => {
    const block = asked.get(slot) ?? blockAt(node, slot, commitment);
    asked.set(slot, block);
    return block;
  };
}

const cursorAt = (pass: Pass, block: Block): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber: block.slot,
  blockHash: block.hash,
  chainTime: timeOf(block),
});

/** A cursor that no block of the chain was read for. */
const nowhere = (pass: Pass, blockNumber: bigint): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber,
  blockHash: `before slot ${blockNumber + 1n}`,
  chainTime: instant(0),
});
