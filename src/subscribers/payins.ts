/** Watches one chain: what was paid to our deposits, first seen, then final; and what left the chain again. */

import type { Cursor, Ingester, Pass, ScannedRange, TransferLog } from '../../commands/chainPorts.ts';
import type { Handle } from '../../commands/handle.ts';
import type { Clock, CrashPoint, EventStore } from '../../commands/ports.ts';
import { type PaymentRef, recordOrphan, recordPayin } from '../../commands/recordPayin.ts';
import { InvariantBroken, isRefusal, type Refusal } from '../../domain/decider.ts';
import { rescale } from '../../domain/money.ts';
import { type Place, place, placeKey } from '../../domain/payment/deposit.ts';
import { type TokenRef, type Transfer, transferId } from '../../domain/payment/events.ts';
import type { Instant } from '../../domain/time.ts';
import type { Worker } from './worker.ts';

/** A deposit that some transfers may be for. */
export interface MatchedDeposit extends PaymentRef, Place {
  /** The agreed amount in whole tokens, rounded up; null where the payment takes any amount. */
  readonly agreed_usd: bigint | null;
}

/** A payin that is recorded and not yet final. */
export interface RecordedPayin extends PaymentRef {
  readonly transferId: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly large: boolean;
}

export interface PayinsDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly crash: CrashPoint;
  readonly store: Pick<EventStore, 'tail'>;
  readonly ingester: Ingester;
  /** Resolves once the deposit index holds everything up to the position. @throws Unavailable after a while */
  readonly projected: (position: bigint, signal: AbortSignal) => Promise<void>;
  readonly matchDeposits: (places: readonly Place[]) => Promise<readonly MatchedDeposit[]>;
  /**
   * Keeps a final transfer to an address that payments share whose memo is no payment's: an operator decides about it. The same
   * transfer may come again; it is to be kept once, by its id.
   */
  readonly unmatched: (transfer: Transfer) => Promise<void>;
  readonly payinsInBlocks: (blockHashes: readonly string[]) => Promise<readonly RecordedPayin[]>;
  /** Detected and not confirmed, in blocks up to `upTo`; `large` by the same rule as `isLarge`. */
  readonly pendingPayins: (upTo: bigint, largeFrom_usd: bigint) => Promise<readonly RecordedPayin[]>;
  readonly loadCursor: (pass: Pass) => Promise<Cursor | null>;
  /** Compare and set: throws when another instance moved it. */
  readonly saveCursor: (next: Cursor, previous: Cursor | null) => Promise<void>;
  /**
   * Sets a transfer aside that its payment cannot take: kept, shown to operators and tried again, so that one poisoned
   * payment does not stop its chain.
   */
  readonly park: (payment: PaymentRef, txHash: string, error: unknown) => Promise<void>;
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
 * The barrier: an address is disclosed only after its event is durable, so every deposit that this range can have paid
 * lies before the log's present end. Once the index has come that far, an address that is not in it is not ours.
 */
async function handleRange(deps: PayinsDeps, pass: Pass, range: ScannedRange, signal: AbortSignal): Promise<void> {
  await deps.projected(await deps.store.tail(), signal);
  for (const payin of range.orphaned.length > 0 ? await deps.payinsInBlocks(range.orphaned) : []) {
    await orPark(deps, payin, payin.txHash, () => recordOrphan(deps, payin, payin));
  }
  const { ingester } = deps;
  const deposits = await byPlace(deps, range.logs);
  const final = pass !== 'head';
  for (const log of range.logs) {
    const deposit = deposits.get(placeKey(place(log.to, log.memo)));
    const ours = deposit ?? (final && ingester.sharedAddresses.includes(log.to) ? nobodys : undefined);
    if (!ours || !confirmsAt(pass, isLarge(log, ours, ingester.largeFrom))) continue;
    const transfer = await resolved(ingester, log, signal);
    if (!deposit) await deps.unmatched(transfer);
    else await orPark(deps, deposit, transfer.txHash, () => recordPayin(deps, deposit, { transfer, final }));
  }
}

/** A transfer to a shared address that is for no payment: by its own amount it is large or not. */
const nobodys = { agreed_usd: null };

async function resolved(ingester: Ingester, log: TransferLog, signal: AbortSignal): Promise<Transfer> {
  const transfer = await ingester.resolve(log, signal);
  if (transfer) return transfer;
  throw new Error(`block ${log.blockHash} left chain ${ingester.chainId} while it was read: it is scanned again`);
}

async function byPlace(deps: PayinsDeps, logs: readonly TransferLog[]): Promise<ReadonlyMap<string, MatchedDeposit>> {
  const places = new Map(logs.map(({ to, memo }) => place(to, memo)).map((paid) => [placeKey(paid), paid]));
  const matched = places.size > 0 ? await deps.matchDeposits([...places.values()]) : [];
  return new Map(matched.map((deposit) => [placeKey(deposit), deposit]));
}

/** The head pass sees everything; each final pass confirms the amounts of its tier. */
const confirmsAt = (pass: Pass, large: boolean): boolean => pass === 'head' || (pass === 'finalLarge') === large;

/** By the agreed amount too: a large payment cut into small transfers still waits for the deeper finality. */
export function isLarge(
  transfer: { readonly amount: bigint; readonly token: TokenRef },
  deposit: { readonly agreed_usd: bigint | null },
  largeFrom_usd: bigint,
): boolean {
  const whole = rescale(transfer.amount, transfer.token.decimals, 0);
  return whole >= largeFrom_usd || (deposit.agreed_usd ?? 0n) >= largeFrom_usd;
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

/** An outage stops the range, which is read again; what the payment itself refuses is set aside. */
async function orPark(
  deps: PayinsDeps,
  payment: PaymentRef,
  txHash: string,
  record: () => Promise<{ readonly appended: number } | Refusal>,
): Promise<void> {
  try {
    const outcome = await record();
    if (isRefusal(outcome)) await deps.park(payment, txHash, new Error(`${outcome.refused}: ${outcome.message}`));
  } catch (error) {
    if (!(error instanceof InvariantBroken)) throw error;
    await deps.park(payment, txHash, error);
  }
}
