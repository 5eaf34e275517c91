/** What the process owes a transfer now. Subscribers only interpret it. */
import { liveAttempts, type TransferLeg } from './leg.ts';
import type { SignedAttempt } from './shapes.ts';

export type TransferStep =
  /** The money is there, and the transfer is not ordered yet. */
  | { readonly do: 'order' }
  | { readonly do: 'sign' }
  /** Signed and not settled: send the recorded bytes until their fate is known. */
  | { readonly do: 'broadcast'; readonly attempts: readonly SignedAttempt[] }
  /** Nothing can land, and nothing is signed until somebody has decided, or the money is back. */
  | { readonly do: 'hold' }
  /** Other streams do not have yet what this one decided: they get it before anything else is done. */
  | { readonly do: 'tell' }
  /** It is paid with others, and what becomes of it their batch's stream decides. */
  | { readonly do: 'batched' }
  | { readonly do: 'done' };

/** Pure: same leg, same step. @param isHeld whether nothing new may be signed for it now */
export function stepOf(leg: TransferLeg, isHeld = false): TransferStep {
  if (leg.settled) return { do: 'done' };
  if (leg.short) return { do: 'hold' };
  const attempts = liveAttempts(leg);
  if (attempts.length > 0) return { do: 'broadcast', attempts };
  return isHeld ? { do: 'hold' } : { do: 'sign' };
}
