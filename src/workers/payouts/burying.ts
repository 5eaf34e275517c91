/** What an operator may declare dead, though no node remembers far enough to prove it. */

import { isDecided, type PayoutRail } from '../../../commands/transferPorts.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { contenders, liveAttempts, type TransferLeg } from '../../../domain/transfer/leg.ts';
import { sentOf } from './fate.ts';

/**
 * The attempts that can land no more, while no node knows what became of them. Refused as long as one can land, or the nodes know: then it
 * settles or dies by itself.
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
