/** What a range of blocks paid to our deposits: recorded alike by the live scan and by an operator who has it read again. */

import {
  type Ingester,
  type Pass,
  type ScannedRange,
  type TransferLog,
  transferOf,
} from '../../commands/chainPorts.ts';
import type { Handle } from '../../commands/handle.ts';
import type { Clock, EventStore } from '../../commands/ports.ts';
import { type PaymentRef, recordOrphan, recordPayin } from '../../commands/recordPayin.ts';
import { InvariantBroken, isRefusal, type Refusal } from '../../domain/decider.ts';
import { rescale } from '../../domain/money.ts';
import type { TokenRef, Transfer } from '../../domain/payment/events.ts';
import { type PayinAddress, payinAddress, payinAddressKey } from '../../domain/payment/payins.ts';
import type { MatchedDeposit, RecordedPayin } from '../../queries/payins.ts';

export interface RangeDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly store: Pick<EventStore, 'tail'>;
  readonly ingester: Ingester;
  /** Resolves once the deposit index holds everything up to the position. @throws Unavailable after a while */
  readonly projected: (position: bigint, signal: AbortSignal) => Promise<void>;
  readonly matchDeposits: (addresses: readonly PayinAddress[]) => Promise<readonly MatchedDeposit[]>;
  /**
   * Keeps a final transfer to an address that payments share whose memo is no payment's: an operator decides about it. The same
   * transfer may come again; it is to be kept once, by its id. Answers whether it is new.
   */
  readonly unmatched: (transfer: Transfer) => Promise<boolean>;
  readonly payinsInBlocks: (blockHashes: readonly string[]) => Promise<readonly RecordedPayin[]>;
  /**
   * Sets a transfer aside that its payment cannot take: kept, shown to operators and tried again, so that one poisoned
   * payment does not stop its chain.
   */
  readonly park: (payment: PaymentRef, txHash: string, error: unknown) => Promise<void>;
  /** Sets a deposit aside whose balance is not explained: it is read by itself until it is, and its own payment's end waits for a while. */
  readonly setAside: (address: string) => Promise<void>;
}

/** Whether there is anything in it to be handled. */
export const holdsAnything = ({ logs, orphaned, unexplained = [] }: ScannedRange): boolean =>
  logs.length + orphaned.length + unexplained.length > 0;

/** `known`: the log had it and was not changed. */
export type Outcome = 'known' | 'recorded' | 'unmatched' | 'setAside';

/** A transfer to us and what was done about it. */
export interface HandledTransfer {
  readonly log: TransferLog;
  /** Null for money that is no payment's. */
  readonly paymentId: string | null;
  readonly outcome: Outcome;
}

/**
 * The barrier: an address is disclosed only after its event is durable, so every deposit that this range can have paid
 * lies before the log's present end. Once the index has come that far, an address that is not in it is not ours.
 */
export async function handleRange(
  deps: RangeDeps,
  pass: Pass,
  range: Pick<ScannedRange, 'logs' | 'orphaned' | 'unexplained'>,
  signal: AbortSignal,
): Promise<readonly HandledTransfer[]> {
  await deps.projected(await deps.store.tail(), signal);
  for (const address of range.unexplained ?? []) await deps.setAside(address);
  for (const payin of range.orphaned.length > 0 ? await deps.payinsInBlocks(range.orphaned) : []) {
    await orPark(deps, payin, payin.txHash, () => recordOrphan(deps, payin, payin));
  }
  const { ingester } = deps;
  const deposits = await byAddress(deps, range.logs);
  const final = pass !== 'head';
  const handled: HandledTransfer[] = [];
  for (const log of range.logs) {
    const deposit = deposits.get(payinAddressKey(payinAddress(log.to, log.memo)));
    const ours = deposit ?? (final && ingester.sharedAddresses.includes(log.to) ? ofNoPayment : undefined);
    if (!ours || !confirmsAt(pass, isLarge(log, ours, ingester.largeFrom))) continue;
    const transfer = await resolved(ingester, log, signal);
    const outcome = deposit
      ? await orPark(deps, deposit, transfer.txHash, () => recordPayin(deps, deposit, { transfer, final }))
      : await unmatched(deps, transfer);
    handled.push({ log, paymentId: deposit?.paymentId ?? null, outcome });
  }
  return handled;
}

const unmatched = async (deps: RangeDeps, transfer: Transfer): Promise<Outcome> =>
  (await deps.unmatched(transfer)) ? 'unmatched' : 'known';

/** A transfer to a shared address that is for no payment: its own amount alone makes it large. */
const ofNoPayment = { agreed_usd: null };

async function resolved(ingester: Ingester, log: TransferLog, signal: AbortSignal): Promise<Transfer> {
  const transfer = ingester.resolve ? await ingester.resolve(log, signal) : transferOf(ingester.chainId, log);
  if (transfer) return transfer;
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
