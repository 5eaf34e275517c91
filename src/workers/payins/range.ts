/** What a range of blocks paid to our deposits: recorded alike by the live scan and by an operator who has it read again. */
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
import { rescale } from '../../../domain/money.ts';
import { type TokenRef, type Transfer, transferId } from '../../../domain/payment/events.ts';
import { type PayinAddress, payinAddress, payinAddressKey } from '../../../domain/payment/payins.ts';
import type { Instant } from '../../../domain/time.ts';
import type { MatchedDeposit, RecordedPayin } from '../../../queries/payins.ts';
import { inParallel } from '../../lib/inParallel.ts';
import type { ConfirmationGate } from './confirmation.ts';

// Which of the transactions that cannot be read may have paid us.

interface Ours {
  readonly ingester: Pick<Ingester, 'sharedAddresses'>;
  readonly matchDeposits: (addresses: readonly PayinAddress[]) => Promise<readonly PayinAddress[]>;
}

/**
 * Without those that name whom they paid where nothing of it is ours. Of whom the others paid, deposits with a payment of their own stay
 * named: of an address that payments share nobody can tell whose end should wait, and all must not.
 */
export async function maybeOurs(
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
  /** Resolves once the deposit index holds everything that is in the log now. @throws Unavailable after a while */
  readonly caughtUp: (signal: AbortSignal) => Promise<unknown>;
  readonly matchDeposits: (addresses: readonly PayinAddress[]) => Promise<readonly MatchedDeposit[]>;
  /**
   * Keeps a final transfer to an address that payments share whose memo is no payment's: an operator decides about it. The same
   * transfer may come again; it is to be kept once, by its id. Answers whether it is new.
   */
  readonly unmatched: (transfer: Transfer) => Promise<boolean>;
  readonly payinsInBlocks: (blockHashes: readonly string[]) => Promise<readonly RecordedPayin[]>;
  /** Seen or confirmed, in blocks above this one. */
  readonly payinsAbove: (above: bigint, after: RecordedPayin | null, max: number) => Promise<readonly RecordedPayin[]>;
  readonly confirmationGate: ConfirmationGate;
  /** Told when money that funded a payment was reorganised out of its chain. */
  readonly lost: (payin: RecordedPayin) => void;
  /** Told of each transfer that is kept outside its payment's stream, which takes up no more. */
  readonly beyond: (payment: PaymentRef) => void;
  /**
   * Sets a transfer aside that its payment cannot take, or one of no payment that nodes do not show alike: kept, shown to operators and
   * tried again, so that it does not stop its chain.
   */
  readonly park: (payment: PaymentRef | null, txHash: string, error: unknown) => Promise<void>;
  /** Sets a deposit aside whose balance is not explained: it is read by itself until it is, and its own payment's end waits for a while. */
  readonly setAside: (address: string) => Promise<void>;
  /** Receives tokens at deposits that no payin is read from. They may come again. */
  readonly stray: (tokens: StrayTokens) => void;
  /** Sets transactions aside that cannot be read and may have paid us: each is tried by itself. They may come again. */
  readonly setUnreadableAside: (found: readonly Unreadable[]) => Promise<void>;
}

/** Whether there is anything in it to be handled. */
export const holdsAnything = ({
  logs,
  orphaned,
  unexplained = [],
  unreadable = [],
  stray = [],
}: ScannedRange): boolean => logs.length + orphaned.length + unexplained.length + unreadable.length + stray.length > 0;

/** `known`: the log had it and was not changed. */
export type Outcome = 'known' | 'recorded' | 'unmatched' | 'setAside';

/** A transfer to us and what was done about it. */
export interface HandledTransfer {
  readonly log: TransferLog;
  /** Null for money that is no payment's. */
  readonly paymentId: string | null;
  readonly outcome: Outcome;
}

/** Without `next`: something read by itself. */
type Handed = Pick<ScannedRange, 'logs' | 'orphaned' | 'unexplained' | 'unreadable' | 'stray'> &
  Partial<Pick<ScannedRange, 'next'>>;

/**
 * The barrier: an address is disclosed only after its event is durable, so every deposit that this range can have paid
 * lies before the log's present end. Once the index has come that far, an address that is not in it is not ours.
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
  const unreadable = await maybeOurs(range.unreadable ?? [], deps);
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
    // What is not confirmed is seen at least: the final passes ask for it again.
    const outcome = deposit
      ? await orPark(deps, deposit, transfer.txHash, () => record(deps, deposit, { transfer, final, confirmed }))
      : await unmatched(deps, transfer, confirmed);
    handled.push({ log, paymentId: deposit?.paymentId ?? null, outcome });
  }
  return handled;
}

/** What its payment takes up no more is in no row that a later pass asks for again: unproven, it is refused and so set aside. */
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

/** Transfers that nodes are asked about side by side. */
const asksAtOnce = 8;
/** Rows that one page holds of payins above a fork. */
const aboveMax = 1_000;

/** Of a final pass the blocks are not taken as gone by one node's word: the head has its own, and no other pass would read again what this one took away. */
const believed = (pass: Pass, range: Handed): Handed => (pass === 'head' ? range : { ...range, orphaned: [] });

/**
 * After a fork: what was in the blocks that the scan names, and whatever else was recorded above the fork in a block that no node has any
 * more. The scan's list is shorter after a restart; the rows are not.
 */
export async function orphanAbove(
  deps: RangeDeps,
  { orphaned, next }: Pick<Handed, 'orphaned' | 'next'>,
  signal: AbortSignal,
): Promise<void> {
  const named = orphaned.length > 0 ? await deps.payinsInBlocks(orphaned) : [];
  for (const payin of named) await orphan(deps, payin);
  if (!next) return;
  for (let page = await deps.payinsAbove(next.blockNumber, null, aboveMax); page.length > 0; ) {
    for (const payin of page) {
      const known = named.some(({ transferId }) => transferId === payin.transferId);
      if (!known && (await deps.ingester.hasLeft(payin, signal))) await orphan(deps, payin);
    }
    // Each page begins behind the one before: there are so many at the most as rows above the fork.
    page = page.length < aboveMax ? [] : await deps.payinsAbove(next.blockNumber, page.at(-1) ?? null, aboveMax);
  }
}

/**
 * Records transfers that were looked up by their transaction as the scan records what it reads: each final pass takes those of its size.
 * Doing it again changes nothing.
 */
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

/** As `transferOf` reads it. */
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

/** Records that a payin's block has left its chain; an operator is told when it had funded its payment. */
export async function orphan(deps: RangeDeps, payin: RecordedPayin): Promise<void> {
  await orPark(deps, payin, payin.txHash, async () => {
    const outcome = await recordOrphan(deps, payin, payin);
    if (!isRefusal(outcome) && outcome.appended > 0) {
      const known = outcome.state?.payins.find(({ id }) => id === payin.transferId);
      if (known?.phase === 'lost') deps.lost(payin);
    }
    return outcome;
  });
}

async function unmatched(deps: RangeDeps, transfer: Transfer, confirmed: boolean): Promise<Outcome> {
  if (confirmed) return (await deps.unmatched(transfer)) ? 'unmatched' : 'known';
  await deps.park(null, transfer.txHash, new Unproven());
  return 'setAside';
}

/** The nodes of a chain do not show a transfer alike. */
export class Unproven extends TransientError {
  override readonly name = 'Unproven';
  constructor() {
    super('too few nodes show this transfer alike: see the alarms, and compare the nodes in RPC_URLS_<chainId>');
  }
}

/** A transfer to a shared address that is for no payment: its own amount alone makes it large. */
const ofNoPayment = { agreed_usd: null };

/** @returns undefined for one that was set aside because it cannot be read */
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

/** The head pass sees everything; each final pass confirms the amounts of its tier. */
export const confirmsAt = (pass: Pass, large: boolean): boolean => pass === 'head' || (pass === 'finalLarge') === large;

/** By the agreed amount too: a large payment cut into small transfers still waits for the deeper finality. */
export function isLarge(
  transfer: { readonly amount: bigint; readonly token: TokenRef },
  deposit: { readonly agreed_usd: bigint | null },
  largeFrom_usd: bigint | null,
): boolean {
  if (largeFrom_usd === null) return false;
  const whole = rescale(transfer.amount, transfer.token.decimals, 0);
  return whole >= largeFrom_usd || (deposit.agreed_usd ?? 0n) >= largeFrom_usd;
}

/** An outage stops the range, which is read again; what the payment itself refuses is set aside. */
export async function orPark(
  deps: Pick<RangeDeps, 'park'>,
  payment: PaymentRef,
  txHash: string,
  record: () => Promise<{ readonly appended: number } | Refusal>,
): Promise<Outcome> {
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
