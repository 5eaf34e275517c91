/**
 * Looks up payins by transaction, besides the scan: at once for a registered hash, repeatedly for a transfer that a payment could not
 * accept.
 */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import { recordPayin, takenUp } from '../../../commands/recordPayin.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import { findRegisteredEmpty, payableChainsOf, paysInto } from '../../../domain/payment/payins.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Worker } from '../engine.ts';
import { type RangeDeps, recordAnew, Unproven } from './range.ts';

export interface PayinLookUpDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ingesters: ReadonlyMap<ChainId, Ingester>;
  readonly signal: AbortSignal;
}

const underWayMax = 50;
const triesMax = 8;
/** Minimum pause: faster blocks do not make payers faster. */
const pauseLeast_ms = 1_000;

/**
 * Looks a registered payin up at once instead of waiting for the scan. Only an acceleration: losing it is harmless.
 * @returns a function that starts the look-up without waiting for it
 */
export function createPayinLookUp({ handle, clock, ingesters, signal }: PayinLookUpDeps) {
  let underWay = 0;

  return (payment: Payment, txHash: string): void => {
    if (underWay >= underWayMax) return;
    underWay += 1;
    searchAll(payment, txHash).finally(() => {
      underWay -= 1;
    });
  };

  /** Searches every chain that can pay the payment: a hash does not reveal its chain. The chain that has it ends the others' search. */
  async function searchAll(payment: Payment, txHash: string): Promise<void> {
    const found = new AbortController();
    const until = AbortSignal.any([signal, found.signal]);
    const searches = payableChainsOf(payment).flatMap((chainId) => ingesters.get(chainId) ?? []);
    // The scan covers any failure here.
    await Promise.allSettled(
      searches.map(async (ingester) => {
        if (await search(ingester, payment, txHash, until)) found.abort();
      }),
    );
  }

  /** Nodes may differ by a block: only a transaction that succeeded before the look-up is known to transfer nothing. */
  async function isEmpty(ingester: Ingester, txHash: string): Promise<boolean> {
    if (!(await ingester.hasSucceeded?.(txHash, signal))) return false;
    return (await ingester.lookUp(txHash, signal)).length === 0;
  }

  async function recordEmpty({ paymentId, appId }: Payment['terms'], txHash: string): Promise<void> {
    const decide = (state: PaymentState) => findRegisteredEmpty(state, txHash, clock.now());
    await handle(paymentDecider, paymentId, decide, { cause: 'worker:payinLookUp', appId });
  }

  /** @returns true if the chain has the transaction */
  async function search(
    ingester: Ingester,
    { terms, deposits }: Payment,
    txHash: string,
    until: AbortSignal,
  ): Promise<boolean> {
    for (let tries = 0; tries < triesMax && !until.aborted; tries += 1) {
      const transfers = await ingester.lookUp(txHash, signal);
      const ours = transfers.filter((transfer) => paysInto(deposits, transfer));
      for (const transfer of ours) await recordPayin({ handle, clock }, terms, { transfer, final: false });
      if (ours.length > 0) return true;
      if (transfers.length > 0 || (await isEmpty(ingester, txHash))) {
        await recordEmpty(terms, txHash);
        return true;
      }
      await clock.sleep(Math.max(chainOf(ingester.chainId).block_ms, pauseLeast_ms), until);
    }
    return false;
  }
}

interface Parked {
  readonly key: string;
}

export interface ParkedPayinsDeps extends RangeDeps {
  /** Recorded under this worker's name, due and not parked. */
  readonly due: (max: number, now: Instant) => Promise<readonly Parked[]>;
}

export const parkedPayinsName = (chainId: ChainId): string => `payins:${chainId}:parked`;

/** Replaces a payment's id. */
const nobodys = '-';

/** Key of a recorded transfer. @param paymentId null for unmatched money */
export const parkedPayinKey = (paymentId: string | null, txHash: string): string => `${paymentId ?? nobodys} ${txHash}`;

/**
 * Retries transfers that a payment could not accept during the scan, which has continued without them. Records its findings as detected;
 * the final passes confirm detections in blocks that they have passed.
 */
export function parkedPayinsWorker(deps: ParkedPayinsDeps): Worker<Parked> {
  const { handle, clock, ingester, due } = deps;
  return {
    name: parkedPayinsName(ingester.chainId),
    concurrency: 2,
    noted: true,
    due,
    keyOf: ({ key }) => key,
    async act({ key }, signal) {
      const [paymentId = '', txHash = ''] = key.split(' ');
      if (paymentId === nobodys) return takeUnmatched(deps, txHash, signal);
      const payment = await currentState(handle, paymentDecider, paymentId);
      const transfers = await ingester.lookUp(txHash, signal);
      const found = transfers.filter((transfer) => payment && paysInto(payment.deposits, transfer));
      if (!payment || found.length === 0) throw new Error(`transaction ${txHash} shows no transfer to ${paymentId}`);
      for (const transfer of found) {
        const outcome = await recordPayin({ handle, clock }, payment.terms, { transfer, final: false });
        if (isRefusal(outcome)) throw new Error(`${outcome.refused}: ${outcome.message}`);
        if (!takenUp(outcome.state, transfer)) await keepBeyond(deps, payment, transfer, signal);
      }
    },
  };
}

/** Money beyond the payment's maximum. No row brings it to a final pass. @throws Unproven while too few nodes return it as final */
async function keepBeyond(
  { handle, clock, confirmationGate }: ParkedPayinsDeps,
  { terms }: Payment,
  transfer: Transfer,
  signal: AbortSignal,
): Promise<void> {
  if (!(await confirmationGate.isProven(transfer, { pass: 'final', agreed_usd: null }, signal))) throw new Unproven();
  await recordPayin({ handle, clock }, terms, { transfer, final: true });
}

/**
 * Money on which nodes disagreed during the scan. It may belong to a payment after all: the scanned node returned a different receiver.
 * @throws Unproven while too few nodes return the same
 */
async function takeUnmatched(deps: ParkedPayinsDeps, txHash: string, signal: AbortSignal): Promise<void> {
  const { ingester } = deps;
  const found = await ingester.lookUp(txHash, signal);
  const shared = found.filter(({ to }) => ingester.sharedAddresses.includes(to));
  if (shared.length === 0) throw new Unproven();
  // It is set aside already.
  const handled = await recordAnew({ ...deps, park: async () => {} }, shared, signal);
  if (handled.some(({ outcome }) => outcome === 'setAside')) throw new Unproven();
}
