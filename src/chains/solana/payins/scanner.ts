/** Advances the passes over Solana: each read has a maximum number of deposits, however many exist. */
import { instant } from '../../../../domain/time.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import type { Watch, WatchedDeposit } from '../../family.ts';
import { isShared, type ShownTransfers } from '../../node/agreement.ts';
import { RpcFailed } from '../../node/jsonRpc.ts';
import { type Cursor, type Ingester, type Pass, type ScannedRange, transferOf } from '../../ports.ts';
import { solanaChainId } from '../config.ts';
import { type Block, type Commitment, lagging, slotOf } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { timeOf } from './credits.ts';
import {
  blockIfThere,
  createPrioritizedOwners,
  finalDue,
  glanceMax,
  type LookedAsOf,
  looked,
  newestBlock,
  noLook,
  openChanged,
  payinSeen,
  readDeposits,
  readWhole,
  type Since,
} from './look.ts';
import { createHeadMemory, createMemory, type PolledSlots } from './memory.ts';
import { createStrayTokens, type TokenAccountAddresses } from './tokenAccounts.ts';

/** @throws RpcFailed if other nodes answer and none has the block */
export async function mustBeShared(
  rpc: SolanaRpc,
  node: SolanaNode,
  { slot, hash }: Block,
  signal: AbortSignal,
): Promise<void> {
  const shows = (other: SolanaNode) =>
    blockIfThere(other, slot, 'finalized').then(
      (block) => block?.hash === hash,
      (error: unknown) => {
        if (error instanceof RpcFailed && error.kind === 'refused') return false;
        throw error;
      },
    );
  if (await isShared(rpc, node, shows, signal)) return;
  throw new RpcFailed(node.name, 'getBlock', 'refused', `no other node shows slot ${slot} as ${hash}`);
}

export const cursorOf = (pass: Pass, block: Block): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber: block.slot,
  blockHash: block.hash,
  chainTime: timeOf(block),
});

/** A cursor without a block of the chain. */
export const nowhere = (pass: Pass, blockNumber: bigint): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber,
  blockHash: `before slot ${blockNumber + 1n}`,
  chainTime: instant(0),
});

/** One pass through a list, over several reads. */
export interface ListPass {
  /** Block up to which the whole list has been read when the round ends. */
  readonly begun: Block;
  /** End of the last page. */
  readonly after: WatchedDeposit | null;
}

export interface RoundPage {
  readonly owners: readonly string[];
  readonly round: ListPass;
  /** True if the list ends with it. */
  readonly last: boolean;
}

export type ListPasses = ReturnType<typeof createListPasses>;

/** Minimum deposits of one call. */
const shareLeast = 100;

/**
 * Reads lists of deposits that are too long for one read: some pages each time, then again from the first page.
 * @param list in a stable order: entries added during a round may precede its current page
 */
export function createListPasses(list: Watch['open']) {
  let round: ListPass | null = null;
  let lastBegun: bigint | null = null;
  let counted = 0;
  let size: number | null = null;

  return {
    isUnderWay: (): boolean => round !== null,
    /** Block at which the previous round began; null before the first. */
    lastBegun: (): bigint | null => lastBegun,

    /**
     * Number of deposits per read for a round of this many reads. A list up to `least` is read whole; its length is known after the first
     * round.
     */
    share(looks: number, { least, most }: { readonly least: number; readonly most: number }): number {
      if (size === null) return most;
      const about = Math.max(size, counted);
      return about <= least ? least : Math.min(most, Math.max(shareLeast, Math.ceil(about / looks)));
    },

    /** @param block current block of the read: a payment in it was disclosed before, so it is in the list */
    async page(block: Block, max: number, signal: AbortSignal): Promise<RoundPage> {
      round ??= { begun: block, after: null };
      // An extra entry reveals whether the list continues.
      const listed = await list({ after: round.after, max: max + 1 }, signal);
      const last = listed.length <= max;
      const found = listed.slice(0, max);
      return { owners: found.map(({ address }) => address), round: { ...round, after: found.at(-1) ?? null }, last };
    },

    /** Called once the page's findings are recorded: until then the same page is returned. */
    turn({ round: turned, last, owners }: RoundPage): void {
      counted += owners.length;
      round = last ? null : turned;
      if (!last) return;
      lastBegun = turned.begun.slot;
      [size, counted] = [counted, 0];
    },
  };
}

/** Maximum deposits per page and list of one read, besides the youngest ones: 40 calls. */
const pageMax = 1_000;
const lookMax = 4_000;
/**
 * Reads per round: each read covers this fraction of the list. The head pass reads about every second, the final pass about every 8 s;
 * late money is not urgent.
 */
const looksOfRound = { head: 20, final: 6, late: 60 } as const;
/** Lists up to these lengths are read whole each time. */
const wholeMost = { head: glanceMax, final: glanceMax, late: 1_000 } as const;
/** The head pass always reads the youngest deposits, whatever the round's page. */
const frontMax = 100;
/** Maximum prioritized deposits: in the final pass those that the head pass found paid, in the head pass those of notifications. */
const hotMax = 500;
/** Deposits that the head pass found paid and the final pass did not yet. */
const seenPaid = { for_slots: 300n, max: 10_000 };
/** Deposits of notifications: other nodes may follow ten seconds later. */
const pushedPaid = { for_slots: 25n, max: 2_000 };
/** Within this distance of the last read, a notification only causes a read of the notified deposits. */
const turnEvery_slots = 2n;
/** Interval of rounds over deposits of ended payments, about a minute, or the duration of a round. */
const lateEvery_slots = 150n;
/** Maximum account histories of one read: the next read begins with the youngest deposits again. */
const readsMax = 400;

interface SolanaScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan' | 'readDeposit' | 'lookFirst'> {
  /** Newest final slot that a pass has read. */
  finalSlot(): bigint;
}

const commitmentOf = (pass: Pass): Commitment => (pass === 'head' ? 'confirmed' : 'finalized');

const nothingAside = { unexplained: [], unreadable: [] };

/** State of a pass between its reads. */
interface Standing {
  readonly memory: ReturnType<typeof createMemory>;
  readonly open: ListPasses;
  readonly late: ListPasses;
  /** Last read: a node behind its slot has only old data. */
  readonly since: Since;
  /** True if that read has completed its pages. */
  done: boolean;
  /** Slot of the last read that continued its round. */
  turned: bigint;
}

/** A read in progress. */
interface Look {
  readonly own: Standing;
  readonly pass: Pass;
  readonly asOf: LookedAsOf;
  readonly block: Block;
  readonly signal: AbortSignal;
  /** Number of account histories read. */
  reads: number;
}

interface ScannerParts {
  /** Receives the transfers that a node returned as final. */
  readonly shown: Pick<ShownTransfers, 'show'>;
  readonly polled: PolledSlots;
  readonly accountsOf: TokenAccountAddresses;
}

export function createScanner(
  rpc: SolanaRpc,
  watch: Watch,
  { shown, polled, accountsOf }: ScannerParts,
): SolanaScanner {
  const standings = new Map<Pass, Standing>();
  const recall = createHeadMemory();
  const hot = createPrioritizedOwners(seenPaid);
  const pushed = createPrioritizedOwners(pushedPaid);
  const strayTokens = createStrayTokens(accountsOf);
  let finalSlot = 0n;

  function standingOf(pass: Pass): Standing {
    const standing = standings.get(pass) ?? {
      memory: createMemory(),
      open: createListPasses(watch.open),
      late: createListPasses(watch.late),
      since: noLook(),
      done: false,
      turned: -turnEvery_slots,
    };
    standings.set(pass, standing);
    return standing;
  }

  /** True if everything was read and no balance has changed since. */
  async function isQuiet({ pass, blockNumber }: Cursor, signal: AbortSignal): Promise<boolean> {
    const { done, open, late, since, memory } = standingOf(pass);
    if (!done || open.isUnderWay() || late.isUnderWay()) return false;
    const minContextSlot = higher(blockNumber, since.newest);
    const glancing = { accountsOf, memory, asOf: { commitment: commitmentOf(pass), minContextSlot } };
    const head = pass === 'head' ? undefined : standings.get('head')?.since;
    const changed = head
      ? finalDue(since, head, hot.of(since.newest, hotMax))
      : await openChanged(rpc, watch.open, since, glancing, signal);
    if (!changed) since.rests += 1;
    return !changed;
  }

  /** @returns undefined if the chain has not advanced since the last complete read */
  async function begin({ pass, blockNumber }: Cursor, signal: AbortSignal): Promise<Look | undefined> {
    const own = standingOf(pass);
    const commitment = commitmentOf(pass);
    const { newest: last } = own.since;
    const least = higher(blockNumber, last);
    const first = own.done && !own.open.isUnderWay() ? higher(least, last + 1n) : least;
    const block = await rpc.firstAnswer(async (node) => {
      const known = pass === 'head' ? polled.take(node) : undefined;
      const newest = known !== undefined && known >= first ? known : await slotOf(node, commitment, least);
      if (newest < least) throw lagging(node, 'getSlot', least);
      const at = await newestBlock(node, { newest, first }, commitment);
      if (at && pass !== 'head') await mustBeShared(rpc, node, at, signal);
      return at;
    }, signal);
    if (!block) return undefined;
    own.done = false;
    looked(own.since, block.slot, standings.get('head')?.since);
    if (pass !== 'head' && block.slot > finalSlot) finalSlot = block.slot;
    return { own, pass, block, signal, asOf: { commitment, minContextSlot: block.slot }, reads: 0 };
  }

  /** Remembers a page only after the caller has recorded it. @yields the findings, if any */
  async function* read(
    look: Look,
    owners: readonly string[],
    next: Cursor,
    nodes: SolanaRpc = rpc,
  ): AsyncGenerator<ScannedRange> {
    const { own, pass, asOf, signal } = look;
    const asked = { accountsOf, memory: own.memory, recall, asOf };
    const page = await nodes.answer(async (node) => {
      const found = await readDeposits(node, owners, asked);
      if (pass !== 'head')
        shown.show(
          node,
          found.logs.map((log) => transferOf(solanaChainId, log)),
        );
      return found;
    }, signal);
    look.reads += page.read.length;
    // The final pass reads detected transfers again.
    const { unexplained, unreadable } = pass === 'head' ? nothingAside : page;
    if (page.logs.length + unexplained.length + unreadable.length > 0)
      yield { logs: page.logs, unexplained, unreadable, orphaned: [], next };
    own.memory.keep(asOf.minContextSlot, page.read);
    const paid = page.logs.map(({ to }) => to);
    if (pass === 'head') {
      hot.add(paid, asOf.minContextSlot);
      pushed.remove(paid);
    } else hot.remove(paid);
    if (paid.length > 0) payinSeen(own.since);
  }

  const isSpent = ({ reads, signal }: Look): boolean => reads >= readsMax || signal.aborted;

  /** The youngest deposits and recently paid ones do not wait for a round. */
  async function front({ own, pass, asOf, signal }: Look): Promise<readonly string[]> {
    if (pass !== 'head') return hot.of(asOf.minContextSlot, hotMax);
    if (!own.open.isUnderWay()) return [];
    return (await watch.open({ after: null, max: frontMax }, signal)).map(({ address }) => address);
  }

  /** Most reads caused by notifications read nothing else: rounds cost the same for any number of notifications. */
  async function* readPushed(look: Look, cursor: Cursor): AsyncGenerator<ScannedRange, boolean> {
    if (look.pass !== 'head') return false;
    const { own, block } = look;
    const owners = pushed.of(block.slot, hotMax);
    if (owners.length > 0) yield* read(look, owners, cursor);
    pushed.putBack(owners);
    return owners.length > 0 && block.slot - own.turned < turnEvery_slots;
  }

  /** @returns the pass's new position: the block at which a finished round had begun */
  async function* round(look: Look, list: 'open' | 'late', from: Cursor): AsyncGenerator<ScannedRange, Cursor> {
    const rounds = look.own[list];
    const kind = list === 'late' ? 'late' : look.pass === 'head' ? 'head' : 'final';
    let left = rounds.share(looksOfRound[kind], { least: wholeMost[kind], most: lookMax });
    while (left > 0 && !isSpent(look)) {
      const page = await rounds.page(look.block, Math.min(pageMax, left), look.signal);
      left -= page.owners.length;
      yield* read(look, page.owners, from, list === 'late' ? rpc.as('late') : rpc);
      if (list === 'late') yield* reportStray(look, page.owners, from);
      rounds.turn(page);
      if (page.last && page.round.begun.slot > from.blockNumber) return cursorOf(look.pass, page.round.begun);
      if (page.last) break;
    }
    return { ...from };
  }

  /** Reports stray tokens at deposits of ended payments, whose payers wait for an operator. */
  async function* reportStray(look: Look, owners: readonly string[], next: Cursor): AsyncGenerator<ScannedRange> {
    const { asOf, signal } = look;
    const find = rpc.as('late').answer((node) => strayTokens(node, owners, asOf.minContextSlot), signal);
    // For information only: a node without an answer must not delay the pass.
    const stray = await find.catch(() => []);
    if (stray.length > 0) yield { logs: [], orphaned: [], stray, next };
  }

  return {
    finalSlot: () => finalSlot,

    // An account's whole history is read at first, so a pass needs no start block.
    start: async (pass, at) => ({ ...nowhere(pass, 0n), chainTime: at }),
    cursorAt: async (pass, blockNumber) => nowhere(pass, blockNumber),

    // Before the first read nothing is known about any deposit, and all of them are due.
    lookFirst: (addresses) => pushed.add(addresses, standingOf('head').since.newest),

    async *scan(cursor, signal) {
      const { pass } = cursor;
      if (await isQuiet(cursor, signal)) return;
      const { done } = standingOf(pass);
      const look = await begin(cursor, signal);
      if (!look) return;
      const { own } = look;
      if (yield* readPushed(look, cursor)) return void Object.assign(own, { done });
      own.turned = look.block.slot;
      const first = await front(look);
      if (first.length > 0) yield* read(look, first, cursor);
      const next = yield* round(look, 'open', cursor);
      yield { logs: [], orphaned: [], next };
      if (isLateDue(look)) yield* round(look, 'late', next);
      forget(own, pass);
      own.done = true;
    },

    async readDeposit(address, signal) {
      const partly: { logs: ScannedRange['logs'] }[] = [];
      const whole = await rpc.as('late').firstAnswer(async (node) => {
        const asOf: LookedAsOf = { commitment: 'finalized', minContextSlot: await slotOf(node, 'finalized') };
        const found = await readWhole(node, address, accountsOf, asOf);
        partly.push(found);
        // Another node may have the longer history.
        return found.explained ? found : undefined;
      }, signal);
      return whole ?? { logs: partly[0]?.logs ?? [], explained: false };
    },
  };
}

/** The head pass leaves late money to the final pass, because nobody waits for it. */
function isLateDue({ own: { late }, pass, block }: Look): boolean {
  if (pass === 'head') return false;
  const last = late.lastBegun();
  return late.isUnderWay() || last === null || block.slot - last >= lateEvery_slots;
}

/** Deposits that neither round has read are not watched any more. */
function forget({ memory, open, late }: Standing, pass: Pass): void {
  const begun = pass === 'head' ? [open.lastBegun()] : [open.lastBegun(), late.lastBegun()];
  const known = begun.filter((slot) => slot !== null);
  if (known.length === begun.length) memory.forgetBefore(known.reduce(lower));
}
