/** A batch that does not go on by itself, and that an operator ends: its members are paid by themselves. */

import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type BatchState, concludeBatch, dissolveBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { buriable } from './burying.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly rail: Pick<PayoutRail, 'canLand' | 'fate'>;
}

interface ByHand {
  /** Of the batch's stream. */
  readonly id: string;
  /** At most 400 characters, for whoever asks why. */
  readonly reason: string;
}

/**
 * Ends it where nothing was signed for it; else declares what was signed dead, with the same proof as for one payout: none of it can land
 * any more, and no node knows that any did.
 *
 * Crash before the append: nothing happened. After it: the batch is over, and the next worker tells its members, which lets them go.
 *
 * @returns how many events were appended; 0 when it was over before. @throws ChainUnavailable, Unavailable
 */
export async function buryBatch(
  { handle, clock, rail }: Deps,
  { id, reason }: ByHand,
  by: By,
  signal: AbortSignal,
): Promise<Handled<BatchState> | Refusal> {
  const facts = { ...by, appId: null };
  const batch = await currentState(handle, payoutBatch, id);
  if (!batch) return refuse('notFound', 'there is no such batch: npm run treasury -- batches');
  if (batch.dissolved !== null || batch.leg.attempts.length === 0)
    return handle(payoutBatch, id, (state) => dissolveBatch(state, reason, clock.now()), facts);
  const attempts = await buriable(rail, batch.leg, signal);
  if (isRefusal(attempts)) return attempts;
  const outcome = { kind: 'dead', attempts, proof: { reason: 'declared', detail: reason } } as const;
  return handle(payoutBatch, id, (state) => concludeBatch(state, outcome, clock.now()), facts);
}
