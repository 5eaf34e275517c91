/** Reads a page of deposits: their balances, and the transactions of changed ones. */
import { higher, inParallel } from '../../../lib/concurrency.ts';
import type { Watch } from '../../family.ts';
import { type Answered, type ChainNode, type RpcCall, RpcFailed } from '../../node/jsonRpc.ts';
import type { TransferLog, Unreadable } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import { type LandedTransaction, landedInBlock, signaturesOf } from '../landed.ts';
import { type Block, blockAt, type Commitment, codes, type ReadContext, slotOf, wholeBlockAt } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import {
  type Credited,
  type HeldTokenAccount,
  type HistoryPart,
  mostByItself,
  mostOfLook,
  type ReadTo,
  readHistory,
  type Unread,
  unread,
} from './accountHistory.ts';
import { changeIn, creditsOf, logOf } from './credits.ts';
import type { Memory, ReadAccount, Recall } from './memory.ts';
import { balancesOfOwners, type TokenAccountAddresses } from './tokenAccounts.ts';

/** All changes of an account, oldest first, and the new end of its read history. */
export interface Explained {
  readonly logs: readonly TransferLog[];
  readonly readTo: ReadTo & { readonly signature: string };
}

/** Undefined if the blocks do not explain the balance. */
export type ExplainByBlocks = (held: HeldTokenAccount, from: ReadTo) => Explained | undefined;

/** Maximum slots read at a time: blocks are large on the real network. */
const slotsMax = 16n;

/**
 * Reads the blocks of the few slots since the last read: one call per slot instead of two per account. The result counts only if it adds up
 * to the account's balance. Otherwise the account's history is read.
 * @param changed accounts whose balance differs from their read history
 * @param last slot of the last read; undefined for none
 * @returns a function that explains nothing if reading blocks is no cheaper
 */
export async function readByBlocks(
  node: SolanaNode,
  changed: readonly HeldTokenAccount[],
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
  readonly transaction: LandedTransaction;
}

/** Empty if the slot has no block, or the node lacks it: then its changes add up to no balance. */
async function changesIn(node: SolanaNode, slot: bigint, wanted: ReadonlySet<string>): Promise<readonly Change[]> {
  const whole = await wholeBlockAt(node, slot, 'confirmed').catch(() => undefined);
  if (!whole) return [];
  return whole.transactions.flatMap((shown) => {
    const transaction = landedInBlock(slot, shown);
    const touches = transaction?.after.some(({ account }) => wanted.has(account));
    return transaction && touches && !transaction.failed ? [{ block: whole.block, transaction }] : [];
  });
}

function explained(held: HeldTokenAccount, from: ReadTo, changes: readonly Change[]): Explained | undefined {
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

interface Waiting {
  readonly call: RpcCall;
  readonly settle: (answer: Answered) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Sends the calls of one turn of the event loop to a node in as few requests as possible. Each call has its own answer or refusal. Calls
 * that must be answered together are sent alone.
 */
export function gathered(node: ChainNode): ChainNode {
  let waiting: Waiting[] = [];

  async function send(): Promise<void> {
    const asked = waiting;
    waiting = [];
    try {
      const answers = await node.batch(asked.map(({ call }) => call));
      for (const [at, { settle }] of asked.entries()) settle(answers[at] as Answered);
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }

  const ask = (call: RpcCall): Promise<Answered> =>
    new Promise((settle, fail) => {
      if (waiting.length === 0) setImmediate(() => void send());
      waiting.push({ call, settle, fail });
    });

  return {
    ...node,
    async request(method, params) {
      const answer = await ask({ method, params });
      if ('failure' in answer) throw answer.failure;
      return answer.value;
    },
    batch: (calls, how) => (how?.together ? node.batch(calls, how) : Promise.all(calls.map(ask))),
  };
}

export interface DepositPageRead {
  readonly logs: readonly TransferLog[];
  /** Owners whose balances their history does not explain. */
  readonly unexplained: readonly string[];
  readonly unreadable: readonly Unreadable[];
  readonly read: readonly ReadAccount[];
}

/** Histories read concurrently, so that their calls share requests. */
const historiesAtOnce = 40;

export interface DepositReading {
  readonly accountsOf: TokenAccountAddresses;
  readonly memory: Memory;
  readonly recall: Recall;
  readonly asOf: LookedAsOf;
}

/** @param asOf `minContextSlot`: slot of the read @throws RpcFailed */
export async function readDeposits(
  asked: SolanaNode,
  owners: readonly string[],
  { accountsOf, memory, recall, asOf }: DepositReading,
): Promise<DepositPageRead> {
  const node = gathered(asked);
  const { held: all } = await balancesOfOwners(node, owners, accountsOf, asOf);
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

/** Accounts with an unchanged balance and newer transactions. Only sweeps empty accounts, and only of final money. */
async function paidTheSameAgain(
  node: SolanaNode,
  held: readonly HeldTokenAccount[],
  memory: Memory,
  asOf: LookedAsOf,
): Promise<readonly HeldTokenAccount[]> {
  const { minContextSlot: slot } = asOf;
  const found = await inParallel(memory.dueForCheck(held, slot), callsAtOnce, async ({ held: each, newest: until }) => {
    const later = await signaturesOf(node, each.account, { until, before: null }, asOf);
    if (later.some(({ signature }) => signature !== until)) return [each];
    memory.checked(each.account, slot);
    return [];
  });
  return found.flat();
}

export interface LookedAsOf extends ReadContext {
  readonly minContextSlot: bigint;
}

interface Read extends ReadAccount, Pick<HistoryPart, 'unreadable'> {
  readonly owner: string;
  readonly logs: readonly TransferLog[];
}

interface Reading {
  readonly asOf: ReadContext;
  readonly blocks: Blocks;
  readonly byBlocks: ExplainByBlocks;
  readonly recall: Recall;
}

async function readAccount(node: SolanaNode, held: HeldTokenAccount, from: ReadTo, reading: Reading): Promise<Read> {
  const { asOf, blocks, byBlocks, recall } = reading;
  const { owner, account, amount: balance } = held;
  const common = { owner, account, balance };
  // Emptied: swept, or its money has left the chain and may return with the same transaction.
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
  // A block is still missing: the next read covers it and all later ones.
  if (!complete) return { ...read, explained: false, readTo: from };
  // All was read and it does not add up: a transaction has left the chain.
  const again = whole && !part.explained ? { ...part.readTo, signature: null } : part.readTo;
  return { ...read, explained: part.explained, readTo: again };
}

/** All receipts of one deposit, regardless of a pass's memory. @throws RpcFailed */
export async function readWhole(
  node: SolanaNode,
  owner: string,
  accountsOf: TokenAccountAddresses,
  asOf: ReadContext,
): Promise<{ readonly logs: readonly TransferLog[]; readonly explained: boolean }> {
  const { held: all } = await balancesOfOwners(node, [owner], accountsOf, asOf);
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

/** Oldest first, up to the first one whose block the node lacks: `complete` if there is none. */
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

// Blocks that a node may not have yet.

const notThere: ReadonlySet<number | undefined> = new Set([
  codes.blockNotAvailable,
  codes.slotSkipped,
  codes.longTermStorageSlotSkipped,
  codes.blockStatusNotAvailableYet,
]);

/** Null if the node has no block in this slot, or not yet: retries for a while. @throws RpcFailed */
export const blockIfThere = (node: SolanaNode, slot: bigint, commitment: Commitment): Promise<Block | null> =>
  blockAt(node, slot, commitment).catch((error: unknown) => {
    if (error instanceof RpcFailed && notThere.has(error.code)) return null;
    throw error;
  });

/** A usable node has a block within this many slots of its newest one. */
const behindMax_slots = 8n;

/**
 * Newest block that the node returns: it may lack the newest slots, or another node behind the same address answers.
 * @param slots the newest one, and the first relevant one
 * @returns undefined if it has none of them
 */
export async function newestBlock(
  node: SolanaNode,
  { newest, first }: { readonly newest: bigint; readonly first: bigint },
  commitment: Commitment,
): Promise<Block | undefined> {
  const end = higher(first, newest - behindMax_slots);
  for (let slot = newest; slot >= end; slot -= 1n) {
    const block = await blockIfThere(node, slot, commitment);
    if (block) return block;
  }
  return undefined;
}

// Decides whether a full read is worth its calls. While nothing changes, most polls only check the deposits'
// balances.

/** A pass advances at least every ten seconds or so, even without payins, so payments can expire. */
const movesEvery_slots = 25n;
/** Maximum consecutive polls without a full read of the final pass. */
const restsMax = 10;
/** Full reads after a payin becomes final at one node: other nodes may follow a little later. */
const looksAfterPayin = 15;
/** Maximum consecutive balance checks without a newer slot before the other nodes are queried. */
const standsMax = 3;
/** With this many open deposits, each poll is a full read of some of them in turn. */
export const glanceMax = 400;

/** State of a pass since its last full read. */
export interface Since {
  /** Its own slot, and the head's at that time. */
  newest: bigint;
  headThen: bigint;
  /** Polls without a full read. */
  rests: number;
  /** Full reads that are due regardless of balances. */
  looksDue: number;
  /** Newest slot of a balance check, and the number of checks without progress. */
  glanced: bigint;
  stands: number;
}

export const noLook = (): Since => ({ newest: -1n, headThen: -1n, rests: 0, looksDue: 0, glanced: -1n, stands: 0 });

export function looked(since: Since, slot: bigint, head: Since | undefined): void {
  const looksDue = Math.max(0, since.looksDue - 1);
  Object.assign(since, { newest: slot, headThen: head?.newest ?? -1n, rests: 0, looksDue });
}

export const payinSeen = (since: Since): void => {
  since.looksDue = looksAfterPayin;
};

export interface Glancing {
  readonly accountsOf: TokenAccountAddresses;
  readonly memory: Memory;
  readonly asOf: LookedAsOf;
}

/**
 * For the head pass, or a pass without one before it: any deposit may have been paid. A stalled node reveals nothing, so it is trusted only
 * for a while. @throws ChainUnavailable
 */
export async function openChanged(
  rpc: SolanaRpc,
  open: Watch['open'],
  since: Since,
  { accountsOf, memory, asOf }: Glancing,
  signal: AbortSignal,
): Promise<boolean> {
  const owners = await open({ after: null, max: glanceMax }, signal);
  if (owners.length === glanceMax) return true;
  const addresses = owners.map(({ address }) => address);
  const { commitment, minContextSlot } = asOf;
  const changed = await rpc.firstAnswer(async (node) => {
    const { slot, held } =
      addresses.length === 0
        ? { slot: await slotOf(node, commitment, minContextSlot), held: [] }
        : await balancesOfOwners(node, addresses, accountsOf, asOf);
    if (slot - since.newest >= movesEvery_slots || memory.changed(held, minContextSlot).length > 0) return true;
    return glanced(since, slot) ? false : undefined;
  }, signal);
  return changed ?? false;
}

/** @returns true if the node advances, as far as is known */
function glanced(since: Since, slot: bigint): boolean {
  since.stands = slot > since.glanced ? 0 : since.stands + 1;
  since.glanced = higher(since.glanced, slot);
  return since.stands < standsMax;
}

/**
 * For the final pass: newer payins are among those of the head pass, or found after its next full read. While any is not final, the pass
 * advances: a payin that it passes without finding has left the chain.
 */
export const finalDue = ({ looksDue, headThen, rests }: Since, head: Since, hot: readonly string[]): boolean =>
  looksDue > 0 || headThen !== head.newest || rests >= restsMax || hot.length > 0;

/** Owners that are read first, for a while. */

interface HotOptions {
  /** Slots for which they stay first. */
  readonly for_slots: bigint;
  /** Maximum; further ones are dropped. */
  readonly max: number;
}

export type PrioritizedOwners = ReturnType<typeof createPrioritizedOwners>;

export function createPrioritizedOwners({ for_slots, max: hotMax }: HotOptions) {
  /** Owners with the slot of their notification. */
  const seen = new Map<string, bigint>();
  return {
    add(owners: readonly string[], slot: bigint): void {
      for (const owner of owners) if (seen.size < hotMax) seen.set(owner, slot);
    },
    remove(owners: readonly string[]): void {
      for (const owner of owners) seen.delete(owner);
    },
    /** Moves owners that were read in vain after the others. */
    putBack(owners: readonly string[]): void {
      for (const owner of owners) {
        const slot = seen.get(owner);
        if (slot !== undefined && seen.delete(owner)) seen.set(owner, slot);
      }
    },
    /** @param slot current slot of the pass */
    of(slot: bigint, max: number): readonly string[] {
      for (const [owner, at] of seen) if (slot - at > for_slots) seen.delete(owner);
      return [...seen.keys()].slice(0, max);
    },
  };
}
