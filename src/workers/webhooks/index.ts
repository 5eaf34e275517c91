/** Webhooks: sending them, in any role, and an app owner's view of them. */
import { readFileSync } from 'node:fs';
import { type Codec, eventCodec } from '../../../commands/codec.ts';
import { currentState, type Handle, readStream } from '../../../commands/handle.ts';
import { endpointSecretContext, webhookSecretContext } from '../../../commands/merchantRegistration.ts';
import type { EventStore } from '../../../commands/ports.ts';
import type { RoleCheck } from '../../../commands/roleCheck.ts';
import {
  bodyDigest,
  createRedeliver,
  createSendTest,
  createSendWebhook,
  redeliveryIdOf,
  type SendWebhook,
  type SendWebhookDeps,
} from '../../../commands/sendWebhook.ts';
import { assert, fold, isRefusal, type StoredEvent } from '../../../domain/decider.ts';
import { merchant } from '../../../domain/merchant/state.ts';
import { endpointOf } from '../../../domain/merchant/webhook.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { sampleWebhookData, viewOf, webhookData } from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import { sentByItself, type WebhookStart } from '../../../domain/webhook.ts';
import { getDelivery, listDeliveries } from '../../../queries/deliveries.ts';
import type { DueWebhook } from '../../../queries/work.ts';
import { admitApp, type Rates } from '../../api/rateLimits.ts';
import type { DeliveryRoutesDeps } from '../../api/routes/deliveries.ts';
import type { Core } from '../../core.ts';
import { boundedMap, coalesce } from '../../lib/cache.ts';
import { randomIds } from '../../process/system.ts';
import { createAddressCheck } from '../../security/publicAddress.ts';
import type { Worker } from '../engine.ts';
import { createWebhookPost } from './webhookPost.ts';

interface Deciding {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
}

interface Sending extends Deciding, Pick<SendWebhookDeps, 'triesMax'> {}

/** For requests or for workers: each has a separate queue to the store. */
export function webhookSender(core: Core, { handle, store, triesMax }: Sending): SendWebhook {
  const { clock, crash, config, box } = core;
  const { caFile, allowedCidrs } = config.webhook;
  // From the log: read models may lag behind a rotation or a removal. No app id contains a space.
  const readSecret = coalesce(async (key) => {
    const [appId = '', endpointId] = key.split(' ');
    const { webhookSecret, webhookEndpoints } = await currentState(handle, merchant, appId);
    if (endpointId !== undefined) {
      const endpoint = webhookEndpoints.find((each) => each.endpointId === endpointId);
      return endpoint ? box.open(endpoint.ciphertext, endpointSecretContext(appId, endpointId)) : null;
    }
    if (!webhookSecret) throw new Error(`app ${appId} has no webhook secret: rotate it to get one`);
    return box.open(webhookSecret.ciphertext, webhookSecretContext(appId));
  });
  return createSendWebhook({
    handle,
    clock,
    ids: randomIds,
    crash,
    ...(triesMax && { triesMax }),
    post: createWebhookPost({
      isAllowed: createAddressCheck(allowedCidrs),
      ...(caFile && { extraCa: [readFileSync(caFile, 'utf8')] }),
    }),
    bodyOf: createWebhookBodies({ store, codec: eventCodec }),
    secretOf: (appId, endpointId) => readSecret(endpointId === undefined ? appId : `${appId} ${endpointId}`),
  });
}

interface Asked extends Deciding, Pick<Core, 'clock' | 'reads'> {
  readonly send: SendWebhook;
  readonly rates: Rates;
  /** Default: reads the app in the same log. */
  readonly roleCheck?: RoleCheck;
}

/** Operations of an app's owner. */
export function webhooksOf({ handle, clock, store, reads, send, rates, roleCheck }: Asked): DeliveryRoutesDeps {
  const byHand = { handle, clock, ids: randomIds, send, ...(roleCheck && { roleCheck }) };
  const redeliver = createRedeliver(byHand);
  const sendTest = createSendTest(byHand);
  const reading = {
    history: (stream: string) => readStream(store, stream),
    read: eventCodec.read,
    redeliveryIdOf,
    bodyOf: createWebhookBodies({ store, codec: eventCodec }),
    digestOf: bodyDigest,
    hasEndpoint: async (appId: string, endpointId: string) =>
      !isRefusal(endpointOf(await currentState(handle, merchant, appId), endpointId)),
  };
  const recordOf = async (appId: string, deliveryId: string) => {
    const record = await getDelivery(reading, appId, deliveryId, clock.now());
    assert(record !== null, `delivery ${deliveryId} was claimed: it is in the log`);
    return record;
  };
  return {
    listDeliveries: (appId, filter) => listDeliveries(reads, appId, filter),
    getDelivery: (appId, deliveryId) => getDelivery(reading, appId, deliveryId, clock.now()),
    async redeliver(appId, deliveryId, by) {
      await admitApp(rates, 'redelivery', appId);
      const redelivered = await redeliver(appId, deliveryId, by);
      if (isRefusal(redelivered)) return redelivered;
      return { delivery: await recordOf(appId, redelivered.deliveryId), sentNow: redelivered.sentNow };
    },
    async sendTest(appId, by, endpointId) {
      await admitApp(rates, 'webhookTest', appId);
      const sent = await sendTest(appId, by, endpointId);
      return isRefusal(sent) ? sent : recordOf(appId, sent.deliveryId);
    },
  };
}

// Worker that sends due webhooks, and their bodies.

export interface WebhookWorkerDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly DueWebhook[]>;
  readonly send: SendWebhook;
  /** Maximum concurrent deliveries to one app's webhook URL. */
  readonly perAppMax: number;
  /** Maximum concurrent deliveries to one further endpoint. */
  readonly perEndpointMax: number;
}

const concurrency = 128;
/** Maximum concurrent deliveries to one webhook URL: a receiver that does not answer, for ten seconds each, leaves room for others. */
export const deliveriesPerAppMax = 16;
/** Maximum concurrent deliveries to one further endpoint: the endpoints of an app together get no more than its webhook URL. */
export const deliveriesPerEndpointMax = 3;

/** Finished deliveries stay in the list until the read models have caught up. */
const rememberedMax = 10_000;

/** Notifies apps of their payments. A payment's webhooks to one receiver are sent one after the other, others concurrently. */
export function createWebhookWorker({ due, send, perAppMax, perEndpointMax }: WebhookWorkerDeps): Worker<DueWebhook> {
  const over = boundedMap<true>(rememberedMax);
  return {
    name: 'webhooks',
    concurrency,
    due: async (max, now) => (await due(max, now)).filter(({ deliveryId }) => !over.get(deliveryId)),
    // Like `dueWebhooks`. An endpoint waits neither for another one nor for the webhook URL.
    keyOf: ({ paymentId, endpointId }) => (endpointId === null ? paymentId : `${paymentId}:${endpointId}`),
    share: {
      max: ({ endpointId }) => (endpointId === null ? perAppMax : perEndpointMax),
      of: ({ appId, endpointId }) => (endpointId === null ? appId : `${appId} ${endpointId}`),
    },

    // A stop of the process lets a claimed delivery finish.
    async act({ eventRevision, endpointId, ...delivery }, signal) {
      const to = endpointId === null ? {} : { endpointId };
      const news = { ...delivery, ...to, ...sentByItself, eventRevision: eventRevision.toString() };
      await send(news, { cause: 'worker:webhooks' }, signal);
      // Claimed by any process: nobody sends it again.
      over.set(delivery.deliveryId, true);
    },
  };
}

// Body of a webhook: equal bytes from an equal start.

export interface WebhookBodyDeps {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

export type WebhookBodyOf = (start: WebhookStart) => Promise<Uint8Array>;

/** More than a flood of payins can leave in a payment's stream. */
const eventsMax = 10_000;

/** The payment as of the webhook's event, never the current one, which may already have a payout. For a test, a sample payment. */
export function createWebhookBodies({ store, codec }: WebhookBodyDeps): WebhookBodyOf {
  return async (start) => {
    const { deliveryId, eventType, paymentId, eventId, eventRevision } = start;
    const write = (timestamp: string, data: object): Uint8Array =>
      Buffer.from(JSON.stringify({ event_id: deliveryId, type: eventType, timestamp, data }), 'utf8');
    if (paymentId === null || eventId === null || eventRevision === null) {
      return write(start.startedAt, sampleWebhookData(start.appId, start.startedAt));
    }
    const events = await paymentUpTo({ paymentId, eventId }, BigInt(eventRevision));
    const at = events.at(-1)?.metadata.at ?? start.startedAt;
    return write(at, webhookData(viewOf(folded(events), at)));
  };

  async function paymentUpTo({ paymentId, eventId }: { paymentId: string; eventId: string }, revision: bigint) {
    assert(revision < eventsMax, `payment ${paymentId}: event ${revision} is beyond the ${eventsMax} a webhook reads`);
    const events = await store.read(`payment-${paymentId}`, { from: 0n, max: Number(revision) + 1 });
    assert(events.at(-1)?.id === eventId, `payment ${paymentId} has no event ${eventId} at revision ${revision}`);
    return events;
  }

  function folded(events: readonly StoredEvent[]) {
    const known = events.map(codec.read).filter((event) => event !== undefined);
    const payment = fold(paymentDecider, known as readonly PaymentEvent[]);
    assert(payment !== null, 'a webhook tells of a payment that was created');
    return payment;
  }
}
