/** Executes each owed transfer on one chain until it is settled: its owner's step, one after the other. */
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
import {
  accountReasons,
  floatTaken,
  referenceOf,
  type SignedAttempt,
  type TransferKey,
} from '../../../domain/transfer/shapes.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';
import { giveUpNonce } from './cancels.ts';
import { createTransferNews, knownFate, sentOf, stuckAfter_ms, type TransferNewsDeps } from './fate.ts';
import { mustWait, type SignDeps, signTransfer } from './sign.ts';
import type { UnsettledAmounts } from './unsettledAmounts.ts';

// Reads a transfer's stream before acting on it. The process's last known state suffices if nothing is done: a transfer that owes nothing
// stays in the list until the read models have caught up, and many wait for the same account. An order is used as it was just appended.

/** Maximum age of the last known state. */
const heardAfter_ms = 2_000;

export interface LoadingDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly owners: TransferOwners;
}

export interface Loading {
  /** State at the start of an action. Undefined if there is nothing to do. @param mustWait true if the last known state means waiting */
  first(key: TransferKey, mustWait: (known: Outgoing) => boolean): Promise<Outgoing | undefined>;
  /** State after a step. */
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

// Periodically sends recorded bytes until their fate is known, and remembers since when every node refuses them.

export interface ResendDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly crash: CrashPoint;
  readonly rail: Pick<PayoutRail, 'broadcast' | 'refusalKind'>;
  /** Called each time that every answering node refuses bytes. @param kind class of the refusal */
  readonly refused?: (kind: string, detail: string) => void;
}

/** Resend interval of bytes that are not on the chain. */
export const rebroadcast_ms = 4_000;

export function createSending({ clock, crash, rail, refused }: ResendDeps) {
  const sentAt = boundedTimes();
  /** Time since which every answering node refuses a transfer's bytes. */
  const refusedSince = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  return {
    /** True if this process has sent it. */
    hasSent: ({ hash }: SignedAttempt): boolean => sentAt.get(hash) !== undefined,

    isRefusedForLong: ({ purpose }: Outgoing): boolean =>
      now_ms() - (refusedSince.get(purpose.reference) ?? Number.POSITIVE_INFINITY) >= stuckAfter_ms,

    /**
     * Sends only the latest attempt: it has outbid the others, and a node's refusal of those must not stop it. @throws BroadcastRefused,
     * ChainUnavailable
     */
    async send({ purpose: { kind, reference } }: Outgoing, { hash, bytes }: SignedAttempt): Promise<void> {
      if (now_ms() - (sentAt.get(hash) ?? 0) < rebroadcast_ms) return;
      sentAt.set(hash, now_ms());
      await crash(`${kind}.beforeBroadcast`);
      await rail.broadcast(bytes).catch((error) => {
        // An unavailable node refuses nothing.
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

// Pause of a transfer that cannot continue now. Waiting is no failure: nothing is parked for it.

/** Retry interval while float, gas or an operator is missing. */
const retry_ms = 5_000;

/**
 * Tokens rarely withdraw a refusal, used-up attempts wait for an operator, and nodes are rarely fixed at once: such transfers are retried
 * ever more rarely, up to these pauses, so that many of them do not delay the others.
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

/** @param look_ms check interval of a busy account */
export function createWaits(clock: Pick<Clock, 'now'>, look_ms: number) {
  const recheckAt = boundedTimes();
  /** Time until which an app over its share is skipped: one refusal covers all its transfers. */
  const appFullUntil = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  function pause_ms(reason: string, waited_ms: number): number {
    if (reason === 'treasuryBusy') return look_ms;
    return Math.min(Math.max(retry_ms, waited_ms / 2), rarely_ms[reason] ?? retry_ms);
  }

  return {
    isDue: (reference: string, now: Instant): boolean => (recheckAt.get(reference) ?? 0) <= epochMs(now),
    /** Number of waiting transfers. */
    count: (now: Instant): number => recheckAt.countAfter(epochMs(now)),
    next(now: Instant): Instant | null {
      const next_ms = recheckAt.nextAfter(epochMs(now));
      return Number.isFinite(next_ms) ? instant(next_ms) : null;
    },
    pause: (reference: string, duration_ms: number): void => recheckAt.set(reference, now_ms() + duration_ms),

    /** Waits as long as the reason requires; a live attempt is checked at the usual interval. */
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
    Pick<ResendDeps, 'refused'> {
  readonly owners: TransferOwners;
  readonly unsettledAmounts: UnsettledAmounts;
  /** Transfers on this chain with a due step, not parked. */
  readonly due: (max: number, now: Instant) => Promise<readonly TransferItem[]>;
  /** Poll interval of an attempt's fate. */
  readonly poll_ms: number;
  /** Name of the worker. Default: the worker of the chain's payouts. */
  readonly name?: string;
}

export interface TransferItem {
  readonly key: TransferKey;
  /** App whose share of the workers it uses; null for the treasury's own, which share one. */
  readonly appId: string | null;
}

/** Maximum concurrent transfers: an account has sixteen unmined ones to check, and as many are prepared meanwhile, or wait for a nonce. */
const concurrency = 32;
/** Maximum of one app. */
const perAppMax = 24;

/** order, sign, broadcast, one more after a proven death, and a batch's notifications in between. */
const stepsPerActMax = 10;
/** Interval at which a batched payout checks for missed decisions of its batch. */
const batchedAgain_ms = 30_000;
/** Age after which an unmined live attempt is outbid, if its nonce lets only one of the two land. */
const bumpAfter_ms = 90_000;

/** A younger signature is sent before the chain is queried for its fate. */
const new_ms = 5_000;

const waitsFor: ReadonlySet<string> = new Set(accountReasons);

/** A step could not be made now; the item is retried later and counts as failed until then. */
export class StepRefused extends Error {
  override readonly name = 'StepRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.refused}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

/** Each chain has its own: unavailable nodes delay no other chain's transfers. The name dates from when all transfers were payouts. */
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
      // Waiting transfers are in the list as well: the limit grows by their number, so they displace no others.
      const items = await deps.due(max + waits.count(now), now);
      return items.filter(({ key }) => waits.isDue(referenceOf(key), now)).slice(0, max);
    },
    nextDue: waits.next,
    keyOf: ({ key }) => referenceOf(key),
    share: { max: () => perAppMax, of: ({ appId }) => appId ?? '' },
    async act({ key }, signal) {
      let outgoing = await loading.first(key, mustBeLeft);
      for (let steps = 0; steps < stepsPerActMax && outgoing && !signal.aborted; steps += 1) {
        if (!(await take(outgoing, signal))) return;
        outgoing = await loading.next(key, outgoing);
      }
    },
  };

  /** @returns true if the transfer advanced, so its next step may be due at once */
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

  /** Its batch notifies it; it also checks periodically. */
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
      // A live attempt is paid whatever happens to the money.
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

  /** True if nothing can be signed for now. Queries nothing. */
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

  /** Signed a moment ago and not sent by this process: the chain cannot know it yet. */
  function isNew(attempt: SignedAttempt): boolean {
    return !sending.hasSent(attempt) && epochMs(clock.now()) - epochMs(attempt.signedAt) < new_ms;
  }

  /**
   * Sends the latest attempt again; outbids it if that fails for long, and gives its nonce up if no node accepts it for longer.
   * @returns true if it was outbid; undefined if it was too early
   */
  async function push(
    outgoing: Outgoing,
    latest: SignedAttempt,
    fate: Fate,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const maySign = outgoing.mayOutbid && !isSpent(outgoing.leg);
    const late = maySign && epochMs(clock.now()) - epochMs(latest.signedAt) > bumpAfter_ms;
    // Nodes drop, or refuse, attempts that became too cheap: an attempt sent in vain for long is outbid like a pending one.
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
