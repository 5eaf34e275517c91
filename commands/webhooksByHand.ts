/** Webhooks that an app's owner asks for: a redelivery of one that is exhausted, and a test. */
import { createHash } from 'node:crypto';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { merchant } from '../domain/merchant/state.ts';
import { mayRedeliver, redeliveryOf } from '../domain/redelivery.ts';
import { isDeliveryId, testEventType, webhook } from '../domain/webhook.ts';
import { type By, currentState, type Handle } from './handle.ts';
import { uuidV8 } from './paymentId.ts';
import type { Clock, Ids } from './ports.ts';
import type { SendWebhook } from './sendWebhook.ts';

export interface ByHandDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly send: SendWebhook;
}

export interface Redelivery {
  readonly deliveryId: string;
  /** False when it had been asked for before: nothing was sent now. */
  readonly sentNow: boolean;
}

/** One id for each redelivery: whoever asks for the same one meets the same stream. @param ordinal from 1 on */
export const redeliveryIdOf = (firstDeliveryId: string, ordinal: number): string =>
  uuidV8(createHash('sha256').update(`redelivery ${ordinal} of ${firstDeliveryId}`).digest());

export type Redeliver = (appId: string, deliveryId: string, by: By) => Promise<Redelivery | Refusal>;

/**
 * Sends an exhausted delivery's news again, as a delivery of its own. Each delivery is redelivered once: a double click, or two
 * instances asked at once, meet the same claim. The owner must have been warned that the receiver may get it for a second time.
 *
 * @returns when the receiver has answered or was given up; a refusal for a delivery that is not the app's, or not exhausted
 * @throws Unavailable, like SendWebhook
 */
export const createRedeliver =
  ({ handle, clock, send }: ByHandDeps): Redeliver =>
  async (appId, deliveryId, by) => {
    const state = isDeliveryId(deliveryId) ? await currentState(handle, webhook, deliveryId) : webhook.initial;
    const isOwn = state.stage !== 'new' && state.start.appId === appId;
    const former = mayRedeliver(isOwn ? state : webhook.initial, clock.now());
    if (isRefusal(former)) return former;
    const id = redeliveryIdOf(former.firstDeliveryId ?? former.deliveryId, former.ordinal + 1);
    const result = await send(redeliveryOf(former, id), by);
    return { deliveryId: id, sentNow: result !== 'notOurs' };
  };

export type SendTest = (appId: string, by: By) => Promise<{ readonly deliveryId: string } | Refusal>;

/** Sends a made-up payment to the app's webhook URL in force. No to-do list ever holds it. @throws Unavailable, like SendWebhook */
export const createSendTest =
  ({ handle, ids, send }: ByHandDeps): SendTest =>
  async (appId, by) => {
    const { webhookUrl } = await currentState(handle, merchant, appId);
    if (webhookUrl === null) return refuse('webhookUrlMissing', 'the app has no webhook URL: set one first');
    const deliveryId = ids.eventId();
    const test = { deliveryId, kind: 'test', firstDeliveryId: null, ordinal: 0, eventType: testEventType } as const;
    const ofNoPayment = { paymentId: null, eventId: null, eventRevision: null };
    await send({ ...test, ...ofNoPayment, appId, url: webhookUrl }, by);
    return { deliveryId };
  };
