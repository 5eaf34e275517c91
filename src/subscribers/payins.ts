/** Watches one chain: what was paid to our deposits, first seen, then final; and what left the chain again. */

import type { Cursor, Pass, ScannedRange } from '../../commands/chainPorts.ts';
import type { CrashPoint } from '../../commands/ports.ts';
import { recordOrphan, recordPayin } from '../../commands/recordPayin.ts';
import { transferId } from '../../domain/payment/events.ts';
import type { Instant } from '../../domain/time.ts';
import type { RecordedPayin } from '../../queries/payins.ts';
import { confirmsAt, handleRange, orPark, type RangeDeps } from './payinRange.ts';
import type { Worker } from './worker.ts';

export interface PayinsDeps extends RangeDeps {
  readonly crash: CrashPoint;
  /** Detected and not confirmed, in blocks up to `upTo`; `large` by the same rule as `isLarge`. */
  readonly pendingPayins: (upTo: bigint, largeFrom_usd: bigint) => Promise<readonly RecordedPayin[]>;
  readonly loadCursor: (pass: Pass) => Promise<Cursor | null>;
  /** Compare and set: throws when another instance moved it. */
  readonly saveCursor: (next: Cursor, previous: Cursor | null) => Promise<void>;
  /** Told of blocks that no node remembers, before the cursor goes on behind them: a crash in between tells it again. */
  readonly missed: (blocks: NonNullable<ScannedRange['missed']>) => void;
  /** Where to begin without a cursor: before the oldest payment that can still be paid. */
  readonly startFrom: () => Promise<Instant>;
}

/** One item per pass: each pass of the chain has its own cursor and its own failures. */
export function payinsWorker(deps: PayinsDeps): Worker<Pass> {
  const { ingester } = deps;
  return {
    name: `payins:${ingester.chainId}`,
    concurrency: ingester.passes.length,
    due: async () => ingester.passes,
    keyOf: (pass) => pass,
    act: (pass, signal) => scan(deps, pass, signal),
  };
}

/**
 * Crash anywhere: the cursor has not moved past what was not recorded, and recording again changes nothing.
 */
async function scan(deps: PayinsDeps, pass: Pass, signal: AbortSignal): Promise<void> {
  const { ingester, crash } = deps;
  let saved = await deps.loadCursor(pass);
  const cursor = saved ?? (await firstCursor(deps, pass, signal));
  for await (const range of ingester.scan(cursor, signal)) {
    if (signal.aborted) return;
    if (range.logs.length > 0 || range.orphaned.length > 0) await handleRange(deps, pass, range, signal);
    if (pass !== 'head') await settlePending(deps, pass, range.next, signal);
    if (range.missed) deps.missed(range.missed);
    await crash('payins.beforeCheckpoint');
    await deps.saveCursor(range.next, saved);
    await crash('payins.afterCheckpoint');
    saved = range.next;
  }
}

/** Read models that are still being filled do not know the oldest open payment: what was paid to it would be passed over. */
async function firstCursor(deps: PayinsDeps, pass: Pass, signal: AbortSignal): Promise<Cursor> {
  await deps.projected(await deps.store.tail(), signal);
  return deps.ingester.start(pass, await deps.startFrom(), signal);
}

/**
 * What was detected in blocks that are final now must have been confirmed by this pass; else it left the chain unnoticed.
 * A transaction that a node cannot find proves nothing: the payin stays pending, and is asked for again, until its block is
 * seen to be gone.
 */
async function settlePending(deps: PayinsDeps, pass: Pass, next: Cursor, signal: AbortSignal): Promise<void> {
  const { ingester } = deps;
  const pending = async () =>
    (await deps.pendingPayins(next.blockNumber, ingester.largeFrom)).filter(({ large }) => confirmsAt(pass, large));
  if ((await pending()).length === 0) return;
  // What this range has confirmed a moment ago is in the rows only now.
  await deps.projected(await deps.store.tail(), signal);
  for (const payin of await pending()) {
    const found = (await ingester.lookUp(payin.txHash, signal)).find(
      (transfer) => transferId(transfer) === payin.transferId,
    );
    if (!found && !(await ingester.hasLeft(payin, signal))) continue;
    await orPark(deps, payin, payin.txHash, () => {
      if (!found) return recordOrphan(deps, payin, payin);
      return recordPayin(deps, payin, { transfer: found, final: BigInt(found.blockNumber) <= next.blockNumber });
    });
  }
}
