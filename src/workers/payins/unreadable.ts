/** Transactions that cannot be read: each is set aside and tried by itself, so that none holds up its chain, nor another customer. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { TransientError } from '../../../commands/ports.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import { payinAddress } from '../../../domain/payment/payins.ts';
import { hour_ms, type Instant } from '../../../domain/time.ts';
import { RpcFailed } from '../../chains/node/jsonRpc.ts';
import { ChainUnavailable } from '../../chains/node/nodes.ts';
import { unreadableName } from '../../postgres/unreadable.ts';
import type { Worker } from '../engine.ts';
import { type RangeDeps, recordAnew } from './range.ts';

/** A transaction that was set aside. */
interface SetAside {
  /** Its hash. */
  readonly key: string;
  /** Deposits that it may have paid; empty where nothing tells. */
  readonly addresses: readonly string[];
}

export interface UnreadableDeps extends RangeDeps {
  /** Noted under this worker's name, due and not left to an operator. */
  readonly due: (max: number, now: Instant) => Promise<readonly SetAside[]>;
}

/** How it is tried: about an hour and a half long, ever more seldom; then it waits for an operator, and no payment waits for it. */
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
 * What is found is recorded as the scan records it, and asked for again until it is final: recording it again changes nothing. A crash
 * in between leaves the note, so that it is read once more. An answer without all that it may have paid is no answer: a node lags, has
 * lost a part of its history, or shows all but the one event. Only an operator forgets it.
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

/** All of it. What a transaction cannot show is its own failure; that no node answers anything is not. @throws ChainUnavailable */
async function lookUp(ingester: Ingester, txHash: string, signal: AbortSignal): Promise<readonly Transfer[] | Unread> {
  try {
    return await ingester.lookUp(txHash, signal, 'whole');
  } catch (error) {
    if (isCrowded(error)) throw error;
    if (error instanceof TransientError) await ingester.head(signal);
    return new Unread(error instanceof Error ? error.message : String(error));
  }
}

/** Money that can be read does not wait for what is beside it in the same transaction. */
const readableOf = (ingester: Ingester, txHash: string, signal: AbortSignal): Promise<readonly Transfer[]> =>
  ingester.lookUp(txHash, signal).catch(() => []);

/** Calls of the head may be taken while these wait in vain: that says nothing of the transaction. */
const isCrowded = (error: unknown): boolean =>
  error instanceof ChainUnavailable &&
  error.failures.length > 0 &&
  error.failures.every((failure) => failure instanceof RpcFailed && failure.kind === 'limited');
