/** Drives each transfer that is owed on one chain until it is settled: whatever its owner's step says, one step after the other. */
import type { Clock, CrashPoint } from '../../../commands/ports.ts';
import {
  BroadcastRefused,
  type Fate,
  isDecided,
  loadFrom,
  nothingToProve,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
  SigningRefused,
  type TransferOwners,
} from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { assert, isRefusal, type Refusal } from '../../../domain/decider.ts';
import { epochMs, hour_ms, type Instant, instant, minute_ms } from '../../../domain/time.ts';
import { contenders, isSpent, liveAttempts } from '../../../domain/transfer/leg.ts';
import { floatTaken, referenceOf, type SignedAttempt, type TransferKey } from '../../../domain/transfer/shapes.ts';
import { accountReasons } from '../../../domain/transfer/waiting.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';
import { giveUpNonce } from './cancels.ts';
import { createTransferNews, knownFate, sentOf, stuckAfter_ms, type TransferNewsDeps } from './fate.ts';
import { mustWait, type SignDeps, signTransfer } from './sign.ts';
import type { UnsettledAmounts } from './unsettledAmounts.ts';

// A transfer's stream is read before anything is done for it. To know it as this process last did is enough where nothing is done: what has
// just been seen to owe nothing stays in the list until the read models know of it, and many wait for the same account. And what was just
// ordered is as it was appended.

/** After so long somebody else's word is heard. */
const heardAfter_ms = 2_000;

export interface LoadingDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly owners: TransferOwners;
}

export interface Loading {
  /** As an action on it begins. Undefined where nothing is to be done. @param mustWait whether it is left alone as it was last known */
  first(key: TransferKey, mustWait: (known: Outgoing) => boolean): Promise<Outgoing | undefined>;
  /** After a step was taken. */
  next(key: TransferKey, taken: Pick<Outgoing, 'step'>): Promise<Outgoing | undefined>;
}

export function createLoading({ clock, owners }: LoadingDeps): Loading {
  const readAt = boundedTimes();
  const asKnown = (key: TransferKey) => loadFrom(owners, key, { asKnown: true });

  function read(key: TransferKey): Promise<Outgoing | undefined> {
    readAt.set(referenceOf(key), epochMs(clock.now()));
    return loadFrom(owners, key);
  }

  return {
    async first(key, mustWait) {
      const age_ms = epochMs(clock.now()) - (readAt.get(referenceOf(key)) ?? Number.NEGATIVE_INFINITY);
      if (age_ms >= heardAfter_ms) return read(key);
      const known = await asKnown(key);
      return known === undefined || isIdle(known) || mustWait(known) ? undefined : read(key);
    },
    async next(key, { step }) {
      const known = await asKnown(key);
      return known === undefined || isIdle(known) || step.do === 'order' ? known : read(key);
    },
  };
}

const isIdle = ({ step }: Outgoing): boolean => step.do === 'done' || step.do === 'hold';

// Recorded bytes are sent until their fate is known, now and then, and it is remembered how long every node refuses them.

export interface SendingDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly crash: CrashPoint;
  readonly rail: Pick<PayoutRail, 'broadcast' | 'refusalKind'>;
  /** Told each time that every node that answers refuses bytes. @param kind what they mean, in one word */
  readonly refused?: (kind: string, detail: string) => void;
}

/** Bytes that the chain does not show are sent again so often. */
export const rebroadcast_ms = 4_000;

export function createSending({ clock, crash, rail, refused }: SendingDeps) {
  const sentAt = boundedTimes();
  /** Since when every node that answers refuses what a transfer sends. */
  const refusedSince = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  return {
    /** Whether this process has sent it. */
    hasSent: ({ hash }: SignedAttempt): boolean => sentAt.get(hash) !== undefined,

    isRefusedForLong: ({ purpose }: Outgoing): boolean =>
      now_ms() - (refusedSince.get(purpose.reference) ?? Number.POSITIVE_INFINITY) >= stuckAfter_ms,

    /** Sends the latest attempt alone: it has outbid the others, and a node's refusal of those must not stop it. @throws BroadcastRefused, ChainUnavailable */
    async send({ purpose: { kind, reference } }: Outgoing, { hash, bytes }: SignedAttempt): Promise<void> {
      if (now_ms() - (sentAt.get(hash) ?? 0) < rebroadcast_ms) return;
      sentAt.set(hash, now_ms());
      await crash(`${kind}.beforeBroadcast`);
      await rail.broadcast(bytes).catch((error) => {
        // Nodes that do not answer refuse nothing.
        if (error instanceof BroadcastRefused) noteRefused(reference, error);
        else refusedSince.delete(reference);
        throw error;
      });
      refusedSince.delete(reference);
      await crash(`${kind}.afterBroadcast`);
    },
  };

  function noteRefused(reference: string, { refusals }: BroadcastRefused): void {
    if (refusedSince.get(reference) === undefined) refusedSince.set(reference, now_ms());
    for (const detail of refusals) refused?.(rail.refusalKind?.(detail) ?? 'other', detail);
  }
}

// How long a transfer that cannot go on now is left alone. Waiting is no failure: nothing is set aside for it.

/** What waits for float, gas or an operator is tried again so often. */
const retry_ms = 5_000;

/**
 * A token seldom takes back a refusal, spent attempts wait for an operator, and nodes are seldom mended at once: such transfers are tried
 * ever more rarely, up to these pauses, so that many of them do not hold up the others.
 */
const rarely_ms: Readonly<Record<string, number>> = {
  refusedByToken: hour_ms,
  formUnknown: hour_ms,
  attemptsSpent: hour_ms,
  fundingUnproven: minute_ms,
  perHour: minute_ms,
  appPerHour: minute_ms,
  coinPerHour: minute_ms,
  owed: minute_ms,
  addressNotInBook: minute_ms,
};

export type Waits = ReturnType<typeof createWaits>;

/** @param look_ms how often it is asked whether an account is free again */
export function createWaits(clock: Pick<Clock, 'now'>, look_ms: number) {
  const recheckAt = boundedTimes();
  /** Until when nothing is tried for an app that has used up its share: what one of its transfers was told the others need not ask. */
  const appFullUntil = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  function pause_ms(reason: string, waited_ms: number): number {
    if (reason === 'treasuryBusy') return look_ms;
    return Math.min(Math.max(retry_ms, waited_ms / 2), rarely_ms[reason] ?? retry_ms);
  }

  return {
    isDue: (reference: string, now: Instant): boolean => (recheckAt.get(reference) ?? 0) <= epochMs(now),
    /** How many are left alone. */
    count: (now: Instant): number => recheckAt.countAfter(epochMs(now)),
    next(now: Instant): Instant | null {
      const next_ms = recheckAt.nextAfter(epochMs(now));
      return Number.isFinite(next_ms) ? instant(next_ms) : null;
    },
    pause: (reference: string, duration_ms: number): void => recheckAt.set(reference, now_ms() + duration_ms),

    /** Left alone for as long as the reason deserves; what can land already is looked at as often as ever. */
    wait({ purpose, leg, appId, owedSince }: Outgoing, reason: string): void {
      const waited_ms = liveAttempts(leg).length === 0 ? now_ms() - epochMs(owedSince) : 0;
      recheckAt.set(purpose.reference, now_ms() + pause_ms(reason, waited_ms));
      if (reason === 'appPerHour' && appId !== null && !isFull(appId)) appFullUntil.set(appId, now_ms() + retry_ms);
    },

    isAppFull: ({ appId, leg }: Outgoing): boolean => appId !== null && liveAttempts(leg).length === 0 && isFull(appId),
  };

  function isFull(appId: string): boolean {
    return (appFullUntil.get(appId) ?? 0) > now_ms();
  }
}

export interface TransfersDeps
  extends Omit<SignDeps, 'unsettled' | 'stillFunded' | 'waited'>,
    Omit<TransferNewsDeps, 'clock'>,
    Pick<SendingDeps, 'refused'> {
  readonly owners: TransferOwners;
  readonly unsettledAmounts: UnsettledAmounts;
  /** Transfers on this chain whose next step is to be taken, due and not parked. */
  readonly due: (max: number, now: Instant) => Promise<readonly TransferItem[]>;
  /** How often the chain is asked what became of an attempt. */
  readonly poll_ms: number;
  /** Of the worker. Default: that of the chain's payouts. */
  readonly name?: string;
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
  const { clock, rail, owners, poll_ms, look_ms, inTurn, unsettledAmounts } = deps;
  const waits = createWaits(clock, look_ms);
  const loading = createLoading(deps);
  const sending = createSending(deps);
  const news = createTransferNews(deps);

  return {
    name: deps.name ?? transfersWorkerName(rail.chainId),
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
      const recorded = () => unsettledAmounts.signed(purpose.reference, leg.order.token, floatTaken(leg.order));
      const waited = ({ refused, message }: Refusal) => news.waits(outgoing, refused, message);
      const signing = { ...deps, unsettled: unsettledAmounts.of, stillFunded, recorded, waited };
      const outcome = await signTransfer(signing, owner, outgoing, signal);
      if (isRefusal(outcome) && waitsFor.has(outcome.refused)) return wait(outgoing, outcome.refused, outcome.message);
      return accepted(outcome);
    } catch (error) {
      if (!(error instanceof PayoutBlocked || error instanceof SigningRefused)) throw error;
      if (await owner.cannotSign?.(key, error)) return true;
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
      unsettledAmounts.ended(purpose.reference);
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
