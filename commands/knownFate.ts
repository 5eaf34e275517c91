/**
 * What became of a payout's attempts, once it is known whose transaction used their nonce up. A nonce that is used up by a recorded cancel
 * ends them. One that is used up by a transaction that the log does not know ends nothing: the log has lost its end, or somebody else has
 * the key, and to sign anew could pay twice.
 */
import { type ChainId, chainOf } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal } from '../domain/decider.ts';
import type { SignedAttempt } from '../domain/payment/events.ts';
import { objectionTo, reportTaken } from '../domain/treasury/objections.ts';
import { type Cancelled, treasury, treasuryInstance } from '../domain/treasury/state.ts';
import type { Fate, PayoutRail, Sent } from './chainPorts.ts';
import { currentState, type Handle } from './handle.ts';
import type { Clock } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: Pick<PayoutRail, 'chainId' | 'fate'>;
}

/** Cancels among attempts; those are numbered from 1. */
const notAnAttempt = 0;

/** A nonce's recorded cancels, as a chain is asked about them. */
export function cancelsOf({ nonce, signed }: Cancelled, chainId: ChainId, account: string): readonly Sent[] {
  const [token] = chainOf(chainId).tokens;
  assert(token !== undefined, 'every chain has a token');
  const nothing = { attempt: notAnAttempt, account, nonce: nonce.toString(), validUntil: null, token, amount: '0' };
  return signed.map(({ hash, bytes, signedAt }) => ({ ...nothing, hash, bytes: bytes ?? '', signedAt }));
}

/** @param attempts that share one nonce; @returns a refusal when a transaction used it that is recorded nowhere: nothing is signed then */
export async function knownFate(
  deps: Deps,
  attempts: readonly SignedAttempt[],
  signal: AbortSignal,
): Promise<Fate | Refusal> {
  const fate = await deps.rail.fate(attempts, signal);
  const [attempt] = attempts;
  if (fate.kind !== 'dead' || fate.proof.reason !== 'nonceUsed' || !attempt?.nonce) return fate;
  const { account } = attempt;
  const nonce = BigInt(attempt.nonce);
  const instance = treasuryInstance(deps.rail.chainId, account);
  const { cancelled } = await currentState(deps.handle, treasury, instance);
  const own = cancelled.find((each) => each.nonce === nonce);
  if (own) {
    const all = await deps.rail.fate([...attempts, ...cancelsOf(own, deps.rail.chainId, account)], signal);
    if (all.kind === 'final' && all.attempt === notAnAttempt) return fate;
    if (all.kind !== 'dead') return all;
    if (all.proof.reason !== 'nonceUsed') return fate;
  }
  const { detail } = fate.proof;
  const now = deps.clock.now();
  const reported = await deps.handle(treasury, instance, (state) => reportTaken(state, { nonce, detail, now }), {
    cause: 'worker:payouts nonce taken',
    appId: null,
  });
  if (isRefusal(reported)) return reported;
  const isTaken = reported.state.taken.some((each) => each.nonce === nonce);
  return (isTaken ? objectionTo(reported.state) : undefined) ?? fate;
}
