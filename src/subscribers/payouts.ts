/** Drives each funded payment to its settled payout: whatever `nextStep` says, one step after the other. */

import { PayoutBlocked, type PayoutRail, type Signer, SigningRefused } from '../../commands/chainPorts.ts';
import type { Handle } from '../../commands/handle.ts';
import type { Clock, CrashPoint } from '../../commands/ports.ts';
import { loadPayment, requestPayout, settlePayout } from '../../commands/settlePayout.ts';
import { signPayout } from '../../commands/signPayout.ts';
import type { ChainId } from '../../domain/chains.ts';
import { chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { nextStep, type Step } from '../../domain/payment/next.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import type { Worker } from './worker.ts';

export interface DuePayment {
  readonly paymentId: string;
}

export interface PayoutsDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly crash: CrashPoint;
  readonly rails: ReadonlyMap<ChainId, { readonly rail: PayoutRail; readonly signer: Signer }>;
  /** Payments whose next step is a payout's, due and not parked. */
  readonly due: (max: number, now: Instant) => Promise<readonly DuePayment[]>;
  /** A payout that has to wait for an operator: float, gas, a paused or inconsistent treasury. */
  readonly alarm: (paymentId: string, reason: string, message: string) => void;
}

/** requestPayout, sign, broadcast, and one more after a proven death. */
const stepsPerActMax = 6;
/** Bytes that the chain does not show are sent again this often. */
const rebroadcast_ms = 4_000;
/** A live attempt that is not mined for so long is outbid. */
const bumpAfter_ms = 90_000;
const remembered_max = 10_000;
/** A payout that waits for float, gas or an operator is looked at again so often; waiting is no failure and never bounces it. */
const blockedRetry_ms = 5_000;

const waitsFor: ReadonlySet<string> = new Set(['treasuryBusy', 'treasuryPaused', 'treasuryBehindChain']);

/** A step could not be made now; the item is tried again later and shows as failed until then. */
export class StepRefused extends Error {
  override readonly name = 'StepRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.refused}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

export function payoutsWorker(deps: PayoutsDeps): Worker<DuePayment> {
  const { handle, clock, crash, rails } = deps;
  const sentAt = boundedTimes();
  const lookAgainAt = boundedTimes();
  const lanes = new Map<ChainId, Promise<unknown>>();

  return {
    name: 'payouts',
    concurrency: 16,
    async due(max, now) {
      const now_ms = epochMs(now);
      // Those that wait are in the list too: asked for on top, they cannot crowd out the others.
      const items = await deps.due(max + lookAgainAt.countAfter(now_ms), now);
      return items.filter(({ paymentId }) => (lookAgainAt.get(paymentId) ?? 0) <= now_ms).slice(0, max);
    },
    keyOf: ({ paymentId }) => paymentId,
    async act({ paymentId }, signal) {
      for (let steps = 0; steps < stepsPerActMax && !signal.aborted; steps += 1) {
        const payment = await loadPayment(handle, paymentId);
        const step = nextStep(payment, clock.now());
        if (!payment || !(await take(payment, step, signal))) return;
      }
    },
  };

  /** @returns whether the payment moved on, so that its next step may be due at once */
  async function take(payment: Payment, step: Step, signal: AbortSignal): Promise<boolean> {
    switch (step.do) {
      case 'requestPayout':
        return accepted(await requestPayout({ handle, clock }, payment));
      case 'sign':
        return await sign(payment, signal);
      case 'broadcast':
        return await settle(payment, step, signal);
      default:
        return false;
    }
  }

  async function sign(payment: Payment, signal: AbortSignal): Promise<boolean> {
    try {
      const outcome = await inLane(payment, signal);
      if (!isRefusal(outcome) || !waitsFor.has(outcome.refused)) return accepted(outcome);
      return wait(payment, outcome.refused, outcome.message);
    } catch (error) {
      if (error instanceof PayoutBlocked || error instanceof SigningRefused)
        return wait(payment, error.reason, error.message);
      throw error;
    }
  }

  /** One at a time per account: between a nonce taken and its bytes recorded nobody else takes the next. */
  function inLane(payment: Payment, signal: AbortSignal) {
    const { rail, signer, chainId } = railOf(payment);
    const turn = (lanes.get(chainId) ?? Promise.resolve()).then(() =>
      signPayout({ handle, clock, rail, signer, crash }, payment, signal),
    );
    const settled = turn.then(
      () => {},
      () => {},
    );
    lanes.set(chainId, settled);
    return turn;
  }

  function wait({ terms }: Payment, reason: string, message: string): false {
    const busy = reason === 'treasuryBusy';
    if (!busy) deps.alarm(terms.paymentId, reason, message);
    const again_ms = busy ? chainOf(terms.destination.chainId).block_ms : blockedRetry_ms;
    lookAgainAt.set(terms.paymentId, epochMs(clock.now()) + again_ms);
    return false;
  }

  async function settle(
    payment: Payment,
    { attempts }: Extract<Step, { do: 'broadcast' }>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { rail, chainId } = railOf(payment);
    const fate = await rail.fate(attempts, signal);
    if (fate.kind === 'final' || fate.kind === 'dead') {
      return accepted(await settlePayout({ handle, clock }, payment, fate));
    }
    const now_ms = epochMs(clock.now());
    for (const { hash, bytes } of attempts) {
      if (now_ms - (sentAt.get(hash) ?? 0) < rebroadcast_ms) continue;
      await crash('payout.beforeBroadcast');
      await rail.broadcast(bytes);
      await crash('payout.afterBroadcast');
      sentAt.set(hash, now_ms);
    }
    const latest = attempts.at(-1);
    if (fate.kind === 'pending' && !fate.mined && latest && now_ms - Date.parse(latest.signedAt) > bumpAfter_ms) {
      return await sign(payment, signal);
    }
    lookAgainAt.set(payment.terms.paymentId, now_ms + Math.min(chainOf(chainId).block_ms, rebroadcast_ms));
    return false;
  }

  function railOf(payment: Payment) {
    const chainId = payment.terms.destination.chainId;
    const found = rails.get(chainId);
    if (!found) throw new Error(`no payout rail for chain ${chainId}: configure its RPC_URL_${chainId}`);
    return { ...found, chainId };
  }
}

function accepted(outcome: { readonly appended: number } | Refusal): boolean {
  if (isRefusal(outcome)) throw new StepRefused(outcome);
  return outcome.appended > 0;
}

/** When something last happened, by key; forgets the oldest. Losing it costs a needless look, never money. */
function boundedTimes() {
  const times = new Map<string, number>();
  return {
    get: (key: string) => times.get(key),
    countAfter: (at_ms: number) => [...times.values()].filter((time_ms) => time_ms > at_ms).length,
    set(key: string, at_ms: number) {
      times.delete(key);
      times.set(key, at_ms);
      if (times.size > remembered_max) for (const oldest of times.keys()) return void times.delete(oldest);
    },
  };
}
