/** Why a treasury account signs nothing at all: an operator has paused it, or its nonces are used by somebody whom the log does not know. */
import { type Decision, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { TreasuryEvent } from './events.ts';
import type { TakenNonce, TreasuryState } from './state.ts';

const reconcile =
  'the log has lost its end or the key was used elsewhere; nothing is signed until an operator knows that transaction (npm run treasury -- adopt)';

/** While it lasts, no signature is made: of no transfer, fee bump or cancel. What is recorded may still be sent. */
export function objectionTo(state: TreasuryState): Refusal | undefined {
  const [strange] = state.taken;
  if (strange)
    return refuse('treasuryBehindChain', `${strange.detail}, and the log knows of no such one: ${reconcile}`);
  return whilePaused(state);
}

/** The same in a treasury's own stream, for all accounts that number its transfers. */
export function whilePaused({ paused, outflows }: Pick<TreasuryState, 'paused' | 'outflows'>): Refusal | undefined {
  const [strange] = outflows;
  if (strange)
    return refuse('treasuryBehindChain', `${strange.detail}, and the log knows of no such one: ${reconcile}`);
  return paused === null
    ? undefined
    : refuse('treasuryPaused', `payouts are paused (${paused}): npm run treasury -- resume`);
}

/** Refuses when the chain has mined transactions of the account that the log does not know. @param minedNonce its next nonce there */
export function behindChain({ nextNonce }: TreasuryState, minedNonce: bigint): Refusal | undefined {
  if (nextNonce === null || minedNonce <= nextNonce) return undefined;
  return refuse(
    'treasuryBehindChain',
    `the chain has mined up to nonce ${minedNonce}, the log assigned up to ${nextNonce}: ${reconcile}`,
  );
}

/** The same for a nonce that the log gave to a purpose and knows no signature of. @param what the purpose, in words */
export const minedUnsigned = (nonce: bigint, what: string): Refusal =>
  refuse(
    'treasuryBehindChain',
    `the chain has mined nonce ${nonce}, which the log gave to ${what} and knows no signature of: ${reconcile}`,
  );

/**
 * A transaction used a nonce up that is no recorded attempt and no recorded cancel. The account signs nothing from then on.
 * `[]` when that is known, adopted or explained.
 */
export function reportTaken(
  { taken, adopted, explainedTo, betweenNetworks }: TreasuryState,
  { nonce, detail, proven, now }: TakenNonce & { now: Instant },
): Decision<TreasuryEvent> {
  if (betweenNetworks || nonce < explainedTo || [...taken, ...adopted].some((known) => known.nonce === nonce))
    return [];
  const data = { nonce: nonce.toString(), detail: detail.slice(0, 400), proven, seenAt: now };
  return [{ type: 'NonceTaken', data }];
}

/**
 * An operator has found out what used the nonces that the log does not know of: the account goes on with the chain's next one.
 * Purposes whose nonces are below get others, so whatever was paid by those transactions must be on hold before.
 *
 * @param minedNonce the account's next nonce as its chain has mined it
 * @param reason at most 400 characters, for whoever asks why
 */
export function explainNonces(
  state: TreasuryState,
  { minedNonce, reason, now }: { minedNonce: bigint; reason: string; now: Instant },
): Decision<TreasuryEvent> {
  if (!state.opened) return refuse('illegalStep', 'nothing was ever paid from here: there is nothing to explain');
  const known = state.taken.length + state.outflows.length === 0 && behindChain(state, minedNonce) === undefined;
  if (known && minedNonce <= state.explainedTo) return [];
  return [{ type: 'NoncesExplained', data: { upTo: minedNonce.toString(), reason, explainedAt: now } }];
}

/** @param reason at most 400 characters, for whoever asks why */
export function pausePayouts(state: TreasuryState, reason: string, now: Instant): Decision<TreasuryEvent> {
  if (!state.opened) {
    return refuse('illegalStep', 'nothing was ever paid from here: leave the chain out of the configuration instead');
  }
  return state.paused === null ? [{ type: 'PayoutsPaused', data: { reason, pausedAt: now } }] : [];
}

export function resumePayouts(state: TreasuryState, now: Instant): Decision<TreasuryEvent> {
  return state.paused === null ? [] : [{ type: 'PayoutsResumed', data: { resumedAt: now } }];
}
