/**
 * Fate of a transfer's attempts, once the user of their nonce is known. A recorded cancel that used the nonce ends them. An unknown
 * transaction ends nothing: the log has lost its end, or somebody else has the key, and another signature could pay twice.
 */
import { currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import {
  type ExpiringNumbering,
  type Fate,
  isDecided,
  loadFrom,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  SigningRefused,
  type TransferOwners,
} from '../../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import { type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { canLand, contenders, liveAttempts, type Order, type TransferLeg } from '../../../domain/transfer/leg.ts';
import type { SignedAttempt, TransferKey, TransferKind } from '../../../domain/transfer/shapes.ts';
import { objectionTo, reportTaken } from '../../../domain/treasury/nonces.ts';
import {
  type Cancelled,
  type TakenNonce,
  type TreasuryState,
  treasury,
  treasuryInstance,
} from '../../../domain/treasury/state.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: Pick<PayoutRail, 'chainId' | 'fate' | 'canLand'>;
  readonly owners: TransferOwners;
}

/** Transfer whose attempts share a nonce, and the attempts that the chain is queried for. */
interface Asked {
  readonly key: TransferKey;
  readonly attempts: readonly Sent[];
}

interface UsedNonce {
  readonly account: string;
  readonly nonce: bigint;
}

/** Blocks are seconds apart: anything outstanding for this long needs an operator. */
export const stuckAfter_ms = 10 * minute_ms;

/** Number of cancels among attempts, which are numbered from 1. */
const notAnAttempt = 0;

/** A nonce's recorded cancels in the form of a fate query. */
export function cancelsOf({ nonce, signed }: Cancelled, chainId: ChainId, account: string): readonly Sent[] {
  const [token] = chainOf(chainId).tokens;
  assert(token !== undefined, 'every chain has a token');
  const numbered = { attempt: notAnAttempt, account, nonce: nonce.toString(), validUntil: null };
  const nothing = { ...numbered, token, receiver: account, amount: '0' };
  return signed.map(({ hash, bytes, signedAt }) => ({ ...nothing, hash, bytes: bytes ?? '', signedAt }));
}

/** A transfer's attempts in the form of a fate query. */
export const sentOf = ({ form }: Pick<Order, 'form'>, attempts: readonly SignedAttempt[]): readonly Sent[] =>
  form ? attempts.map((attempt) => ({ ...attempt, form })) : attempts;

/** Attempts of a transfer with a nonce of an account, from its stream's current state. */
export async function attemptsWith(
  owners: TransferOwners,
  key: TransferKey,
  { account, nonce }: UsedNonce,
): Promise<readonly Sent[]> {
  const leg = (await loadFrom(owners, key))?.leg;
  if (!leg) return [];
  const signed = leg.attempts.map((attempt) => attempt.signed);
  return sentOf(
    leg.order,
    signed.filter((each) => each.account === account && each.nonce === nonce.toString()),
  );
}

/** @param attempts that share one nonce; @returns a refusal if a transaction without a record used it: then nothing is signed */
export async function knownFate(
  deps: Deps,
  key: TransferKey,
  attempts: readonly Sent[],
  signal: AbortSignal,
): Promise<Fate | Refusal> {
  const fate = await deps.rail.fate(attempts, signal);
  const [attempt] = attempts;
  if (!attempt?.nonce) return fate;
  const used = { account: attempt.account, nonce: BigInt(attempt.nonce) };
  const asked = { key, attempts };
  if (fate.kind === 'dead' && fate.proof.reason === 'nonceUsed') {
    const beside = await fateBesideCancel(deps, used, attempts, signal);
    // Also after `unknown`: the nodes may have become unavailable, and the cancel may have landed.
    if (beside) return beside;
    return report(deps, { ...used, detail: fate.proof.detail, proven: true }, asked, fate);
  }
  const unclear = fate.kind === 'unknown' || (fate.kind === 'pending' && fate.dispute !== undefined);
  return unclear && (await isOver(deps, attempt, signal)) ? afterwards(deps, used, asked, fate, signal) : fate;
}

/**
 * True if the nonce is used up and the nodes cannot name the user: they keep accounts only for a short time. Called when no attempt was
 * known for a while, because lagging nodes know it later.
 */
async function isOver({ clock, rail }: Deps, attempt: Sent, signal: AbortSignal): Promise<boolean> {
  if (epochMs(clock.now()) - epochMs(attempt.signedAt) < minute_ms) return false;
  return !(await rail.canLand(attempt, signal));
}

/** Records tell what the nodes do not: a cancel, or an earlier observation. */
async function afterwards(
  deps: Deps,
  used: UsedNonce,
  asked: Asked,
  fate: Fate,
  signal: AbortSignal,
): Promise<Fate | Refusal> {
  const { attempts } = asked;
  const { explained, taken } = await treasuryOf(deps, used.account);
  const seen = explained.find(({ nonce, proven }) => nonce === used.nonce && proven);
  if (seen) return deadBy(attempts, seen.detail);
  const beside = await fateBesideCancel(deps, used, attempts, signal);
  if (beside && isDecided(beside)) return beside;
  const [{ hash, signedAt } = { hash: '', signedAt: deps.clock.now() }] = attempts;
  const isKnown = taken.some(({ nonce }) => nonce === used.nonce);
  if (!isKnown && epochMs(deps.clock.now()) - epochMs(signedAt) < stuckAfter_ms) return fate;
  const detail = `nonce ${used.nonce} is used up for good, and no node can say whether by ${hash}`;
  return report(deps, { ...used, detail, proven: false }, asked, fate);
}

const deadBy = (attempts: readonly Sent[], detail: string): Fate => ({
  kind: 'dead',
  attempts: attempts.map(({ attempt }) => attempt),
  proof: { reason: 'nonceUsed', detail },
});

const treasuryOf = ({ handle, rail }: Deps, account: string): Promise<TreasuryState> =>
  currentState(handle, treasury, treasuryInstance(rail.chainId, account));

/** Undefined if the nonce was never cancelled, or no cancel has used it. */
async function fateBesideCancel(
  deps: Deps,
  { account, nonce }: UsedNonce,
  attempts: readonly Sent[],
  signal: AbortSignal,
): Promise<Fate | undefined> {
  const { cancelled } = await treasuryOf(deps, account);
  const own = cancelled.find((each) => each.nonce === nonce);
  if (!own) return undefined;
  const { rail } = deps;
  const fate = await rail.fate([...attempts, ...cancelsOf(own, rail.chainId, account)], signal);
  if (fate.kind === 'final' && fate.attempt === notAnAttempt)
    return deadBy(attempts, `cancel ${fate.hash} in block ${fate.blockNumber} used nonce ${nonce}`);
  if (fate.kind !== 'dead') return fate;
  return fate.proof.reason === 'nonceUsed' ? undefined : deadBy(attempts, fate.proof.detail);
}

/** Stops signing for the account. @param fate result after an operator has explained the nonce */
async function report(
  { handle, clock, rail, owners }: Deps,
  { account, ...used }: UsedNonce & TakenNonce,
  { key, attempts }: Asked,
  fate: Fate,
): Promise<Fate | Refusal> {
  // Everything that is sent is recorded before: a concurrent signature of another instance is known, and the next query includes it.
  // Attempts that lapsed earlier were not queried, and cannot have used it.
  const newest = Math.max(...attempts.map(({ attempt }) => attempt));
  const recorded = await attemptsWith(owners, key, { account, ...used });
  if (recorded.some(({ attempt }) => attempt > newest)) return { kind: 'pending', mined: true };
  const now = clock.now();
  const reported = await handle(
    treasury,
    treasuryInstance(rail.chainId, account),
    (state) => reportTaken(state, { ...used, now }),
    { cause: 'worker:nonces nonce taken', appId: null },
  );
  if (isRefusal(reported)) return reported;
  const isTaken = reported.state.taken.some(({ nonce }) => nonce === used.nonce);
  return (isTaken && objectionTo(reported.state)) || fate;
}

// Reports of stuck transfers to operators: at once, and then periodically.

export interface TransferNewsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** A transfer that must wait for an operator: float, gas, a paused or inconsistent treasury, attempts without end. */
  readonly alarm: (key: TransferKey, reason: string, message: string) => void;
  /** Receives periodically why a transfer waits. Never fails. */
  readonly noteWait?: (key: TransferKey, reason: string, message: string) => void;
}

/** List in which an operator finds it. */
const listOf: Readonly<Record<TransferKind, string>> = {
  payout: 'npm run payouts -- list',
  refund: 'npm run refunds -- list',
  unmatchedRefund: 'npm run refunds -- list',
  operation: 'npm run treasury -- operations',
  rebalance: 'npm run treasury -- floats',
  batch: 'npm run treasury -- batches',
  relay: 'docs/operate/relays.md',
};

const noteAgain_ms = minute_ms;
const tellAgain_ms = 10 * minute_ms;
/** By then an included transaction is final on all served chains. */
const finalBy_ms = hour_ms;

export function createTransferNews({ clock, alarm, noteWait }: TransferNewsDeps) {
  const toldAt = boundedTimes();
  const notedAt = boundedTimes();

  /** True if it was not done for this long. */
  function isDue(times: typeof toldAt, key: string, again_ms: number): boolean {
    const now_ms = epochMs(clock.now());
    if (now_ms - (times.get(key) ?? Number.NEGATIVE_INFINITY) < again_ms) return false;
    times.set(key, now_ms);
    return true;
  }

  /** Nodes are queried every few seconds: the same report is only repeated periodically. */
  function tellOnce({ key, purpose }: Outgoing, reason: string, message: string): void {
    if (isDue(toldAt, `${purpose.reference} ${reason}`, tellAgain_ms)) alarm(key, reason, message);
  }

  return {
    tellOnce,

    /** A temporary obstacle, such as the current price, is no failure of the transfer: it is reported and retried later. */
    async unlessBlocked(outgoing: Outgoing, work: () => Promise<unknown>): Promise<void> {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof PayoutBlocked || error instanceof SigningRefused)) throw error;
        tellOnce(outgoing, error.reason, error.message);
      }
    },

    waits({ key, purpose }: Outgoing, reason: string, message: string): void {
      if (reason !== 'treasuryBusy') alarm(key, reason, message);
      if (isDue(notedAt, `${purpose.reference} ${reason}`, noteAgain_ms)) noteWait?.(key, reason, message);
    },

    /** @param first live attempt */
    ifStuck(outgoing: Outgoing, first: SignedAttempt | undefined, fate: Fate): void {
      if (!first) return;
      const waited_ms = epochMs(clock.now()) - epochMs(first.signedAt);
      const mined = fate.kind === 'pending' && fate.mined;
      if (waited_ms < (mined ? finalBy_ms : stuckAfter_ms)) return;
      const minutes = Math.floor(waited_ms / minute_ms);
      const message = `attempt ${first.attempt} (${first.hash}) is ${mined ? 'not final' : 'not mined'} after ${minutes} minutes: ${listOf[outgoing.key.kind]}`;
      tellOnce(outgoing, `${outgoing.purpose.kind}Stuck`, message);
    },

    fellShort({ key, purpose, leg }: Outgoing, { hash, arrived }: Extract<Fate, { kind: 'short' }>): void {
      const { symbol, decimals } = leg.order.token;
      const message = `${hash} is final and brought the receiver ${formatAmount(arrived, decimals)} ${symbol}, less than was ordered: nothing is paid again by itself; ${listOf[key.kind]}, then accept or retry`;
      alarm(key, `${purpose.kind}Short`, message);
    },
  };
}

// Impossible payouts: after long enough their payments bounce, and their money is refundable.

type Asking = Pick<PayoutRail, 'account' | 'numbering'>;

/**
 * Returns why the chain would refuse this transfer because of its receiver: frozen, closed, without a trustline. Signs nothing. A token
 * that also refuses the treasury, or everybody, says nothing about the receiver.
 *
 * @returns undefined if it would not refuse, or the obstacle is something else
 */
export async function receiverRefused(
  rail: Asking,
  { order }: Pick<Outgoing, 'order'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const prepare = await preparingOn(rail, signal);
  const refusal = async (receiver: string, receiverMemo: string | null): Promise<PayoutBlocked | undefined> => {
    try {
      await prepare({ ...order, receiver, receiverMemo });
      return undefined;
    } catch (error) {
      if (error instanceof PayoutBlocked) return error;
      throw error;
    }
  };
  const refused = await refusal(order.receiver, order.receiverMemo);
  if (refused?.reason !== 'refusedByToken') return undefined;
  return (await refusal(rail.account, null)) ? undefined : refused.message;
}

/** Prepares a transfer that is never signed: with the next nonce, if there are nonces. */
async function preparingOn(
  { numbering }: Pick<PayoutRail, 'numbering'>,
  signal: AbortSignal,
): Promise<ExpiringNumbering['prepare']> {
  if (numbering.kind === 'expiring') return numbering.prepare;
  const nonce = await numbering.minedNonce(signal);
  return (order) => numbering.prepare(order, nonce);
}

/** No live attempt exists, and no operator holds it. */
export const mayBeImpossible = ({ leg, step }: Pick<Outgoing, 'leg' | 'step'>): boolean =>
  (step.do === 'sign' || step.do === 'order') && !leg.attempts.some(canLand) && leg.short === null;

/** Crash before the append: nothing happened, and it is checked again. After it: repeating it appends nothing. */
export async function giveUpPayout(
  { handle, clock }: { readonly handle: Handle; readonly clock: Pick<Clock, 'now'> },
  paymentId: string,
  why: string,
): Promise<Handled<PaymentState> | Refusal> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  const facts = { cause: 'worker:impossiblePayouts', appId: payment?.terms.appId ?? null } as const;
  const note = why.slice(0, 400);
  return handle(paymentDecider, paymentId, (state) => bounceImpossible(state, note, clock.now()), facts);
}

// Gives up payouts whose receivers have been unable to receive them for long enough.

export interface ImpossibleDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly owners: TransferOwners;
  readonly rails: ReadonlyMap<ChainId, Asking>;
  /** Time for which a receiver must have been refused without interruption. */
  readonly after_ms: number;
  /** Payments whose payouts were refused by the token each time since then or longer. */
  readonly refusedSince: (since: Instant, max: number) => Promise<readonly RefusedPayout[]>;
  readonly alarm: (payout: RefusedPayout, message: string) => void;
}

export interface RefusedPayout {
  readonly paymentId: string;
  readonly chainId: ChainId;
}

/** Recheck interval of a payout that is not given up. */
const again_ms = hour_ms;

export function impossibleWorker(deps: ImpossibleDeps): Worker<RefusedPayout> {
  const { clock, owners, rails, after_ms } = deps;
  const askAt = boundedTimes();
  return {
    name: 'impossiblePayouts',
    concurrency: 2,
    async due(max, now) {
      // Recently checked ones are in the list as well.
      const asked = askAt.countAfter(epochMs(now));
      const refused = await deps.refusedSince(plus(now, -after_ms), max + asked);
      return refused.filter(({ paymentId }) => (askAt.get(paymentId) ?? 0) <= epochMs(now)).slice(0, max);
    },
    keyOf: ({ paymentId }) => paymentId,
    async act(payout, signal) {
      const { paymentId, chainId } = payout;
      const rail = rails.get(chainId);
      const outgoing = await loadFrom(owners, { kind: 'payout', id: paymentId, part: 1 });
      if (!rail || !outgoing || !mayBeImpossible(outgoing)) return;
      const why = await receiverRefused(rail, outgoing, signal);
      askAt.set(paymentId, epochMs(clock.now()) + again_ms);
      if (why === undefined) return;
      const given = await giveUpPayout(deps, paymentId, why);
      if (isRefusal(given)) throw new Error(`${given.refused}: ${given.message}`);
      if (given.appended > 0) deps.alarm(payout, `the payout is given up, and the payin is refundable: ${why}`);
    },
  };
}

// Attempts that an operator may declare dead, although no node's history is long enough to prove it.

/**
 * Attempts that can never land while no node knows their fate. Refused while one can land, or the nodes know it: then it settles or dies
 * automatically.
 */
export async function buriable(
  rail: Pick<PayoutRail, 'canLand' | 'fate'>,
  leg: TransferLeg | null | undefined,
  signal: AbortSignal,
): Promise<readonly number[] | Refusal> {
  const live = leg ? liveAttempts(leg) : [];
  if (!leg || live.length === 0) return refuse('illegalStep', 'no attempt of this waits: there is nothing to bury');
  for (const attempt of live) {
    if (await rail.canLand(attempt, signal))
      return refuse('illegalStep', `attempt ${attempt.attempt} (${attempt.hash}) may still land: wait`);
  }
  const fate = await rail.fate(sentOf(leg.order, contenders(leg)), signal);
  return isDecided(fate)
    ? refuse('illegalStep', 'the nodes know what became of it: the service records it by itself')
    : live.map(({ attempt }) => attempt);
}
