/** Drives each transfer that is owed on one chain until it is settled: whatever its owner's step says, one step after the other. */

import { nothingToProve, type Outgoing, type TransferOwners } from '../../../commands/outgoing.ts';
import { type Fate, isDecided, PayoutBlocked, SigningRefused } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { assert, isRefusal, type Refusal } from '../../../domain/decider.ts';
import { epochMs, type Instant } from '../../../domain/time.ts';
import { floatTaken } from '../../../domain/transfer/form.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/key.ts';
import { contenders, isSpent, liveAttempts } from '../../../domain/transfer/leg.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { accountReasons } from '../../../domain/transfer/waiting.ts';
import type { Worker } from '../engine.ts';
import { giveUpNonce } from './cancels.ts';
import { knownFate, sentOf } from './fate.ts';
import { createLoading } from './loading.ts';
import { createTransferNews, type TransferNewsDeps } from './news.ts';
import { createSending, rebroadcast_ms, type SendingDeps } from './sending.ts';
import { mustWait, type SignDeps, signTransfer } from './sign.ts';
import type { Underway } from './unsettledAmounts.ts';
import { createWaits } from './waits.ts';

export interface TransfersDeps
  extends Omit<SignDeps, 'unsettled' | 'stillFunded' | 'waited'>,
    Omit<TransferNewsDeps, 'clock'>,
    Pick<SendingDeps, 'refused'> {
  readonly owners: TransferOwners;
  readonly underway: Underway;
  /** Transfers on this chain whose next step is to be taken, due and not parked. */
  readonly due: (max: number, now: Instant) => Promise<readonly TransferItem[]>;
  /** How often the chain is asked what became of an attempt. */
  readonly poll_ms: number;
}

export interface TransferItem {
  readonly key: TransferKey;
  /** Whose share of the workers it takes; null for the treasury's own, which have one together. */
  readonly appId: string | null;
}

/** An account has sixteen that are not mined, which are looked at, and meanwhile as many are prepared, or wait for a nonce. */
const concurrency = 32;
/** Of these, one app has so many at most. */
const perAppMax = 24;

/** order, sign, broadcast, one more after a proven death, and what a batch tells its members in between. */
const stepsPerActMax = 10;
/** What is paid with others looks so often whether it missed what its batch decided. */
const batchedAgain_ms = 30_000;
/** A live attempt that is not mined for so long is outbid, where its nonce lets only one of the two land. */
const bumpAfter_ms = 90_000;

/** What was signed no longer ago is sent before the chain is asked what became of it. */
const new_ms = 5_000;

const waitsFor: ReadonlySet<string> = new Set(accountReasons);

/** A step could not be made now; the item is tried again later and shows as failed until then. */
export class StepRefused extends Error {
  override readonly name = 'StepRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.refused}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

/** Each chain has its own: nodes that do not answer hold up no other chain's transfers. Its failures were first noted when all were payouts. */
export const transfersWorkerName = (chainId: ChainId): string => `payouts:${chainId}`;

export function transfersWorker(deps: TransfersDeps): Worker<TransferItem> {
  const { clock, rail, owners, poll_ms, look_ms, inTurn, underway } = deps;
  const waits = createWaits(clock, look_ms);
  const loading = createLoading(deps);
  const sending = createSending(deps);
  const news = createTransferNews(deps);

  return {
    name: transfersWorkerName(rail.chainId),
    concurrency,
    async due(max, now) {
      // Those that wait are in the list as well: it is asked for so many more, and they crowd out no other.
      const items = await deps.due(max + waits.count(now), now);
      return items.filter(({ key }) => waits.isDue(referenceOf(key), now)).slice(0, max);
    },
    nextDue: waits.next,
    keyOf: ({ key }) => referenceOf(key),
    share: { max: perAppMax, of: ({ appId }) => appId ?? '' },
    async act({ key }, signal) {
      let outgoing = await loading.first(key, mustBeLeft);
      for (let steps = 0; steps < stepsPerActMax && outgoing && !signal.aborted; steps += 1) {
        if (!(await take(outgoing, signal))) return;
        outgoing = await loading.next(key, outgoing);
      }
    },
  };

  /** @returns whether the transfer moved on, so that its next step may be due at once */
  async function take(outgoing: Outgoing, signal: AbortSignal): Promise<boolean> {
    const { key, step } = outgoing;
    switch (step.do) {
      case 'order':
        return accepted((await ownerOf(outgoing).order?.(key)) ?? { appended: 0 });
      case 'sign':
        return await sign(outgoing, signal);
      case 'tell':
        return accepted((await ownerOf(outgoing).tell?.(key)) ?? { appended: 0 });
      case 'batched':
        return await copy(outgoing);
      case 'broadcast':
        return await follow(outgoing, step.attempts, signal);
      default:
        return false;
    }
  }

  /** Its batch tells it all; it looks for itself now and then. */
  async function copy(outgoing: Outgoing): Promise<boolean> {
    const copied = accepted((await ownerOf(outgoing).tell?.(outgoing.key)) ?? { appended: 0 });
    if (!copied) waits.pause(outgoing.purpose.reference, batchedAgain_ms);
    return copied;
  }

  function ownerOf({ key }: Outgoing) {
    const owner = owners[key.kind];
    assert(owner !== undefined, 'what was loaded has an owner');
    return owner;
  }

  async function sign(outgoing: Outgoing, signal: AbortSignal): Promise<boolean> {
    const { key, purpose, leg } = outgoing;
    const owner = ownerOf(outgoing);
    if (mustBeLeft(outgoing)) return false;
    if (waits.isAppFull(outgoing))
      return wait(outgoing, 'appPerHour', 'the app has used up its share of what an hour allows');
    try {
      // What can land already is paid whatever becomes of the money.
      const lands = liveAttempts(leg).length > 0;
      const stillFunded = lands ? nothingToProve : ((await owner.proveFunding?.(key, signal)) ?? nothingToProve);
      const recorded = () => underway.signed(purpose.reference, leg.order.token, floatTaken(leg.order));
      const waited = ({ refused, message }: Refusal) => news.waits(outgoing, refused, message);
      const signing = { ...deps, unsettled: underway.of, stillFunded, recorded, waited };
      const outcome = await signTransfer(signing, owner, outgoing, signal);
      if (isRefusal(outcome) && waitsFor.has(outcome.refused)) return wait(outgoing, outcome.refused, outcome.message);
      return accepted(outcome);
    } catch (error) {
      if (!(error instanceof PayoutBlocked || error instanceof SigningRefused)) throw error;
      if (await owner.cannotSign?.(key, error.message)) return true;
      return wait(outgoing, error.reason, error.message);
    }
  }

  /** Where nothing can be signed for now. Asks nobody. */
  function mustBeLeft(outgoing: Outgoing): boolean {
    const busy = outgoing.step.do === 'sign' ? mustWait(deps, outgoing, poll_ms) : undefined;
    if (busy) wait(outgoing, busy.refused, busy.message);
    return busy !== undefined;
  }

  function wait(outgoing: Outgoing, reason: string, message: string): false {
    news.waits(outgoing, reason, message);
    waits.wait(outgoing, reason);
    return false;
  }

  async function follow(outgoing: Outgoing, attempts: readonly SignedAttempt[], signal: AbortSignal): Promise<boolean> {
    const { key, purpose, leg } = outgoing;
    const newest = attempts.at(-1);
    if (newest && isNew(newest)) {
      await sending.send(outgoing, newest);
      waits.pause(purpose.reference, Math.min(poll_ms, rebroadcast_ms));
      return false;
    }
    const fate = await knownFate(deps, key, sentOf(leg.order, contenders(leg)), signal);
    if (isRefusal(fate)) return wait(outgoing, fate.refused, fate.message);
    if (isDecided(fate)) {
      underway.ended(purpose.reference);
      const moved = accepted(await ownerOf(outgoing).conclude(key, fate));
      if (moved && fate.kind === 'short') news.fellShort(outgoing, fate);
      return moved;
    }
    if (fate.kind === 'pending' && fate.dispute) news.tellOnce(outgoing, fate.dispute.reason, fate.dispute.message);
    news.ifStuck(outgoing, attempts[0], fate);
    const latest = attempts.at(-1);
    const isMined = fate.kind === 'pending' && fate.mined;
    const signed = latest && !isMined ? await push(outgoing, latest, fate, signal) : undefined;
    if (signed !== undefined) return signed;
    waits.pause(purpose.reference, Math.min(poll_ms, rebroadcast_ms));
    return false;
  }

  /** Signed a moment ago and not sent by this process: the chain has nothing to tell of it yet. */
  function isNew(attempt: SignedAttempt): boolean {
    return !sending.hasSent(attempt) && epochMs(clock.now()) - epochMs(attempt.signedAt) < new_ms;
  }

  /**
   * Sends the latest attempt again; outbids it when that is in vain for long, and gives its nonce up when no node takes it for longer.
   * @returns whether it was outbid; undefined when it was not yet to be
   */
  async function push(
    outgoing: Outgoing,
    latest: SignedAttempt,
    fate: Fate,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const maySign = outgoing.mayOutbid && !isSpent(outgoing.leg);
    const late = maySign && epochMs(clock.now()) - epochMs(latest.signedAt) > bumpAfter_ms;
    // Nodes drop, or refuse, what has become too cheap: an attempt sent in vain for long is outbid like one that waits.
    const outbid = late && latest.nonce !== null && (fate.kind === 'pending' || sending.hasSent(latest));
    const failure = await sending.send(outgoing, latest).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (fate.kind === 'unknown' && sending.isRefusedForLong(outgoing))
      await news.unlessBlocked(outgoing, () => inTurn(() => giveUpNonce(deps, latest)));
    if (failure && !outbid) throw failure.error;
    return outbid ? await sign(outgoing, signal) : undefined;
  }
}

function accepted(outcome: { readonly appended: number } | Refusal): boolean {
  if (isRefusal(outcome)) throw new StepRefused(outcome);
  return outcome.appended > 0;
}
