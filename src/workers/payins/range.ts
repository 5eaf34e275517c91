/** Payments to our deposits in a range of blocks: recorded alike by the live scan and by an operator's rescan. */
import {
  type Ingester,
  type Pass,
  type ScannedRange,
  type StrayTokens,
  type TransferLog,
  TransferUnreadable,
  transferOf,
  type Unreadable,
} from '../../../commands/chainPorts.ts';
import type { Handle } from '../../../commands/handle.ts';
import { type Clock, TransientError } from '../../../commands/ports.ts';
import { type PaymentRef, recordOrphan, recordPayin, takenUp } from '../../../commands/recordPayin.ts';
import { InvariantBroken, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { convert, usDollar } from '../../../domain/money.ts';
import { type TokenRef, type Transfer, transferId } from '../../../domain/payment/events.ts';
import { type PayinAddress, payinAddress, payinAddressKey } from '../../../domain/payment/payins.ts';
import type { Instant } from '../../../domain/time.ts';
import type { MatchedDeposit, RecordedPayin } from '../../../queries/payins.ts';
import { inParallel, lower } from '../../lib/concurrency.ts';
import type { ConfirmationGate } from './confirmation.ts';

// Decides which unreadable transactions may have paid us.

interface Ours {
  readonly ingester: Pick<Ingester, 'sharedAddresses'>;
  readonly matchDeposits: (addresses: readonly PayinAddress[]) => Promise<readonly PayinAddress[]>;
}

/**
 * Removes transactions whose known receivers are not ours. The rest keep only deposits of single payments as receivers: a shared address
 * identifies no payment, and not all payments can wait.
 */
export async function possiblePayins(
  found: readonly Unreadable[],
  { ingester, matchDeposits }: Ours,
): Promise<readonly Unreadable[]> {
  const spelled = found.map((each) => ({
    ...each,
    addresses: [...new Set(each.addresses.map((address) => payinAddress(address, null).address))],
  }));
  const named = [...new Set(spelled.flatMap(({ addresses }) => addresses))];
  const matched = named.length > 0 ? await matchDeposits(named.map((address) => payinAddress(address, null))) : [];
  const own = new Set(matched.map(({ address }) => address));
  const isOurs = (address: string) => own.has(address) || ingester.sharedAddresses.includes(address);
  return spelled
    .filter(({ addresses }) => addresses.length === 0 || addresses.some(isOurs))
    .map((each) => ({ ...each, addresses: each.addresses.filter((address) => own.has(address)) }));
}

export interface RangeDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ingester: Ingester;
  /** Resolves once the deposit index contains everything that is in the log now. @throws Unavailable after a timeout */
  readonly caughtUp: (signal: AbortSignal) => Promise<unknown>;
  readonly matchDeposits: (addresses: readonly PayinAddress[]) => Promise<readonly MatchedDeposit[]>;
  /**
   * Records a final transfer to a shared address without a payment's memo: an operator decides about it. A repeated transfer is recorded
   * once, by its id. Returns true if it is new.
   */
  readonly unmatched: (transfer: Transfer) => Promise<boolean>;
  readonly payinsInBlocks: (blockHashes: readonly string[]) => Promise<readonly RecordedPayin[]>;
  /** Detected or confirmed, in blocks above this one. */
  readonly payinsAbove: (above: bigint, after: RecordedPayin | null, max: number) => Promise<readonly RecordedPayin[]>;
  readonly confirmationGate: ConfirmationGate;
  /** Called when money that funded a payment has left its chain. */
  readonly lost: (payin: RecordedPayin) => void;
  /** Receives each transfer that is recorded outside its payment's stream, which has reached its maximum. */
  readonly beyond: (payment: PaymentRef) => void;
  /**
   * Sets a transfer aside that its payment cannot accept, or an unmatched one that nodes return differently: recorded, listed for operators
   * and retried, so that it does not stop its chain.
   */
  readonly park: (payment: PaymentRef | null, txHash: string, error: unknown) => Promise<void>;
  /**
   * Sets a deposit with an unexplained balance aside: it is read separately until it is explained, and its payment's expiry waits for a
   * while.
   */
  readonly setAside: (address: string) => Promise<void>;
  /** Receives tokens at deposits that no payin is read from. They may be repeated. */
  readonly stray: (tokens: StrayTokens) => void;
  /** Sets unreadable transactions aside that may have paid us: each is retried separately. They may be repeated. */
  readonly setUnreadableAside: (found: readonly Unreadable[]) => Promise<void>;
}

/** True if the range contains anything to handle. */
export const holdsAnything = ({
  logs,
  orphaned,
  unexplained = [],
  unreadable = [],
  stray = [],
}: ScannedRange): boolean => logs.length + orphaned.length + unexplained.length + unreadable.length + stray.length > 0;

/** `known`: the log had it and was not changed. */
type PayinOutcome = 'known' | 'recorded' | 'unmatched' | 'setAside';

/** A transfer to us and its outcome. */
export interface HandledTransfer {
  readonly log: TransferLog;
  /** Null for unmatched money. */
  readonly paymentId: string | null;
  readonly outcome: PayinOutcome;
}

/** Without `next`: a separate read. */
type Handed = Pick<ScannedRange, 'logs' | 'orphaned' | 'unexplained' | 'unreadable' | 'stray'> &
  Partial<Pick<ScannedRange, 'next'>>;

/**
 * Barrier: an address is disclosed only after its event is durable, so every deposit that this range can have paid is before the log's
 * current end. Once the index has reached it, an unknown address is not ours.
 */
export async function handleRange(
  deps: RangeDeps,
  pass: Pass,
  range: Handed,
  signal: AbortSignal,
): Promise<readonly HandledTransfer[]> {
  await deps.caughtUp(signal);
  for (const address of range.unexplained ?? []) await deps.setAside(address);
  for (const tokens of range.stray ?? []) deps.stray(tokens);
  const unreadable = await possiblePayins(range.unreadable ?? [], deps);
  if (unreadable.length > 0) await deps.setUnreadableAside(unreadable);
  if (range.orphaned.length > 0) await orphanAbove(deps, believed(pass, range), signal);
  const { ingester, confirmationGate } = deps;
  const deposits = await byAddress(deps, range.logs);
  const final = pass !== 'head';
  const ours = range.logs.flatMap((log) => {
    const deposit = deposits.get(payinAddressKey(payinAddress(log.to, log.memo)));
    const owner = deposit ?? (final && ingester.sharedAddresses.includes(log.to) ? ofNoPayment : undefined);
    return owner && confirmsAt(pass, isLarge(log, owner, ingester.largeFrom)) ? [{ log, deposit, owner }] : [];
  });
  if (ours.length === 0) return [];
  const budget = await confirmationGate.budget(pass);
  const found = await inParallel(ours, asksAtOnce, async (own) => {
    const transfer = await resolved(deps, own.log, signal);
    if (!transfer) return undefined;
    const about = { pass, agreed_usd: own.owner.agreed_usd };
    const fits = final && budget.take(own.log);
    if (final && !fits) confirmationGate.postpone(transferId(transfer));
    return { ...own, transfer, confirmed: fits && (await confirmationGate.isProven(transfer, about, signal)) };
  });
  const handled: HandledTransfer[] = [];
  for (const { log, deposit, transfer, confirmed } of found.filter((each) => each !== undefined)) {
    // An unconfirmed transfer is at least detected: the final passes query it again.
    const outcome = deposit
      ? await orPark(deps, deposit, transfer.txHash, () => record(deps, deposit, { transfer, final, confirmed }))
      : await unmatched(deps, transfer, confirmed);
    handled.push({ log, paymentId: deposit?.paymentId ?? null, outcome });
  }
  return handled;
}

/** A transfer beyond its payment's maximum is in no row for a later pass: unproven, it is refused and so set aside. */
async function record(
  deps: RangeDeps,
  deposit: PaymentRef,
  { transfer, final, confirmed }: { readonly transfer: Transfer; readonly final: boolean; readonly confirmed: boolean },
) {
  const outcome = await recordPayin(deps, deposit, { transfer, final: confirmed });
  if (isRefusal(outcome) || !final || transfer.amount === '0' || takenUp(outcome.state, transfer)) return outcome;
  if (!confirmed) return refuse('unavailable', new Unproven().message);
  if (outcome.appended > 0) deps.beyond(deposit);
  return outcome;
}

/** Concurrent queries of nodes about transfers. */
const asksAtOnce = 8;
/** Rows per page of payins above a fork. */
const aboveMax = 1_000;

/** A final pass does not trust one node about orphaned blocks: the head pass has its own, and no other pass would read again. */
const believed = (pass: Pass, range: Handed): Handed => (pass === 'head' ? range : { ...range, orphaned: [] });

/**
 * After a fork: payins in the blocks that the scan names, and other payins recorded above the fork in a block that no node has any more.
 * The scan's list is shorter after a restart; the rows are complete.
 */
export async function orphanAbove(
  deps: RangeDeps,
  { orphaned, next }: Pick<Handed, 'orphaned' | 'next'>,
  signal: AbortSignal,
): Promise<void> {
  const named = orphaned.length > 0 ? await deps.payinsInBlocks(orphaned) : [];
  for (const payin of named) await recordOrphaned(deps, payin);
  if (!next) return;
  for (let page = await deps.payinsAbove(next.blockNumber, null, aboveMax); page.length > 0; ) {
    for (const payin of page) {
      const known = named.some(({ transferId }) => transferId === payin.transferId);
      if (!known && (await deps.ingester.hasLeft(payin, signal))) await recordOrphaned(deps, payin);
    }
    // Each page begins after the previous one, so their number is bounded by the rows above the fork.
    page = page.length < aboveMax ? [] : await deps.payinsAbove(next.blockNumber, page.at(-1) ?? null, aboveMax);
  }
}

/** Records looked-up transfers as the scan records its transfers: each final pass takes those of its size. Repeating it changes nothing. */
export async function recordAnew(
  deps: RangeDeps,
  transfers: readonly Transfer[],
  signal: AbortSignal,
): Promise<readonly HandledTransfer[]> {
  // They are resolved already.
  const { resolve: _, ...ingester } = deps.ingester;
  const logs = transfers.map(logOf);
  const handled: HandledTransfer[] = [];
  for (const pass of ingester.passes.filter((each) => each !== 'head'))
    handled.push(...(await handleRange({ ...deps, ingester }, pass, { logs, orphaned: [] }, signal)));
  return handled;
}

/** Inverse of `transferOf`. */
const logOf = (transfer: Transfer): TransferLog => ({
  to: transfer.to,
  memo: transfer.memo ?? null,
  from: transfer.from,
  token: transfer.token,
  amount: BigInt(transfer.amount),
  txHash: transfer.txHash,
  blockNumber: BigInt(transfer.blockNumber),
  blockHash: transfer.blockHash,
  logIndex: transfer.index,
  blockTime: transfer.blockTime as Instant,
});

/** Records that a payin's block has left its chain; notifies an operator if it had funded its payment. */
export async function recordOrphaned(deps: RangeDeps, payin: RecordedPayin): Promise<void> {
  await orPark(deps, payin, payin.txHash, async () => {
    const outcome = await recordOrphan(deps, payin, payin);
    if (!isRefusal(outcome) && outcome.appended > 0) {
      const known = outcome.state?.payins.find(({ id }) => id === payin.transferId);
      if (known?.phase === 'lost') deps.lost(payin);
    }
    return outcome;
  });
}

async function unmatched(deps: RangeDeps, transfer: Transfer, confirmed: boolean): Promise<PayinOutcome> {
  if (confirmed) return (await deps.unmatched(transfer)) ? 'unmatched' : 'known';
  await deps.park(null, transfer.txHash, new Unproven());
  return 'setAside';
}

/** The nodes of a chain disagree about a transfer. */
export class Unproven extends TransientError {
  override readonly name = 'Unproven';
  constructor() {
    super('too few nodes show this transfer alike: see the alarms, and compare the nodes in RPC_URLS_<chainId>');
  }
}

/** A transfer to a shared address without a payment: only its own amount makes it large. */
const ofNoPayment = { agreed_usd: null };

/** @returns undefined for one that was set aside as unreadable */
async function resolved(deps: RangeDeps, log: TransferLog, signal: AbortSignal): Promise<Transfer | undefined> {
  const { ingester } = deps;
  if (!ingester.resolve) return transferOf(ingester.chainId, log);
  try {
    const transfer = await ingester.resolve(log, signal);
    if (transfer) return transfer;
  } catch (error) {
    if (!(error instanceof TransferUnreadable)) throw error;
    await deps.setUnreadableAside([error.found]);
    return undefined;
  }
  throw new Error(`block ${log.blockHash} left chain ${ingester.chainId} while it was read: it is scanned again`);
}

async function byAddress(deps: RangeDeps, logs: readonly TransferLog[]): Promise<ReadonlyMap<string, MatchedDeposit>> {
  const addresses = new Map(
    logs.map(({ to, memo }) => payinAddress(to, memo)).map((paid) => [payinAddressKey(paid), paid]),
  );
  const matched = addresses.size > 0 ? await deps.matchDeposits([...addresses.values()]) : [];
  return new Map(matched.map((deposit) => [payinAddressKey(deposit), deposit]));
}

/** The head pass detects everything; each final pass confirms the amounts of its tier. */
export const confirmsAt = (pass: Pass, large: boolean): boolean => pass === 'head' || (pass === 'finalLarge') === large;

/** By the agreed amount too: a large payment split into small transfers still waits for the deeper finality. */
export function isLarge(
  transfer: { readonly amount: bigint; readonly token: TokenRef },
  deposit: { readonly agreed_usd: bigint | null },
  largeFrom_usd: bigint | null,
): boolean {
  if (largeFrom_usd === null) return false;
  const whole = convert(transfer.amount, transfer.token, usDollar);
  return whole >= largeFrom_usd || (deposit.agreed_usd ?? 0n) >= largeFrom_usd;
}

/** An outage stops the range, which is read again; a payin that the payment itself refuses is set aside. */
export async function orPark(
  deps: Pick<RangeDeps, 'park'>,
  payment: PaymentRef,
  txHash: string,
  record: () => Promise<{ readonly appended: number } | Refusal>,
): Promise<PayinOutcome> {
  try {
    const outcome = await record();
    if (!isRefusal(outcome)) return outcome.appended > 0 ? 'recorded' : 'known';
    await deps.park(payment, txHash, new Error(`${outcome.refused}: ${outcome.message}`));
  } catch (error) {
    if (!(error instanceof InvariantBroken)) throw error;
    await deps.park(payment, txHash, error);
  }
  return 'setAside';
}

// Reads blocks again that were read, or missed, before: records payments to us that the log does not have yet.

export interface RescanDeps extends RangeDeps {
  readonly onProgress?: (pass: Pass, blockNumber: bigint, to: bigint) => void;
}

/** Both ends are inclusive. Default of `to`: the chain's current end. */
export interface Blocks {
  readonly from: bigint;
  readonly to?: bigint | undefined;
}

export interface Rescanned {
  /** Number of transfers to us per outcome. */
  readonly counts: Readonly<Record<PayinOutcome, number>>;
  /** New transfers to us, up to a maximum. */
  readonly news: readonly HandledTransfer[];
  /** Blocks that no node remembers. */
  readonly missed: readonly NonNullable<ScannedRange['missed']>[];
  /** End of each pass: the end of the range, or the last final block. */
  readonly reached: ReadonlyMap<Pass, bigint>;
}

/** Maximum listed; further ones are only counted. */
export const newsMax = 500;

/**
 * Reads a range by the final passes and handles it as the live scan does: repeating it changes nothing. Neither reads nor moves a saved
 * cursor, and a service may be running. After a crash or interruption, recorded payins stay recorded; run it again.
 *
 * @throws ChainUnavailable, Unavailable; Error if the chain has no such block yet
 */
export async function rescan(deps: RescanDeps, { from, to }: Blocks, signal: AbortSignal): Promise<Rescanned> {
  const { ingester, onProgress = () => {} } = deps;
  const { blockNumber: newest } = await ingester.head(signal);
  const end = to === undefined ? newest : lower(to, newest);
  if (from > end)
    throw new Error(`there is nothing to read from block ${from} to ${end}: the chain stands at ${newest}`);
  const counts = { known: 0, recorded: 0, unmatched: 0, setAside: 0 };
  const news: HandledTransfer[] = [];
  const missed: NonNullable<ScannedRange['missed']>[] = [];
  const reached = new Map<Pass, bigint>();

  for (const pass of ingester.passes.filter((each) => each !== 'head')) {
    let cursor = await ingester.cursorAt(pass, from - 1n, signal);
    for (let last = null; cursor !== last && cursor.blockNumber < end; ) {
      last = cursor;
      for await (const range of ingester.scan(cursor, signal)) {
        signal.throwIfAborted();
        await take(pass, range);
        cursor = range.next;
        onProgress(pass, cursor.blockNumber, end);
        if (cursor.blockNumber >= end) break;
      }
    }
    reached.set(pass, lower(cursor.blockNumber, end));
  }
  return { counts, news, missed, reached };

  async function take(pass: Pass, range: ScannedRange): Promise<void> {
    if (range.missed) missed.push({ from: range.missed.from, to: lower(range.missed.to, end) });
    const logs = range.logs.filter(({ blockNumber }) => blockNumber <= end);
    const found = { ...range, logs };
    if (!holdsAnything(found)) return;
    for (const handled of await handleRange(deps, pass, found, signal)) {
      counts[handled.outcome] += 1;
      if (handled.outcome !== 'known' && news.length < newsMax) news.push(handled);
    }
  }
}
