/**
 * Deliveries that an app's owner has sent again: each delivery once at most, so that a double click sends once.
 * The next one is a redelivery of the redelivery.
 */
import { type Refusal, refuse } from './decider.ts';
import { epochMs, type Instant } from './time.ts';
import { redeliveriesMax, type WebhookStart, type WebhookState } from './webhook.ts';

/** No POST takes so long, the tries to record its outcome among it. */
export const underWay_ms = 60_000;

/** Whether a process may still be sending it. Afterwards nobody will ever know what became of it. */
export const isUnderWay = (state: WebhookState, now: Instant): boolean =>
  state.stage === 'started' && epochMs(now) - epochMs(state.start.startedAt) < underWay_ms;

/** The start of a delivery that may be redelivered: it is exhausted, or nobody will ever know what became of it. */
export function mayRedeliver(state: WebhookState, now: Instant): WebhookStart | Refusal {
  const refused = (why: string) => refuse('deliveryNotRedeliverable', why);
  if (state.stage === 'new') return refuse('deliveryNotFound', 'no delivery has this id: list the deliveries');
  if (state.stage === 'delivered') return refused('the receiver accepted this delivery: there is nothing to redeliver');
  if (isUnderWay(state, now)) return refused('the delivery is under way: look at it again in a minute');
  if (state.start.kind === 'test') return refused('a test is not redelivered: send another one');
  if (state.start.ordinal < redeliveriesMax) return state.start;
  return refused(`it was redelivered ${redeliveriesMax} times, which is the most: read the payment instead`);
}

/** The redelivery of a delivery: the same news to the same URL. @param deliveryId its own */
export const redeliveryOf = (former: WebhookStart, deliveryId: string): Omit<WebhookStart, 'startedAt'> => {
  const { startedAt: _, ...same } = former;
  return {
    ...same,
    deliveryId,
    kind: 'manual',
    firstDeliveryId: former.firstDeliveryId ?? former.deliveryId,
    ordinal: former.ordinal + 1,
  };
};
