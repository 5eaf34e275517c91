/** Watches one chain: what was paid to our deposits, first seen, then final; and what left the chain again. */

import type { Cursor, Pass, ScannedRange } from '../../../commands/chainPorts.ts';
import { currentState } from '../../../commands/handle.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import { recordPayin } from '../../../commands/recordPayin.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { epochMs, type Instant, instant } from '../../../domain/time.ts';
import type { ExpectedOfChain, RecordedPayin } from '../../../queries/payins.ts';
import type { Worker } from '../engine.ts';
import type { ExposureBudget } from './confirmation.ts';
import {
  confirmsAt,
  handleRange,
  holdsAnything,
  orPark,
  orphan,
  orphanAbove,
  type RangeDeps,
  recordAnew,
} from './range.ts';

export interface PayinsDeps extends RangeDeps {
  readonly crash: CrashPoint;
  /** How often the chain's head has moved. */
  readonly moves: () => number;
  /** How long a pass rests between two runs although the head moves; not at all when left out. */
  readonly rest_ms?: (pass: Pass) => number;
  /** Detected and not confirmed, or left its chain not long ago, in blocks up to `upTo`; `large` by the same rule as `isLarge`. */
  readonly pendingPayins: (upTo: bigint, largeFrom_usd: bigint | null) => Promise<readonly RecordedPayin[]>;
  /** Of the read models, when they have changed since they were asked; what they said last stands until then. */
  readonly expected: (after: Instant) => Promise<ExpectedOfChain>;
  /** Changes when what `expected` answers may have. */
  readonly changes: () => number;
  readonly loadCursor: (pass: Pass) => Promise<Cursor | null>;
  /** Compare and set: throws when another instance moved it. */
  readonly saveCursor: (next: Cursor, previous: Cursor | null) => Promise<void>;
  /** Told after a cursor was saved past the end of a payment. A crash in between loses it: whoever is told looks now and then by himself. */
  readonly endPassed: () => Promise<void>;
  /** Told of blocks that no node remembers, before the cursor goes on behind them: a crash in between tells it again. */
  readonly missed: (blocks: NonNullable<ScannedRange['missed']>) => void;
  /** Where to begin without a cursor: before the oldest payment that can still be paid. */
  readonly startFrom: () => Promise<Instant>;
}

/** A pass runs so often although its chain's head stands: what it waits for may have moved unseen, or it holds an unsaved cursor. */
const restMax_ms = 10_000;
/** What was read without finding anything is read again after a restart: so much at most. */
const unsavedMax_ms = 10_000;
/** What the read models say stands for so long while no change of them is seen. */
const expectedMax_ms = 30_000;

/**
 * A head that is polled only each second or so has come many blocks further on a fast chain, and each look costs a call or more: what is
 * final is looked at less often than what is new.
 */
export const restsOf =
  (poll_ms: number) =>
  (pass: Pass): number =>
    pass === 'head' || poll_ms < 1_000 ? 0 : pass === 'final' ? 8_000 : 12_000;

/** One item per pass: each pass of the chain has its own cursor and its own failures. */
export function payinsWorker(deps: PayinsDeps): Worker<Pass> {
  const { ingester } = deps;
  const progress = new Map<Pass, Progress>();
  const restOf = (pass: Pass, ran: Run) => (ran.moves === deps.moves() ? restMax_ms : (deps.rest_ms?.(pass) ?? 0));
  const isDue = (pass: Pass, now: Instant) => {
    const ran = progress.get(pass)?.ran;
    return !ran || epochMs(now) - ran.at_ms >= restOf(pass, ran);
  };
  return {
    name: `payins:${ingester.chainId}`,
    concurrency: ingester.passes.length,
    due: async (_, now) => ingester.passes.filter((pass) => isDue(pass, now)),
    nextDue(now) {
      const rested_ms = [...progress].flatMap(([pass, { ran }]) => (ran ? [ran.at_ms + restOf(pass, ran)] : []));
      const next_ms = Math.min(...rested_ms.filter((at_ms) => at_ms > epochMs(now)));
      return Number.isFinite(next_ms) ? instant(next_ms) : null;
    },
    keyOf: (pass) => pass,
    async act(pass, signal) {
      const ran = { moves: deps.moves(), at_ms: epochMs(deps.clock.now()) };
      const own = progress.get(pass) ?? (await load(deps, pass, signal));
      // Whatever fails: the next run begins at the cursor that is saved.
      progress.delete(pass);
      await scan(deps, own, signal);
      if (!signal.aborted) progress.set(pass, { ...own, ran });
    },
  };
}

/** Where a pass stands. Its cursor is saved when something happened, and otherwise seldom: reading again changes nothing. */
interface Progress {
  readonly pass: Pass;
  cursor: Cursor;
  saved: Cursor | null;
  savedAt_ms: number;
  expected: (ExpectedOfChain & { readonly changes: number; readonly at_ms: number }) | null;
  /** The last one that ended well. */
  readonly ran?: Run;
}

interface Run {
  readonly moves: number;
  readonly at_ms: number;
}

async function load(deps: PayinsDeps, pass: Pass, signal: AbortSignal): Promise<Progress> {
  const saved = await deps.loadCursor(pass);
  const cursor = saved ?? (await firstCursor(deps, pass, signal));
  // The process may have ended when a fork's cursor was saved, and not yet what left.
  if (pass === 'head' && saved) await orphanAbove(deps, { orphaned: [], next: saved }, signal);
  return { pass, cursor, saved, savedAt_ms: 0, expected: null };
}

/** Crash anywhere: the saved cursor is not past what was not recorded, and recording again changes nothing. */
async function scan(deps: PayinsDeps, own: Progress, signal: AbortSignal): Promise<void> {
  const { ingester } = deps;
  const { pass } = own;
  for await (const range of ingester.scan(own.cursor, signal)) {
    if (signal.aborted) return;
    const { orphaned, missed, next } = range;
    if (orphaned.length > 0) await goBack(deps, own, next);
    const found = holdsAnything(range) ? await handleRange(deps, pass, range, signal) : [];
    const settled = pass !== 'head' && (await settlePending(deps, own, next, signal));
    if (missed) deps.missed(missed);
    own.cursor = next;
    if (found.length > 0 || settled || missed || (await isSaveDue(deps, own))) await save(deps, own);
  }
  if (own.saved && own.cursor !== own.saved && unsaved_ms(deps, own) >= unsavedMax_ms) await save(deps, own);
}

/**
 * The cursor is where a fork began before anything is recorded as gone by it: a node may have been on a branch of its own, and what it took
 * away is found again only where blocks are read again.
 */
async function goBack(deps: PayinsDeps, own: Progress, to: Cursor): Promise<void> {
  own.cursor = to;
  await save(deps, own);
}

const unsaved_ms = ({ clock }: PayinsDeps, { savedAt_ms }: Progress): number => epochMs(clock.now()) - savedAt_ms;

/** What expires is ended by the chain's time as it is saved: a payment whose time has come is a reason to save. */
async function isSaveDue(deps: PayinsDeps, own: Progress): Promise<boolean> {
  return own.saved === null || unsaved_ms(deps, own) >= unsavedMax_ms || (await passesEnd(deps, own));
}

async function save(deps: PayinsDeps, own: Progress): Promise<void> {
  const { crash, clock, saveCursor, endPassed } = deps;
  const ends = own.saved === null || (await passesEnd(deps, own));
  await crash('payins.beforeCheckpoint');
  await saveCursor(own.cursor, own.saved);
  await crash('payins.afterCheckpoint');
  Object.assign(own, { saved: own.cursor, savedAt_ms: epochMs(clock.now()), ...(ends && { expected: null }) });
  if (ends) await endPassed();
}

/** Whether a payment ends before where this pass stands, and after where it was saved. The head decides about no end. */
async function passesEnd(deps: PayinsDeps, own: Progress): Promise<boolean> {
  if (own.pass === 'head') return false;
  const { nextExpiry } = await expected(deps, own);
  return nextExpiry !== null && nextExpiry < own.cursor.chainTime;
}

/** Asked again when the read models have changed, or seldom: a notification of that may be lost. */
async function expected(deps: PayinsDeps, own: Progress): Promise<ExpectedOfChain> {
  const now = { changes: deps.changes(), at_ms: epochMs(deps.clock.now()) };
  if (own.expected?.changes !== now.changes || now.at_ms - own.expected.at_ms >= expectedMax_ms) {
    const after = (own.saved ?? own.cursor).chainTime;
    own.expected = { ...(await deps.expected(after)), ...now };
  }
  return own.expected;
}

/** Read models that are still being filled do not know the oldest open payment: what was paid to it would be passed over. */
async function firstCursor(deps: PayinsDeps, pass: Pass, signal: AbortSignal): Promise<Cursor> {
  await deps.caughtUp(signal);
  return deps.ingester.start(pass, await deps.startFrom(), signal);
}

/**
 * What was detected in blocks that are final now must have been confirmed by this pass; else it left the chain unnoticed.
 * A transaction that a node cannot find proves nothing: the payin stays pending, and is asked for again, until its block is
 * seen to be gone, or to be there without it. What has left is asked for as well, for a while: the nodes that said so may have been wrong.
 * @returns whether there was any
 */
async function settlePending(deps: PayinsDeps, own: Progress, next: Cursor, signal: AbortSignal): Promise<boolean> {
  const { ingester, confirmationGate } = deps;
  const { pass } = own;
  const { oldestPending } = await expected(deps, own);
  if (oldestPending === null || oldestPending > next.blockNumber) return false;
  // What the deepest pass finds pending waits for it, or left the chain, whatever its size.
  const settles = ({ large, transferId }: RecordedPayin) =>
    (pass === 'finalLarge' || confirmsAt(pass, large)) && confirmationGate.isDue(transferId);
  const pending = async () => (await deps.pendingPayins(next.blockNumber, ingester.largeFrom)).filter(settles);
  if ((await pending()).length === 0) return false;
  // What this range has confirmed a moment ago is in the rows only now.
  await deps.caughtUp(signal);
  const budget = await confirmationGate.budget(pass);
  for (const payin of await pending()) await settle(deps, { payin, pass, next, budget }, signal);
  return true;
}

interface Pending {
  readonly payin: RecordedPayin;
  readonly pass: Pass;
  readonly next: Cursor;
  readonly budget: ExposureBudget;
}

async function settle(deps: PayinsDeps, { payin, pass, next, budget }: Pending, signal: AbortSignal): Promise<void> {
  const { ingester, confirmationGate } = deps;
  const { transferId: id, txHash, agreed_usd } = payin;
  const shown = await ingester.lookUp(txHash, signal).catch((error: unknown) => {
    // The others go on at the next run: this one is asked for again later.
    confirmationGate.postpone(id);
    throw error;
  });
  const found = shown.find((transfer) => transferId(transfer) === id);
  if (found && !(await isMadeAsRecorded(deps, payin, found)))
    return disown(deps, { payin, pass, found, shown }, signal);
  if (!found && !payin.left && (await ingester.hasLeft(payin, signal))) return orphan(deps, payin);
  if (!found) return confirmationGate.postpone(id);
  const isDeep = BigInt(found.blockNumber) <= next.blockNumber;
  const fits = isDeep && budget.take({ token: found.token, amount: BigInt(found.amount) });
  const final = fits && (await confirmationGate.isProven(found, { pass, agreed_usd }, signal));
  if (!final) confirmationGate.postpone(id);
  // One node alone may say where it is, but not over and over: what is not confirmed is asked for ever more rarely.
  if (final || !isDeep) await orPark(deps, payin, txHash, () => recordPayin(deps, payin, { transfer: found, final }));
}

/** Whether the payment has the transfer recorded as made to where it is told to be made now. */
async function isMadeAsRecorded({ handle }: PayinsDeps, payin: RecordedPayin, found: Transfer): Promise<boolean> {
  const payment = await currentState(handle, paymentDecider, payin.paymentId);
  const recorded = payment?.payins.find(({ id }) => id === payin.transferId)?.transfer;
  return recorded?.to === found.to && (recorded.memo ?? null) === (found.memo ?? null);
}

interface Disowned extends Pick<Pending, 'payin' | 'pass'> {
  /** The transfer as it is told now. */
  readonly found: Transfer;
  /** All that its transaction moved. */
  readonly shown: readonly Transfer[];
}

/**
 * A node had told this transfer as the payment's, and it is told as made to somebody else now. Whoever it is made to has it recorded. Once enough
 * nodes show it so, it has left the payment. A crash in between leaves it pending: it is looked up again.
 */
async function disown(deps: PayinsDeps, { payin, pass, found, shown }: Disowned, signal: AbortSignal): Promise<void> {
  const { confirmationGate } = deps;
  await recordAnew(deps, shown, signal);
  const { transferId: id, agreed_usd, left } = payin;
  if (!left && (await confirmationGate.isProven(found, { pass, agreed_usd }, signal))) return orphan(deps, payin);
  confirmationGate.postpone(id);
}
