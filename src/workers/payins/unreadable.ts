/** Unreadable transactions: each is set aside and retried separately, so that none delays its chain, nor another customer. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { TransientError } from '../../../commands/ports.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import { payinAddress } from '../../../domain/payment/payins.ts';
import { hour_ms, type Instant } from '../../../domain/time.ts';
import { RpcFailed } from '../../chains/node/jsonRpc.ts';
import { ChainUnavailable } from '../../chains/node/nodes.ts';
import { unreadableName } from '../../postgres/unreadable.ts';
import type { Worker } from '../engine.ts';
import { handleRange, type RangeDeps, recordAnew } from './range.ts';

/** A transaction that was set aside. */
interface SetAside {
  /** Its hash. */
  readonly key: string;
  /** Deposits that it may have paid; empty if unknown. */
  readonly addresses: readonly string[];
}

export interface UnreadableDeps extends RangeDeps {
  /** Recorded under this worker's name, due and not parked for an operator. */
  readonly due: (max: number, now: Instant) => Promise<readonly SetAside[]>;
}

/** Retry pace: for about an hour and a half, ever more rarely; then it waits for an operator, and no payment waits for it. */
export const unreadablePace = {
  attemptsMax: 10,
  firstPause_ms: 10_000,
  pauseMax_ms: hour_ms,
  transientPause_ms: 30_000,
} as const;

class Unread extends Error {
  override readonly name = 'Unread';
}

/**
 * Records its findings as the scan does, and queries again until they are final: recording again changes nothing. A crash in between keeps
 * the record, so it is read once more. An answer without all possible receivers does not count: a node lags, has lost a part of its
 * history, or omits the one event. Only an operator deletes the record.
 */
export function unreadableWorker(deps: UnreadableDeps): Worker<SetAside> {
  const { ingester, due } = deps;
  return {
    name: unreadableName(ingester.chainId),
    concurrency: 2,
    noted: true,
    due,
    keyOf: ({ key }) => key,
    async act({ key: txHash, addresses }, signal) {
      const whole = await lookUp(ingester, txHash, signal);
      const transfers = whole instanceof Unread ? await readableOf(ingester, txHash, signal) : whole;
      await recordAnew(deps, transfers, signal);
      if (whole instanceof Unread) throw whole;
      const paid = transfers.map(({ to }) => payinAddress(to, null).address);
      const hidden = addresses.filter((address) => !paid.includes(address));
      if (hidden.length > 0 || paid.length === 0)
        throw new Unread(`nodes show no transfer to ${hidden.join(', ') || 'us'} in ${txHash}`);
    },
  };
}

/** Reads the whole transaction. An unreadable transaction is its own failure; an outage of all nodes is not. @throws ChainUnavailable */
async function lookUp(ingester: Ingester, txHash: string, signal: AbortSignal): Promise<readonly Transfer[] | Unread> {
  try {
    return await ingester.lookUp(txHash, signal, 'whole');
  } catch (error) {
    if (isCrowded(error)) throw error;
    if (error instanceof TransientError) await ingester.head(signal);
    return new Unread(error instanceof Error ? error.message : String(error));
  }
}

/** Readable money does not wait for unreadable parts of the same transaction. */
const readableOf = (ingester: Ingester, txHash: string, signal: AbortSignal): Promise<readonly Transfer[]> =>
  ingester.lookUp(txHash, signal).catch(() => []);

/** The head's calls may be sent while these wait in vain: that says nothing about the transaction. */
const isCrowded = (error: unknown): boolean =>
  error instanceof ChainUnavailable &&
  error.failures.length > 0 &&
  error.failures.every((failure) => failure instanceof RpcFailed && failure.kind === 'limited');

// Reads deposits separately whose balance a scan could not explain: none of them delays another deposit, its chain or
// any other payment.

/** A deposit that was set aside. */
interface UnexplainedDeposit {
  /** Its address. */
  readonly key: string;
}

export interface UnexplainedDeps extends RangeDeps {
  readonly ingester: Ingester & Required<Pick<Ingester, 'readDeposit'>>;
  /** Recorded under this worker's name, due and not parked for an operator. */
  readonly due: (max: number, now: Instant) => Promise<readonly UnexplainedDeposit[]>;
  /** Called after each failed read. */
  readonly alarm: (address: string) => void;
}

/** Worker name under which they are listed. queries/work.ts knows the name: the deposit's own payment does not expire meanwhile. */
export const unexplainedName = (chainId: ChainId): string => `payins:${chainId}:unexplained`;

class Unexplained extends Error {
  override readonly name = 'Unexplained';
}

/** Records its findings whether or not they add up; the deposit stays listed until they do. Reading it again changes nothing. */
export function unexplainedWorker(deps: UnexplainedDeps): Worker<UnexplainedDeposit> {
  const { ingester, due, alarm } = deps;
  return {
    name: unexplainedName(ingester.chainId),
    concurrency: 2,
    noted: true,
    due,
    keyOf: ({ key }) => key,
    async act({ key: address }, signal) {
      const { logs, explained } = await ingester.readDeposit(address, signal);
      if (logs.length > 0) await handleRange(deps, 'final', { logs, orphaned: [] }, signal);
      if (explained) return;
      alarm(address);
      throw new Unexplained(
        `no node has the whole history of deposit ${address}: name a node with a longer history, then run npm run work -- retry`,
      );
    },
  };
}
