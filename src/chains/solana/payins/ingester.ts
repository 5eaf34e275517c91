import type { Transfer } from '../../../../domain/payment/events.ts';
import { instant } from '../../../../domain/time.ts';
import type { Watch } from '../../family.ts';
import { inParallel } from '../../inParallel.ts';
import { agreedOn, allDeny, nodesNeeded, type Statement } from '../../node/agreement.ts';
import { type Cursor, type Ingester, type Pass, type ScannedRange, sameTransfer, transferOf } from '../../ports.ts';
import { callsAtOnce, type SolanaConfig, solanaChainId } from '../config.ts';
import { type AsOf, type Block, blockAt, type Commitment, finalBlocks, finalHead, lagging, slotOf } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { type Landed, landed } from '../transactions.ts';
import { type HistoryPart, readHistory, unread } from './accountHistory.ts';
import { creditsOf, logOf, timeOf } from './credits.ts';
import {
  balancesOf,
  createAddressBook,
  createMemory,
  type Memory,
  type ReadAccount,
  readingOrder,
} from './watchedAccounts.ts';

/** Longer runs of slots without a block do not occur: each leader has four slots. */
const around_slots = 64n;

/**
 * Reads what deposits receive of the catalogue's tokens. Solana has too much in every block to read them all: the balances of deposits'
 * token accounts are polled, and the transactions of those that changed are read. Every method throws ChainUnavailable when no node can
 * answer.
 */
export function createSolanaIngester(
  config: SolanaConfig,
  watch: Watch,
  rpc: SolanaRpc = createSolanaRpc(config),
): Ingester {
  const { finalSlot, ...scanner } = createScanner(rpc, watch);

  /** A transaction that is only confirmed, in a slot that is final by now, has left the chain, or the node lags: it is no fact. */
  async function find(node: SolanaNode, signature: string): Promise<Found | undefined> {
    const final = await landed(node, signature, 'finalized');
    if (final) return { transaction: final, commitment: 'finalized' };
    const seen = await landed(node, signature, 'confirmed');
    return seen && seen.slot > finalSlot() ? { transaction: seen, commitment: 'confirmed' } : undefined;
  }

  return {
    chainId: solanaChainId,
    passes: ['head', 'final'],
    // 32 slots are final within seconds, which everything waits for.
    largeFrom: null,
    sharedAddresses: [],
    ...scanner,

    async lookUp(txHash, signal) {
      const found = await rpc.first(async (node) => {
        const seen = await find(node, txHash);
        if (!seen) return undefined;
        const block = await blockAt(node, seen.transaction.slot, seen.commitment);
        return { transaction: seen.transaction, block };
      }, signal);
      if (!found) return [];
      const { transaction, block } = found;
      return creditsOf(transaction).map((credit) => transferOf(solanaChainId, logOf(credit, transaction, block)));
    },

    agreed: (transfer, { usd }, signal) =>
      agreedOn(rpc, nodesNeeded(config.agree, usd), (node) => stated(node, transfer), signal),

    hasLeft: (block, signal) =>
      allDeny(
        rpc,
        async (node) => {
          const left = await hasLeft(node, block);
          return left === undefined ? undefined : !left;
        },
        signal,
      ),

    async head(signal) {
      const slots = await rpc.every(async (node) => ({ node, slot: await slotOf(node, 'confirmed') }), signal);
      const { node, slot } = slots.reduce((a, b) => (b.slot > a.slot ? b : a));
      return { blockNumber: slot, chainTime: timeOf(await blockAt(node, slot, 'confirmed')) };
    },

    // What is final moves with what is confirmed.
    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const slot = await slotOf(connect(signal), 'confirmed');
      return { blockNumber: slot, mark: String(slot) };
    }),
  };
}

/** What a node says of a transfer that another has told. @throws RpcFailed when it cannot say: the slot is not final there */
async function stated(node: SolanaNode, transfer: Transfer): Promise<Statement> {
  const { txHash } = transfer;
  const found = await landed(node, txHash, 'finalized');
  if (!found) {
    const slot = BigInt(transfer.blockNumber);
    if ((await slotOf(node, 'finalized')) < slot) throw lagging(node, 'getTransaction', slot);
    return { instead: `has no final transaction ${txHash}` };
  }
  const block = await blockAt(node, found.slot, 'finalized');
  const credits = creditsOf(found).map((credit) => transferOf(solanaChainId, logOf(credit, found, block)));
  if (credits.some((credit) => sameTransfer(credit, transfer))) return 'same';
  return { instead: `has transaction ${txHash} in slot ${found.slot} (${block.hash}), without that transfer` };
}

interface Found {
  readonly transaction: Landed;
  readonly commitment: Commitment;
}

/** Undefined while the slot is not final, or the node does not have the blocks around it. */
async function hasLeft(
  node: SolanaNode,
  { blockNumber, blockHash }: { readonly blockNumber: bigint; readonly blockHash: string },
): Promise<boolean | undefined> {
  const { slot: newest } = await finalHead(node);
  if (newest < blockNumber) return undefined;
  const from = blockNumber > around_slots ? blockNumber - around_slots : 0n;
  const slots = await finalBlocks(node, from, blockNumber + around_slots);
  if (slots.includes(blockNumber)) {
    return (await blockAt(node, blockNumber, 'finalized')).hash !== blockHash;
  }
  // The slot is empty, and no block missing on the node, when the next block names the one before as its parent.
  const before = slots.findLast((slot) => slot < blockNumber);
  const after = slots.find((slot) => slot > blockNumber);
  if (before === undefined || after === undefined) return undefined;
  return (await blockAt(node, after, 'finalized')).parentSlot === before ? true : undefined;
}

interface SolanaScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  /** The newest slot up to which a final pass has seen everything. */
  finalSlot(): bigint;
}

const commitments: Partial<Record<Pass, Commitment>> = { head: 'confirmed', final: 'finalized' };

interface Poll {
  readonly range: ScannedRange;
  /** To be called once the range is recorded. */
  readonly keep: () => void;
}

/** Moves the passes: balances are polled, and the transactions of those accounts read whose balance changed. */
function createScanner(rpc: SolanaRpc, watch: Watch): SolanaScanner {
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
