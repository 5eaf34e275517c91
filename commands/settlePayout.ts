import { isRefusal, type Refusal } from '../domain/decider.ts';
import { buryPayout, confirmPayout, requestPayout as decideRequest, orphanPayout } from '../domain/payment/payout.ts';
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
  handle(paymentDecider, terms.paymentId, (state) => decideRequest(state, clock.now()), {
    cause: 'payouts',
    appId: terms.appId,
  });

/** Records what the destination chain proves about the payout's attempts. */
export function settlePayout(
  { handle, clock }: Deps,
  { terms }: Payment,
  fate: Extract<Fate, { kind: 'final' | 'dead' }>,
): Outcome {
  return handle(
    paymentDecider,
    terms.paymentId,
    (state) => {
      if (fate.kind === 'dead') return buryPayout(state, fate.attempts, fate.proof);
      const { attempt, hash, blockHash } = fate;
      return confirmPayout(state, {
        attempt,
        hash,
        blockHash,
        blockNumber: fate.blockNumber.toString(),
        confirmedAt: clock.now(),
      });
    },
    { cause: `payout ${fate.kind}`, appId: terms.appId },
  );
}

/** Records that a settled payout's block left the chain: the recorded bytes are sent again. */
export const unsettlePayout = (
  { handle }: Pick<Deps, 'handle'>,
  { terms }: Payment,
  seen: { hash: string; blockHash: string },
): Outcome =>
  handle(paymentDecider, terms.paymentId, (state) => orphanPayout(state, seen), {
    cause: `orphaned ${seen.blockHash}`,
    appId: terms.appId,
  });

/** The payment as the log has it now; null when there is none. */
export async function loadPayment(handle: Handle, paymentId: string): Promise<Payment | null> {
  const handled = await handle(paymentDecider, paymentId, () => [], { cause: 'read', appId: null });
  return isRefusal(handled) ? null : handled.state;
}
