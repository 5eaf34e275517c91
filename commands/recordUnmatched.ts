/** Money that no payment takes up is kept by itself, once, until an operator decides about it. */
import { assert, isRefusal } from '../domain/decider.ts';
import { type Transfer, transferId } from '../domain/payment/events.ts';
import { see, unmatched } from '../domain/unmatched.ts';
import type { Handle } from './handle.ts';
import type { Clock } from './ports.ts';

/** The payment to whose deposit it came. */
interface DepositOf {
  readonly paymentId: string;
  readonly appId: string;
}

/**
 * Keeps a final transfer that bears no payment's memo, or whose payment takes up no more, however often it is seen. Each has a stream of
 * its own, so that no number of them makes any stream longer.
 *
 * @param full the payment that it was paid to; null where its address and memo are no payment's
 * @returns whether it is new
 */
export async function recordUnmatched(
  { handle, clock }: { readonly handle: Handle; readonly clock: Pick<Clock, 'now'> },
  transfer: Transfer,
  full: DepositOf | null = null,
): Promise<boolean> {
  const seen = await handle(unmatched, transferId(transfer), (state) => see(state, transfer, clock.now(), full), {
    cause: `worker:payins payin ${transfer.chainId}:${transfer.txHash}`,
    appId: full?.appId ?? null,
    expectNew: true,
  });
  assert(!isRefusal(seen), 'a transfer that was seen is never refused');
  return seen.appended > 0;
}
