/**
 * Redeliveries requested by an app's owner. Each delivery is redelivered at most once, so a double click sends once; the next redelivery
 * follows the last one.
 */
import { type Refusal, refuse } from './decider.ts';
import { epochMs, type Instant } from './time.ts';
import { redeliveriesMax, type WebhookStart, type WebhookState } from './webhook.ts';

/** Upper bound for one POST, including the attempts to record its outcome. */
export const underWay_ms = 60_000;

/** True while a process may still be sending it. Afterwards its outcome stays unknown for ever. */
export const maySend = (state: WebhookState, now: Instant): boolean =>
  state.stage === 'started' && epochMs(now) - epochMs(state.start.startedAt) < underWay_ms;

/** Returns the start of a delivery that may be redelivered: it is exhausted, or its outcome stays unknown. */
export function mayRedeliver(state: WebhookState, now: Instant): WebhookStart | Refusal {
  const refused = (why: string) => refuse('deliveryNotRedeliverable', why);
  if (state.stage === 'new') return refuse('deliveryNotFound', 'no delivery has this id: list the deliveries');
  if (state.stage === 'delivered') return refused('the receiver accepted this delivery: there is nothing to redeliver');
  if (maySend(state, now)) return refused('the delivery is under way: look at it again in a minute');
  if (state.stage === 'exhausted' && state.outcome.error === 'endpointRemoved')
    return refused('its webhook endpoint was removed');
  if (state.start.kind === 'test') return refused('a test is not redelivered: send another one');
  if (state.start.ordinal < redeliveriesMax) return state.start;
  return refused(`it was redelivered ${redeliveriesMax} times, which is the most: read the payment instead`);
}

/** Redelivery: the same event to the same URL. @param deliveryId of the redelivery */
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
