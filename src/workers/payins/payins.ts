/** Watches one chain: payments to our deposits, first detected, then final; and orphaned ones. */

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
  orphanAbove,
  type RangeDeps,
  recordAnew,
  recordOrphaned,
} from './range.ts';

export interface PayinsDeps extends RangeDeps {
  readonly crash: CrashPoint;
  /** Number of moves of the chain's head. */
  readonly moves: () => number;
  /** Minimum pause of a pass while the head moves. Default: none. */
  readonly rest_ms?: (pass: Pass) => number;
  /** Detected and unconfirmed, or recently orphaned, in blocks up to `upTo`; `large` by the same rule as `isLarge`. */
  readonly pendingPayins: (upTo: bigint, largeFrom_usd: bigint | null) => Promise<readonly RecordedPayin[]>;
  /** Queries the read models again only after a change; the last result is valid until then. */
  readonly expected: (after: Instant) => Promise<ExpectedOfChain>;
  /** Changes whenever the result of `expected` may have changed. */
  readonly changes: () => number;
  readonly loadCursor: (pass: Pass) => Promise<Cursor | null>;
  /** Compare and set: throws if another instance moved it. */
  readonly saveCursor: (next: Cursor, previous: Cursor | null) => Promise<void>;
  /** Called after a cursor was saved past a payment's end. A crash in between loses the call: the expiry worker also polls. */
  readonly endPassed: () => Promise<void>;
  /** Receives blocks that no node remembers, before the cursor moves past them: a crash in between repeats the call. */
  readonly missed: (blocks: NonNullable<ScannedRange['missed']>) => void;
  /** Start without a cursor: before the oldest payment that can still be paid. */
  readonly startFrom: () => Promise<Instant>;
}

/** Maximum pause of a pass without moves of the head: relevant changes may have been missed, or it holds an unsaved cursor. */
const restMax_ms = 10_000;
/** Maximum scanned time that a restart repeats. */
const unsavedMax_ms = 10_000;
/** Life of the read models' answer without a notified change. */
const expectedMax_ms = 30_000;

/**
 * On a fast chain, a head polled about each second has moved by many blocks, and each read costs a call or more: final passes run less
 * often than the head pass.
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
      // After any failure the next run begins at the saved cursor.
      progress.delete(pass);
      await scan(deps, own, signal);
      if (!signal.aborted) progress.set(pass, { ...own, ran });
    },
  };
}

/** Position of a pass. Its cursor is saved after a finding, and otherwise rarely: reading again changes nothing. */
interface Progress {
  readonly pass: Pass;
  cursor: Cursor;
  saved: Cursor | null;
  savedAt_ms: number;
  expected: (ExpectedOfChain & { readonly changes: number; readonly at_ms: number }) | null;
  /** Last successful run. */
  readonly ran?: Run;
}

interface Run {
  readonly moves: number;
  readonly at_ms: number;
}

async function load(deps: PayinsDeps, pass: Pass, signal: AbortSignal): Promise<Progress> {
  const saved = await deps.loadCursor(pass);
  const cursor = saved ?? (await firstCursor(deps, pass, signal));
  // The process may have ended after a fork's cursor was saved and before the orphaned payins were recorded.
  if (pass === 'head' && saved) await orphanAbove(deps, { orphaned: [], next: saved }, signal);
  return { pass, cursor, saved, savedAt_ms: 0, expected: null };
}

/** Crash anywhere: the saved cursor is not past unrecorded findings, and recording again changes nothing. */
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
 * Moves the cursor to the fork point before orphaned payins are recorded: a node may have been on a separate branch, and its missing payins
 * are found again only if the blocks are read again.
 */
async function goBack(deps: PayinsDeps, own: Progress, to: Cursor): Promise<void> {
  own.cursor = to;
  await save(deps, own);
}

const unsaved_ms = ({ clock }: PayinsDeps, { savedAt_ms }: Progress): number => epochMs(clock.now()) - savedAt_ms;

/** Payments expire by the saved chain time: a payment whose time has passed is a reason to save. */
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

/** True if a payment expires between the saved position and the current one. The head pass decides about no expiry. */
async function passesEnd(deps: PayinsDeps, own: Progress): Promise<boolean> {
  if (own.pass === 'head') return false;
  const { nextExpiry } = await expected(deps, own);
  return nextExpiry !== null && nextExpiry < own.cursor.chainTime;
}

/** Queried after a change of the read models, or rarely: a notification may be lost. */
async function expected(deps: PayinsDeps, own: Progress): Promise<ExpectedOfChain> {
  const now = { changes: deps.changes(), at_ms: epochMs(deps.clock.now()) };
  if (own.expected?.changes !== now.changes || now.at_ms - own.expected.at_ms >= expectedMax_ms) {
    const after = (own.saved ?? own.cursor).chainTime;
    own.expected = { ...(await deps.expected(after)), ...now };
  }
  return own.expected;
}

/** Read models that are being rebuilt do not know the oldest open payment, whose payins would be missed. */
async function firstCursor(deps: PayinsDeps, pass: Pass, signal: AbortSignal): Promise<Cursor> {
  await deps.caughtUp(signal);
  return deps.ingester.start(pass, await deps.startFrom(), signal);
}

/**
 * Payins detected in final blocks must have been confirmed by this pass; otherwise they left the chain unnoticed. A transaction missing at
 * a node proves nothing: the payin stays pending, and is queried again, until its block is replaced, or exists without it. Orphaned payins
 * are queried as well for a while: the nodes may have been wrong.
 * @returns true if there was any
 */
async function settlePending(deps: PayinsDeps, own: Progress, next: Cursor, signal: AbortSignal): Promise<boolean> {
  const { ingester, confirmationGate } = deps;
  const { pass } = own;
  const { oldestPending } = await expected(deps, own);
  if (oldestPending === null || oldestPending > next.blockNumber) return false;
  // Payins of any size that the deepest pass finds pending wait for it, or left the chain.
  const settles = ({ large, transferId }: RecordedPayin) =>
    (pass === 'finalLarge' || confirmsAt(pass, large)) && confirmationGate.isDue(transferId);
  const pending = async () => (await deps.pendingPayins(next.blockNumber, ingester.largeFrom)).filter(settles);
  if ((await pending()).length === 0) return false;
  // The rows include this range's confirmations only now.
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
    // The others continue in the next run: this one is queried again later.
    confirmationGate.postpone(id);
    throw error;
  });
  const found = shown.find((transfer) => transferId(transfer) === id);
  if (found && !(await isMadeAsRecorded(deps, payin, found)))
    return disown(deps, { payin, pass, found, shown }, signal);
  if (!found && !payin.left && (await ingester.hasLeft(payin, signal))) return recordOrphaned(deps, payin);
  if (!found) return confirmationGate.postpone(id);
  const isDeep = BigInt(found.blockNumber) <= next.blockNumber;
  const fits = isDeep && budget.take({ token: found.token, amount: BigInt(found.amount) });
  const final = fits && (await confirmationGate.isProven(found, { pass, agreed_usd }, signal));
  if (!final) confirmationGate.postpone(id);
  // One node alone may claim its position, but not repeatedly: an unconfirmed payin is queried ever more rarely.
  if (final || !isDeep) await orPark(deps, payin, txHash, () => recordPayin(deps, payin, { transfer: found, final }));
}

/** True if the recorded receiver of the transfer equals its current one. */
async function isMadeAsRecorded({ handle }: PayinsDeps, payin: RecordedPayin, found: Transfer): Promise<boolean> {
  const payment = await currentState(handle, paymentDecider, payin.paymentId);
  const recorded = payment?.payins.find(({ id }) => id === payin.transferId)?.transfer;
  return recorded?.to === found.to && (recorded.memo ?? null) === (found.memo ?? null);
}

interface Disowned extends Pick<Pending, 'payin' | 'pass'> {
  /** Transfer as it is returned now. */
  readonly found: Transfer;
  /** All transfers of its transaction. */
  readonly shown: readonly Transfer[];
}

/**
 * A node had returned this transfer as the payment's, and now it has another receiver. The other receiver's payment records it. Once enough
 * nodes prove it, it has left the payment. After a crash in between it stays pending and is looked up again.
 */
async function disown(deps: PayinsDeps, { payin, pass, found, shown }: Disowned, signal: AbortSignal): Promise<void> {
  const { confirmationGate } = deps;
  await recordAnew(deps, shown, signal);
  const { transferId: id, agreed_usd, left } = payin;
  if (!left && (await confirmationGate.isProven(found, { pass, agreed_usd }, signal)))
    return recordOrphaned(deps, payin);
  confirmationGate.postpone(id);
}
