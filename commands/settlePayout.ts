/** The payout's own steps beside its signature: ordered, settled or proven dead, and unsettled when its block left the chain. */
import type { Refusal } from '../domain/decider.ts';
import * as payout from '../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Fate } from './chainPorts.ts';
import type { Handle, Handled } from './handle.ts';
import type { Clock } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/** Orders the payout of a funded payment; `[]` when it is ordered. */
export const requestPayout = ({ handle, clock }: Deps, { terms }: Payment): Outcome =>
  handle(paymentDecider, terms.paymentId, (state) => payout.requestPayout(state, clock.now()), {
    cause: 'worker:payouts',
    appId: terms.appId,
  });

/** Records what the destination chain proves about the payout's attempts. */
export function settlePayout(
  { handle, clock }: Deps,
  { terms }: Payment,
  fate: Extract<Fate, { kind: 'final' | 'dead' }>,
): Outcome {
  const decide = (state: PaymentState) => {
    if (fate.kind === 'dead') return payout.buryPayout(state, fate.attempts, fate.proof);
    const { attempt, hash, blockHash } = fate;
    const blockNumber = fate.blockNumber.toString();
    return payout.confirmPayout(state, { attempt, hash, blockHash, blockNumber, confirmedAt: clock.now() });
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
