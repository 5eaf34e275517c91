/** Finds the withdrawal that a payment pays out, in the merchant's account of credit: a stream that grows with every sale. */
import type { CashbackEvent, Withdrawal } from '../domain/cashback.ts';
import { hour_ms, type Instant, plus } from '../domain/time.ts';
import { eventCodec } from './codec.ts';
import { readBackwards } from './handle.ts';
import { type EventStore, Unavailable } from './ports.ts';

/** Maximum events read for one withdrawal. */
const eventsMax = 1_000_000;
/** Two instances' clocks differ by less. */
const clockDifference_ms = hour_ms;

/**
 * Reads from the newest event back to the one before the payment was created: a withdrawal waits in each event's standing until its payment
 * exists. So the cost follows from the credit payments since then, not from all that the merchant ever received.
 * @returns undefined where the merchant has made no such withdrawal, or its cents have returned to the account
 * @throws Unavailable after a million events, ChainBroken
 */
export async function findWithdrawal(
  store: Pick<EventStore, 'read'>,
  { appId, paymentId, createdAt }: { readonly appId: string; readonly paymentId: string; readonly createdAt: Instant },
): Promise<Withdrawal | undefined> {
  const oldest = plus(createdAt, -clockDifference_ms);
  let read = 0;
  for await (const stored of readBackwards(store, `cashback-${appId}`)) {
    const event = eventCodec.read(stored) as CashbackEvent | undefined;
    if (event?.type === 'WithdrawalReturned' && event.data.paymentId === paymentId) return undefined;
    const found = event && withdrawalIn(event, paymentId);
    if (found) return found;
    if (stored.metadata.at < oldest) return undefined;
    read += 1;
    if (read >= eventsMax)
      throw new Unavailable(
        `${appId} has received ${eventsMax} credit payments since payment ${paymentId}: tell the operator`,
      );
  }
  return undefined;
}

const withdrawalIn = (event: CashbackEvent, paymentId: string): Withdrawal | undefined =>
  event.type === 'CashbackWithdrawn' && event.data.paymentId === paymentId
    ? event.data
    : event.data.after.open.find((each) => each.paymentId === paymentId);
