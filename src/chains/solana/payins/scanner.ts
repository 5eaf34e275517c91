/** Moves the passes over Solana, look by look: each reads so many deposits at most, whoever made how many. */
import { instant } from '../../../../domain/time.ts';
import { higher, lower } from '../../bigints.ts';
import type { Watch } from '../../family.ts';
import { isShared } from '../../node/agreement.ts';
import { RpcFailed } from '../../node/jsonRpc.ts';
import type { Cursor, Ingester, Pass, ScannedRange } from '../../ports.ts';
import { solanaChainId } from '../config.ts';
import { blockIfThere, newestBlock } from '../newest.ts';
import { type Block, type Commitment, lagging, slotOf } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { timeOf } from './credits.ts';
import { finalDue, looked, noLook, openChanged, payinSeen, type Since } from './glance.ts';
import { createHot } from './hot.ts';
import { type LookedAsOf, lookAt, readWhole } from './look.ts';
import { createMemory } from './memory.ts';
import { createRounds, type Rounds } from './rounds.ts';
import { createAddressBook } from './tokenAccounts.ts';

/** Deposits that one look reads at most, beside those of the front: 40 calls. */
const lookMax = 4_000;
const pageMax = 1_000;
/** The youngest deposits, and those that the head pass has just seen paid: read in every look, wherever the round stands. */
const frontMax = 500;
/** Late deposits, those of payments that are over, are gone round at this interval, a minute or so, or as long as a round takes. */
const lateEvery_slots = 150n;
/** After so many accounts whose history was read, a look ends: the next one begins with the youngest again. */
const readsMax = 400;

interface SolanaScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan' | 'readDeposit'> {
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
}

/** A look under way. */
interface Look {
  readonly own: Standing;
  readonly pass: Pass;
  readonly asOf: LookedAsOf;
  readonly block: Block;
  readonly signal: AbortSignal;
  deposits: number;
  reads: number;
}

export function createScanner(rpc: SolanaRpc, watch: Watch): SolanaScanner {
  const standings = new Map<Pass, Standing>();
  const accountsOf = createAddressBook();
  const hot = createHot();
  let finalSlot = 0n;

  function standingOf(pass: Pass): Standing {
    const standing = standings.get(pass) ?? {
      memory: createMemory(),
      open: createRounds(watch.open),
      late: createRounds(watch.late),
      since: noLook(),
      done: false,
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
      ? finalDue(since, head, hot.of(since.newest, frontMax))
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
      const newest = await slotOf(node, commitment, least);
      if (newest < least) throw lagging(node, 'getSlot', least);
      const at = await newestBlock(node, { newest, first }, commitment);
      if (at && pass !== 'head') await mustBeShared(rpc, node, at, signal);
      return at;
    }, signal);
    if (!block) return undefined;
    own.done = false;
    looked(own.since, block.slot, standings.get('head')?.since);
    if (pass !== 'head' && block.slot > finalSlot) finalSlot = block.slot;
    return { own, pass, block, signal, asOf: { commitment, minContextSlot: block.slot }, deposits: 0, reads: 0 };
  }

  /** Nothing of a page is remembered before the caller has recorded it. @yields what was found, if anything */
  async function* read(
    look: Look,
    owners: readonly string[],
    next: Cursor,
    nodes: SolanaRpc = rpc,
  ): AsyncGenerator<ScannedRange> {
    const { own, pass, asOf, signal } = look;
    const asked = { accountsOf, memory: own.memory, asOf };
    const page = await nodes.answer((node) => lookAt(node, owners, asked), signal);
    look.deposits += owners.length;
    look.reads += page.read.length;
    // What has only been seen is asked for again by the final pass.
    const { unexplained, unreadable } = pass === 'head' ? nothingAside : page;
    if (page.logs.length + unexplained.length + unreadable.length > 0)
      yield { logs: page.logs, unexplained, unreadable, orphaned: [], next };
    own.memory.keep(asOf.minContextSlot, page.read);
    const paid = page.logs.map(({ to }) => to);
    if (pass === 'head') hot.add(paid, asOf.minContextSlot);
    else hot.remove(paid);
    if (paid.length > 0) payinSeen(own.since);
  }

  const isSpent = ({ deposits, reads, signal }: Look): boolean =>
    deposits >= lookMax || reads >= readsMax || signal.aborted;

  /** The youngest deposits and those just paid do not wait for a round to come by. */
  async function front({ own, pass, asOf, signal }: Look): Promise<readonly string[]> {
    if (pass !== 'head') return hot.of(asOf.minContextSlot, frontMax);
    if (!own.open.isUnderWay()) return [];
    return (await watch.open({ after: null, max: frontMax }, signal)).map(({ address }) => address);
  }

  /** @returns where the pass has come to: the block at which a round that ended had begun */
  async function* round(look: Look, rounds: Rounds, from: Cursor): AsyncGenerator<ScannedRange, Cursor> {
    while (!isSpent(look)) {
      const page = await rounds.page(look.block, pageMax, look.signal);
      yield* read(look, page.owners, from, rounds === look.own.late ? rpc.as('late') : rpc);
      rounds.turn(page);
      if (page.last && page.round.begun.slot > from.blockNumber) return cursorOf(look.pass, page.round.begun);
      if (page.last) break;
    }
    return { ...from };
  }

  return {
    finalSlot: () => finalSlot,

    // An account's whole history is read when it is first seen: no pass has to begin anywhere.
    start: async (pass, at) => ({ ...nowhere(pass, 0n), chainTime: at }),
    cursorAt: async (pass, blockNumber) => nowhere(pass, blockNumber),

    async *scan(cursor, signal) {
      const { pass } = cursor;
      if (await isQuiet(cursor, signal)) return;
      const look = await begin(cursor, signal);
      if (!look) return;
      const { own } = look;
      const first = await front(look);
      if (first.length > 0) yield* read(look, first, cursor);
      look.deposits = 0;
      const next = yield* round(look, own.open, cursor);
      yield { logs: [], orphaned: [], next };
      if (isLateDue(look)) {
        // However many are open, a page of the others has its turn.
        look.deposits = Math.min(look.deposits, lookMax - pageMax);
        yield* round(look, own.late, next);
      }
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

/** @throws RpcFailed when other nodes answer and none has the block */
async function mustBeShared(
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

const cursorOf = (pass: Pass, block: Block): Cursor => ({
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
