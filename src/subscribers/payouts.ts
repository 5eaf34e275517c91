/** Drives each funded payment to its settled payout on one chain: whatever `nextStep` says, one step after the other. */

import { currentState } from '../../commands/handle.ts';
import { giveUpNonce } from '../../commands/transfers/cancels.ts';
import { knownFate, stuckAfter_ms } from '../../commands/transfers/knownFate.ts';
import { BroadcastRefused, type Fate, PayoutBlocked, SigningRefused } from '../../commands/transfers/ports.ts';
import { isDecided, settlePayout } from '../../commands/transfers/settle.ts';
import { mustWait, requestPayout, type SignDeps, signPayout } from '../../commands/transfers/sign.ts';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { nextStep, type Step } from '../../domain/payment/next.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import { epochMs, hour_ms, type Instant, instant, minute_ms } from '../../domain/time.ts';
import { isSpent, liveAttempts } from '../../domain/transfer/leg.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import type { PaymentKey } from '../../queries/work.ts';
import { nothingToProve, type ProveFunding } from './fundingProof.ts';
import { createPayoutNews, type PayoutNewsDeps } from './payoutNews.ts';
import type { Underway } from './underway.ts';
import { boundedTimes, type Worker } from './worker.ts';

export interface PayoutsDeps extends Omit<SignDeps, 'unsettled' | 'stillFunded'>, Omit<PayoutNewsDeps, 'clock'> {
  readonly underway: Underway;
  /** Payments whose next step is a payout's on this chain, due and not parked. */
  readonly due: (max: number, now: Instant) => Promise<readonly PayoutItem[]>;
  /** Asked right before a transfer is signed. */
  readonly proveFunding: ProveFunding;
  /** How often the chain is asked what became of an attempt. */
  readonly poll_ms: number;
  /** One at a time per treasury: between a nonce taken and its bytes recorded nobody else takes the next. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told each time that every node that answers refuses bytes. @param kind what they mean, in one word */
  readonly refused?: (kind: string, detail: string) => void;
}

export interface PayoutItem extends PaymentKey {
  /** Whose payment it is; left out, its own share is never used up. */
  readonly appId?: string;
}

const concurrency = 16;
/** Of these, one app has so many at most. */
const perAppMax = 12;

/** requestPayout, sign, broadcast, and one more after a proven death. */
const stepsPerActMax = 6;
/** Bytes that the chain does not show are sent again so often. */
const rebroadcast_ms = 4_000;
/** A live attempt that is not mined for so long is outbid, where its nonce lets only one of the two land. */
const bumpAfter_ms = 90_000;
/** A payout that waits for float, gas or an operator is tried again so often. Waiting is no failure: it is never parked for it. */
const blockedRetry_ms = 5_000;

const waitsFor: ReadonlySet<string> = new Set([
  'treasuryBusy',
  'treasuryPaused',
  'treasuryBehindChain',
  'attemptsSpent',
]);

/**
 * A token seldom takes back a refusal, spent attempts wait for an operator, and nodes are seldom mended at once: such payouts are tried ever
 * more rarely, up to these pauses, so that many of them do not hold up the others.
 */
const rarely_ms: Readonly<Record<string, number>> = {
  refusedByToken: hour_ms,
  attemptsSpent: hour_ms,
  fundingUnproven: minute_ms,
  perHour: minute_ms,
  appPerHour: minute_ms,
  coinPerHour: minute_ms,
};

/** A step could not be made now; the item is tried again later and shows as failed until then. */
export class StepRefused extends Error {
  override readonly name = 'StepRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.refused}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

/** Each chain has its own: nodes that do not answer hold up no other chain's payouts. */
export const payoutsWorkerName = (chainId: ChainId): string => `payouts:${chainId}`;

export function payoutsWorker(deps: PayoutsDeps): Worker<PayoutItem> {
  const { handle, clock, crash, rail, poll_ms, inTurn, underway } = deps;
  const sentAt = boundedTimes();
  const recheckAt = boundedTimes();
  /** Since when every node that answers refuses what a payment's payout sends. */
  const refusedSince = boundedTimes();
  const news = createPayoutNews(deps);
  /** Until when nothing is tried for an app that has used up its share: what one of its payouts was told the others need not ask. */
  const appFullUntil = boundedTimes();

  return {
    name: payoutsWorkerName(rail.chainId),
    concurrency,
    async due(max, now) {
      const now_ms = epochMs(now);
      // Those that wait are in the list as well: it is asked for so many more, and they crowd out no other.
      const items = await deps.due(max + recheckAt.countAfter(now_ms), now);
      return items.filter(({ paymentId }) => (recheckAt.get(paymentId) ?? 0) <= now_ms).slice(0, max);
    },
    nextDue(now) {
      const next_ms = recheckAt.nextAfter(epochMs(now));
      return Number.isFinite(next_ms) ? instant(next_ms) : null;
    },
    keyOf: ({ paymentId }) => paymentId,
    share: { max: perAppMax, of: ({ appId, paymentId }) => appId ?? paymentId },
    async act({ paymentId }, signal) {
      for (let steps = 0; steps < stepsPerActMax && !signal.aborted; steps += 1) {
        const payment = await currentState(handle, paymentDecider, paymentId);
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
        return await settle(payment, step.attempts, signal);
      default:
        return false;
    }
  }

  async function sign(payment: Payment, signal: AbortSignal): Promise<boolean> {
    if (mustWait(deps, payment, poll_ms)) return wait(payment, 'treasuryBusy', 'the account was busy a moment ago');
    if (isAppFull(payment)) return wait(payment, 'appPerHour', 'the app has used up its share of what an hour allows');
    try {
      // What can land already is paid whatever becomes of the money.
      const lands = payment.payout !== null && liveAttempts(payment.payout).length > 0;
      const stillFunded = lands ? nothingToProve : await deps.proveFunding(payment, signal);
      const signing = { ...deps, unsettled: underway.of, stillFunded };
      const outcome = await inTurn(() => signPayout(signing, payment, signal));
      if (isRefusal(outcome) && waitsFor.has(outcome.refused)) return wait(payment, outcome.refused, outcome.message);
      const signed = accepted(outcome);
      const order = payment.payout?.order;
      if (order) underway.signed(payment.terms.paymentId, order.token, order.amount);
      return signed;
    } catch (error) {
      if (!(error instanceof PayoutBlocked || error instanceof SigningRefused)) throw error;
      if (error.reason === 'appPerHour') appFullUntil.set(payment.terms.appId, epochMs(clock.now()) + blockedRetry_ms);
      return wait(payment, error.reason, error.message);
    }
  }

  function isAppFull({ terms: { appId }, payout }: Payment): boolean {
    const nothingLands = payout === null || liveAttempts(payout).length === 0;
    return nothingLands && (appFullUntil.get(appId) ?? 0) > epochMs(clock.now());
  }

  function wait({ terms, funded, payout }: Payment, reason: string, message: string): false {
    const now_ms = epochMs(clock.now());
    const waited_ms = now_ms - epochMs(funded?.fundedAt ?? clock.now());
    const nothingLands = payout === null || liveAttempts(payout).length === 0;
    news.waits(terms.paymentId, reason, message);
    recheckAt.set(terms.paymentId, now_ms + pause_ms(reason, nothingLands ? waited_ms : 0));
    return false;
  }

  function pause_ms(reason: string, waited_ms: number): number {
    if (reason === 'treasuryBusy') return poll_ms;
    const most_ms = rarely_ms[reason] ?? blockedRetry_ms;
    return Math.min(Math.max(blockedRetry_ms, waited_ms / 2), most_ms);
  }

  async function settle(payment: Payment, attempts: readonly SignedAttempt[], signal: AbortSignal): Promise<boolean> {
    const fate = await knownFate(deps, attempts, signal);
    if (isRefusal(fate)) return wait(payment, fate.refused, fate.message);
    if (isDecided(fate)) {
      underway.ended(payment.terms.paymentId);
      const moved = accepted(await settlePayout({ handle, clock }, payment, fate));
      if (moved && fate.kind === 'short') news.fellShort(payment, fate);
      return moved;
    }
    if (fate.kind === 'pending' && fate.dispute)
      news.tellOnce(payment.terms.paymentId, fate.dispute.reason, fate.dispute.message);
    news.ifStuck(payment, attempts[0], fate);
    const latest = attempts.at(-1);
    const signed =
      latest && !(fate.kind === 'pending' && fate.mined) ? await push(payment, latest, fate, signal) : undefined;
    if (signed !== undefined) return signed;
    recheckAt.set(payment.terms.paymentId, epochMs(clock.now()) + Math.min(poll_ms, rebroadcast_ms));
    return false;
  }

  /**
   * Sends the latest attempt again; outbids it when that is in vain for long, and gives its nonce up when no node takes it for longer.
   * @returns whether it was outbid; undefined when it was not yet to be
   */
  async function push(
    payment: Payment,
    latest: SignedAttempt,
    fate: Fate,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { paymentId } = payment.terms;
    const maySign = payment.payoutHeld === null && !(payment.payout && isSpent(payment.payout));
    const late = maySign && epochMs(clock.now()) - epochMs(latest.signedAt) > bumpAfter_ms;
    // Nodes drop, or refuse, what has become too cheap: an attempt sent in vain for long is outbid like one that waits.
    const outbid = late && latest.nonce !== null && (fate.kind === 'pending' || sentAt.get(latest.hash) !== undefined);
    const failure = await send(paymentId, latest).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (fate.kind === 'unknown' && isRefusedForLong(paymentId))
      await news.unlessBlocked(paymentId, () => inTurn(() => giveUpNonce(deps, latest)));
    if (failure && !outbid) throw failure.error;
    return outbid ? await sign(payment, signal) : undefined;
  }

  function isRefusedForLong(paymentId: string): boolean {
    return epochMs(clock.now()) - (refusedSince.get(paymentId) ?? Number.POSITIVE_INFINITY) >= stuckAfter_ms;
  }

  /** Sends the latest attempt alone: it has outbid the others, and a node's refusal of those must not stop it. */
  async function send(paymentId: string, { hash, bytes }: SignedAttempt): Promise<void> {
    const now_ms = epochMs(clock.now());
    if (now_ms - (sentAt.get(hash) ?? 0) < rebroadcast_ms) return;
    sentAt.set(hash, now_ms);
    await crash('payout.beforeBroadcast');
    await rail.broadcast(bytes).catch((error) => {
      // Nodes that do not answer refuse nothing.
      if (error instanceof BroadcastRefused) noteRefused(paymentId, error);
      else refusedSince.delete(paymentId);
      throw error;
    });
    refusedSince.delete(paymentId);
    await crash('payout.afterBroadcast');
  }

  function noteRefused(paymentId: string, { refusals }: BroadcastRefused): void {
    if (refusedSince.get(paymentId) === undefined) refusedSince.set(paymentId, epochMs(clock.now()));
    for (const detail of refusals) deps.refused?.(rail.refusalKind?.(detail) ?? 'other', detail);
  }
}

function accepted(outcome: { readonly appended: number } | Refusal): boolean {
  if (isRefusal(outcome)) throw new StepRefused(outcome);
  return outcome.appended > 0;
}
