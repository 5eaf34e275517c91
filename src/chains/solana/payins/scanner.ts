/** Looks at the token accounts of deposits, and reads the transactions of those that changed. */
import { type Instant, instant } from '../../../../domain/time.ts';
import type { Watch } from '../../family.ts';
import { inParallel } from '../../inParallel.ts';
import type { Cursor, Ingester, Pass, ScannedRange, TransferLog } from '../../ports.ts';
import { tokenAccountOf } from '../addresses.ts';
import { solanaChainId } from '../config.ts';
import {
  type AsOf,
  accountsOf,
  accountsPerCall,
  type Block,
  blockAt,
  type Commitment,
  lagging,
  slotOf,
} from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { newsOf, type ReadTo, unread } from './accountHistory.ts';

export interface SolanaScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  /** The newest slot that a final pass has looked at. */
  finalSlot(): bigint;
}

/** So often are deposits of payments that are over looked at: every minute or so. */
const lateEvery_slots = 150n;
/** Of them so many are read in one look, when a start finds all of them unread: the open ones must not wait. */
const lateReadsMax = 100;
const callsAtOnce = 4;
/** A token account's amount (its layout: mint, owner, amount). */
const amountSlice = { offset: 64, length: 8 };

const commitments: Partial<Record<Pass, Commitment>> = { head: 'confirmed', final: 'finalized' };

/** What one pass remembers between looks. Losing it costs calls: everything that is not empty is read again, which changes nothing. */
interface Memory {
  readonly readTo: Map<string, ReadTo>;
  lateAt: bigint | null;
  /** Late ones whose balance the node's history does not explain, and may never do: asked after all others. */
  unexplained: Set<string>;
}

interface Look {
  readonly range: ScannedRange;
  /** To be remembered once the range is handled. */
  readonly remember: () => void;
}

export function createScanner(rpc: SolanaRpc, watch: Watch): SolanaScanner {
  const memories = new Map<Pass, Memory>();
  const accounts = createAccountNames();
  let finalSlot = 0n;

  function memoryOf(pass: Pass): Memory {
    const memory = memories.get(pass) ?? { readTo: new Map(), lateAt: null, unexplained: new Set() };
    memories.set(pass, memory);
    return memory;
  }

  /** @returns undefined when the chain has not moved since the cursor */
  async function look(node: SolanaNode, cursor: Cursor, signal: AbortSignal): Promise<Look | undefined> {
    const memory = memoryOf(cursor.pass);
    const commitment = commitments[cursor.pass] ?? 'finalized';
    const slot = await slotOf(node, commitment);
    if (slot === cursor.blockNumber) return undefined;
    if (slot < cursor.blockNumber) throw lagging(node, 'getSlot', cursor.blockNumber);
    const asOf: AsOf = { commitment, minContextSlot: slot };

    // After the slot: what it can have paid is created by now, and in the lists.
    const open = await watch.open(signal);
    const lateDue = memory.lateAt === null || slot - memory.lateAt >= lateEvery_slots;
    const isOpen = new Set(open);
    const late = lateDue ? (await watch.late(signal)).filter((owner) => !isOpen.has(owner)) : [];
    const amounts = await amountsOf(node, [...open, ...late], asOf);
    const changed = (owners: readonly string[]) =>
      owners.filter((owner) => amounts.get(owner) !== (memory.readTo.get(owner) ?? unread).amount);
    const [lateChanged, lateAgain] = parted(changed(late), memory.unexplained);
    const reading = [...changed(open), ...[...lateChanged, ...lateAgain].slice(0, lateReadsMax)];
    const news = await inParallel(reading, callsAtOnce, async (owner) => {
      const amount = amounts.get(owner) ?? 0n;
      // Emptied: swept, or what it held has left the chain, from where the same transaction may come back.
      if (amount === 0n) return { owner, explained: true, readTo: unread, credits: [] };
      const to = memory.readTo.get(owner) ?? unread;
      const { credits, readTo } = await newsOf(node, accounts.of(owner), to, asOf);
      const explained = readTo.amount === amount;
      return { owner, explained, readTo: explained ? readTo : { ...readTo, signature: null }, credits };
    });

    const blocks = createBlocks(node, commitment);
    const logs = await logsOf(
      news.flatMap(({ credits }) => credits),
      blocks,
    );
    const unexplained = news.some(({ owner, explained }) => isOpen.has(owner) && !explained);
    const here = await blocks.at(slot);
    return {
      // A node may show a balance before it finds what made it: until then nothing here is wholly looked at.
      range: { logs, orphaned: [], next: unexplained ? cursor : cursorAt(cursor.pass, here) },
      remember() {
        for (const { owner, readTo } of news) memory.readTo.set(owner, readTo);
        if (!lateDue) return;
        memory.lateAt = lateChanged.length > lateReadsMax ? null : slot;
        memory.unexplained = new Set(lateAgain);
        for (const { owner, explained } of news) memory.unexplained[explained ? 'delete' : 'add'](owner);
        const watched = new Set([...open, ...late]);
        for (const owner of memory.readTo.keys()) if (!watched.has(owner)) memory.readTo.delete(owner);
        accounts.keepOnly(watched);
      },
    };
  }

  async function amountsOf(
    node: SolanaNode,
    owners: readonly string[],
    asOf: AsOf,
  ): Promise<ReadonlyMap<string, bigint>> {
    const batches = Array.from({ length: Math.ceil(owners.length / accountsPerCall) }, (_, at) =>
      owners.slice(at * accountsPerCall, (at + 1) * accountsPerCall),
    );
    const answers = await inParallel(batches, callsAtOnce, async (batch) => {
      const found = await accountsOf(node, batch.map(accounts.of), { ...asOf, slice: amountSlice });
      return found.accounts.map((account) => (account?.data.length === 8 ? account.data.readBigUInt64LE() : 0n));
    });
    const amounts = answers.flat();
    return new Map(owners.map((owner, at) => [owner, amounts[at] ?? 0n]));
  }

  return {
    finalSlot: () => finalSlot,

    // An account's whole history is read when it is first seen: no pass has to begin anywhere.
    start: async (pass, at) => nowhere(pass, 0n, at),
    cursorAt: async (pass, blockNumber) => nowhere(pass, blockNumber, instant(0)),

    async *scan(cursor, signal) {
      const found = await rpc.first((node) => look(node, cursor, signal), signal);
      if (!found) return;
      const { range, remember } = found;
      if (cursor.pass !== 'head' && range.next.blockNumber > finalSlot) finalSlot = range.next.blockNumber;
      yield range;
      // Only here the caller has recorded what the range holds.
      remember();
    },
  };
}

async function logsOf(
  news: Awaited<ReturnType<typeof newsOf>>['credits'],
  blocks: ReturnType<typeof createBlocks>,
): Promise<readonly TransferLog[]> {
  return inParallel(news, callsAtOnce, async ({ credit, transaction }) => {
    const block = await blocks.at(transaction.slot);
    return {
      ...{ to: credit.owner, memo: null, from: credit.from, token: credit.token, amount: credit.amount },
      txHash: transaction.signature,
      blockNumber: block.slot,
      blockHash: block.hash,
      logIndex: credit.index,
      blockTime: timeOf(block),
    };
  });
}

/** Each block is asked for once. */
export function createBlocks(node: SolanaNode, commitment: Commitment) {
  const asked = new Map<bigint, Promise<Block>>();
  return {
    at(slot: bigint): Promise<Block> {
      const block = asked.get(slot) ?? blockAt(node, slot, commitment);
      asked.set(slot, block);
      return block;
    },
  };
}

/** Deriving an account's address takes a while: those that are watched are kept. */
function createAccountNames() {
  const known = new Map<string, string>();
  return {
    of(owner: string): string {
      const account = known.get(owner) ?? tokenAccountOf(owner);
      known.set(owner, account);
      return account;
    },
    keepOnly(watched: ReadonlySet<string>): void {
      for (const owner of known.keys()) if (!watched.has(owner)) known.delete(owner);
    },
  };
}

const parted = (owners: readonly string[], apart: ReadonlySet<string>): readonly [string[], string[]] => [
  owners.filter((owner) => !apart.has(owner)),
  owners.filter((owner) => apart.has(owner)),
];

export const timeOf = ({ time_s }: Block): Instant => instant(time_s * 1_000);

const cursorAt = (pass: Pass, block: Block): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber: block.slot,
  blockHash: block.hash,
  chainTime: timeOf(block),
});

const nowhere = (pass: Pass, blockNumber: bigint, chainTime: Instant): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber,
  blockHash: `before slot ${blockNumber + 1n}`,
  chainTime,
});
