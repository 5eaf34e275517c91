/** Moves the passes over Solana, look by look: each reads so many deposits at most, whoever made how many. */
import { instant } from '../../../../domain/time.ts';
import { higher, lower } from '../../../lib/inParallel.ts';
import type { Watch, WatchedDeposit } from '../../family.ts';
import { isShared, type ShownTransfers } from '../../node/agreement.ts';
import { RpcFailed } from '../../node/jsonRpc.ts';
import { type Cursor, type Ingester, type Pass, type ScannedRange, transferOf } from '../../ports.ts';
import { solanaChainId } from '../config.ts';
import { blockIfThere, newestBlock } from '../newest.ts';
import { type Block, type Commitment, lagging, slotOf } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { createHot, finalDue, glanceMax, looked, noLook, openChanged, payinSeen, type Since } from './balanceCheck.ts';
import { timeOf } from './credits.ts';
import { type LookedAsOf, lookAt, readWhole } from './look.ts';
import { createMemory, createRecall, type PolledSlots } from './memory.ts';
import { type AddressBook, createStrayTokens } from './tokenAccounts.ts';

/** @throws RpcFailed when other nodes answer and none has the block */
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

/** A cursor that no block of the chain was read for. */
export const nowhere = (pass: Pass, blockNumber: bigint): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber,
  blockHash: `before slot ${blockNumber + 1n}`,
  chainTime: instant(0),
});

/** One way through a list. */
export interface Round {
  /** The block as of which, or of later ones, all of the list has been read when the round ends. */
  readonly begun: Block;
  /** Behind it the next page begins. */
  readonly after: WatchedDeposit | null;
}

export interface RoundPage {
  readonly owners: readonly string[];
  readonly round: Round;
  /** Whether the list ends with it. */
  readonly last: boolean;
}

export type Rounds = ReturnType<typeof createRounds>;

/** What one call reads. */
const shareLeast = 100;

/**
 * Reads lists of deposits that are too long for one look: some pages in each look, then again from the first page.
 * @param list in an order that does not change: what is added during a round may come before where it stands
 */
export function createRounds(list: Watch['open']) {
  let round: Round | null = null;
  let lastBegun: bigint | null = null;
  let counted = 0;
  let size: number | null = null;

  return {
    isUnderWay: (): boolean => round !== null,
    /** When the round before this one, or the last one, began; null before the first. */
    lastBegun: (): bigint | null => lastBegun,

    /**
     * How many deposits a look is to read, so that a round takes so many looks. A list of no more than `least` is read whole; how long it is
     * the first round tells.
     */
    share(looks: number, { least, most }: { readonly least: number; readonly most: number }): number {
      if (size === null) return most;
      const about = Math.max(size, counted);
      return about <= least ? least : Math.min(most, Math.max(shareLeast, Math.ceil(about / looks)));
    },

    /** @param block where the look stands: what was paid in it was disclosed before, and is in the list by now */
    async page(block: Block, max: number, signal: AbortSignal): Promise<RoundPage> {
      round ??= { begun: block, after: null };
      // One more than is read tells whether the list ends here.
      const listed = await list({ after: round.after, max: max + 1 }, signal);
      const last = listed.length <= max;
      const found = listed.slice(0, max);
      return { owners: found.map(({ address }) => address), round: { ...round, after: found.at(-1) ?? null }, last };
    },

    /** Called once what the page held is recorded: until then the same page comes again. */
    turn({ round: turned, last, owners }: RoundPage): void {
      counted += owners.length;
      round = last ? null : turned;
      if (!last) return;
      lastBegun = turned.begun.slot;
      [size, counted] = [counted, 0];
    },
  };
}

/** Most deposits that one look reads in a page, and in all of a list, beside those of the front: 40 calls. */
const pageMax = 1_000;
const lookMax = 4_000;
/**
 * In so many looks a round goes through its list, so that a look's cost grows with a part of the list only. The head pass looks each second
 * or so, the final one every eight; nobody waits for late money.
 */
const looksOfRound = { head: 20, final: 6, late: 60 } as const;
/** Lists of so many are read whole in each look. */
const wholeMost = { head: glanceMax, final: glanceMax, late: 1_000 } as const;
/** The youngest deposits are read in every look of the head pass, wherever the round stands. */
const frontMax = 100;
/** So are those that the head pass has just seen paid, in the final pass, and in the head pass those that a node has pushed as paid. */
const hotMax = 500;
/** What the head pass has seen paid, and the final one has not. */
const seenPaid = { for_slots: 300n, max: 10_000 };
/** What was pushed: the nodes that are asked may come to it ten seconds later. */
const pushedPaid = { for_slots: 25n, max: 2_000 };
/** So close to the last, a look that something was pushed for reads what was pushed and goes round no further. */
const turnEvery_slots = 2n;
/** Late deposits, those of payments that are over, are gone round at this interval, a minute or so, or as long as a round takes. */
const lateEvery_slots = 150n;
/** After so many accounts whose history was read, a look ends: the next one begins with the youngest again. */
const readsMax = 400;

interface SolanaScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan' | 'readDeposit' | 'lookFirst'> {
  /** The newest final slot that a pass has looked at. */
  finalSlot(): bigint;
}

const commitmentOf = (pass: Pass): Commitment => (pass === 'head' ? 'confirmed' : 'finalized');

const nothingAside = { unexplained: [], unreadable: [] };

/** What a pass has between its looks. */
interface Standing {
  readonly memory: ReturnType<typeof createMemory>;
  readonly open: Rounds;
  readonly late: Rounds;
  /** The last look: a node that is behind its slot tells the past. */
  readonly since: Since;
  /** Whether that look has read all that was its turn. */
  done: boolean;
  /** The slot of the last look that went on with its round. */
  turned: bigint;
}

/** A look under way. */
interface Look {
  readonly own: Standing;
  readonly pass: Pass;
  readonly asOf: LookedAsOf;
  readonly block: Block;
  readonly signal: AbortSignal;
  /** Accounts whose history was read. */
  reads: number;
}

interface ScannerParts {
  /** Receives the transfers that a node returned as final. */
  readonly shown: Pick<ShownTransfers, 'show'>;
  readonly polled: PolledSlots;
  readonly accountsOf: AddressBook;
}

export function createScanner(
  rpc: SolanaRpc,
  watch: Watch,
  { shown, polled, accountsOf }: ScannerParts,
): SolanaScanner {
  const standings = new Map<Pass, Standing>();
  const recall = createRecall();
  const hot = createHot(seenPaid);
  const pushed = createHot(pushedPaid);
  const strayTokens = createStrayTokens(accountsOf);
  let finalSlot = 0n;

  function standingOf(pass: Pass): Standing {
    const standing = standings.get(pass) ?? {
      memory: createMemory(),
      open: createRounds(watch.open),
      late: createRounds(watch.late),
      since: noLook(),
      done: false,
      turned: -turnEvery_slots,
    };
    standings.set(pass, standing);
    return standing;
  }

  /** Whether all was read and nothing of it seems to have changed since. */
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

  /** @returns undefined when the chain has not moved since the last look, which has read all */
  async function begin({ pass, blockNumber }: Cursor, signal: AbortSignal): Promise<Look | undefined> {
    const own = standingOf(pass);
    const commitment = commitmentOf(pass);
    const { newest: last } = own.since;
    const least = higher(blockNumber, last);
    const first = own.done && !own.open.isUnderWay() ? higher(least, last + 1n) : least;
    const block = await rpc.first(async (node) => {
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

  /** Nothing of a page is remembered before the caller has recorded it. @yields what was found, if anything */
  async function* read(
    look: Look,
    owners: readonly string[],
    next: Cursor,
    nodes: SolanaRpc = rpc,
  ): AsyncGenerator<ScannedRange> {
    const { own, pass, asOf, signal } = look;
    const asked = { accountsOf, memory: own.memory, recall, asOf };
    const page = await nodes.answer(async (node) => {
      const found = await lookAt(node, owners, asked);
      if (pass !== 'head')
        shown.show(
          node,
          found.logs.map((log) => transferOf(solanaChainId, log)),
        );
      return found;
    }, signal);
    look.reads += page.read.length;
    // What has only been seen is asked for again by the final pass.
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

  /** The youngest deposits and those just paid do not wait for a round to come by. */
  async function front({ own, pass, asOf, signal }: Look): Promise<readonly string[]> {
    if (pass !== 'head') return hot.of(asOf.minContextSlot, hotMax);
    if (!own.open.isUnderWay()) return [];
    return (await watch.open({ after: null, max: frontMax }, signal)).map(({ address }) => address);
  }

  /** Most looks that pushes have brought forward read nothing else: however much is pushed, rounds cost what they cost without. */
  async function* readPushed(look: Look, cursor: Cursor): AsyncGenerator<ScannedRange, boolean> {
    if (look.pass !== 'head') return false;
    const { own, block } = look;
    const owners = pushed.of(block.slot, hotMax);
    if (owners.length > 0) yield* read(look, owners, cursor);
    pushed.putBack(owners);
    return owners.length > 0 && block.slot - own.turned < turnEvery_slots;
  }

  /** @returns where the pass has come to: the block at which a round that ended had begun */
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

  /** Payers who sent something else wait for somebody to find it: their payments are over. */
  async function* reportStray(look: Look, owners: readonly string[], next: Cursor): AsyncGenerator<ScannedRange> {
    const { asOf, signal } = look;
    const find = rpc.as('late').answer((node) => strayTokens(node, owners, asOf.minContextSlot), signal);
    // For information: a node that does not answer must not hold up the pass.
    const stray = await find.catch(() => []);
    if (stray.length > 0) yield { logs: [], orphaned: [], stray, next };
  }

  return {
    finalSlot: () => finalSlot,

    // An account's whole history is read when it is first seen: no pass has to begin anywhere.
    start: async (pass, at) => ({ ...nowhere(pass, 0n), chainTime: at }),
    cursorAt: async (pass, blockNumber) => nowhere(pass, blockNumber),

    // Before the first look nothing is known of any deposit, and all of them are to be read.
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
      const whole = await rpc.as('late').first(async (node) => {
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

/** The head pass leaves late money to the final one: nobody waits for it. */
function isLateDue({ own: { late }, pass, block }: Look): boolean {
  if (pass === 'head') return false;
  const last = late.lastBegun();
  return late.isUnderWay() || last === null || block.slot - last >= lateEvery_slots;
}

/** What neither round has come across is watched no more. */
function forget({ memory, open, late }: Standing, pass: Pass): void {
  const begun = pass === 'head' ? [open.lastBegun()] : [open.lastBegun(), late.lastBegun()];
  const known = begun.filter((slot) => slot !== null);
  if (known.length === begun.length) memory.forgetBefore(known.reduce(lower));
}
