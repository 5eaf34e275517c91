/** What became of a payout is recorded: settled, short, proven dead, or unsettled when its block left the chain. */
import type { Refusal } from '../../domain/decider.ts';
import * as payout from '../../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { landedData } from '../../domain/transfer/leg.ts';
import type { Handle, Handled } from '../handle.ts';
import type { Clock } from '../ports.ts';
import type { Fate } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/** A fate that is decided. */
export type Decided = Extract<Fate, { kind: 'final' | 'short' | 'dead' }>;

export const isDecided = (fate: Fate): fate is Decided => fate.kind !== 'unknown' && fate.kind !== 'pending';

/** Records what the destination chain proves about the payout's attempts. */
export function settlePayout({ handle, clock }: Deps, { terms }: Payment, fate: Decided): Outcome {
  const decide = (state: PaymentState) => {
    if (fate.kind === 'dead') return payout.buryPayout(state, fate.attempts, fate.proof);
    const landed = landedData({ ...fate, blockNumber: fate.blockNumber.toString() });
    if (fate.kind === 'short')
      return payout.reportShort(state, { ...landed, arrived: fate.arrived, seenAt: clock.now() });
    return payout.confirmPayout(state, { ...landed, confirmedAt: clock.now() });
  };
  return handle(paymentDecider, terms.paymentId, decide, { cause: `worker:payouts ${fate.kind}`, appId: terms.appId });
}

/** Records that a settled payout's block left the chain: the recorded bytes are sent again. */
export const unsettlePayout = (
  { handle }: Pick<Deps, 'handle'>,
  { terms }: Payment,
  seen: { hash: string; blockHash: string },
): Outcome =>
  handle(paymentDecider, terms.paymentId, (state) => payout.orphanPayout(state, seen), {
    cause: `worker:payouts orphaned ${seen.blockHash}`,
    appId: terms.appId,
  });
