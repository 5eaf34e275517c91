/** Impossible payouts: after long enough their payments bounce, and their money is refundable. */
import { currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import {
  type ExpiringNumbering,
  isDecided,
  loadFrom,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
  type TransferOwners,
} from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import { type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { epochMs, hour_ms, type Instant, plus } from '../../../domain/time.ts';
import { canLand, contenders, liveAttempts, type TransferLeg } from '../../../domain/transfer/leg.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';
import { sentOf } from './fate.ts';

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
