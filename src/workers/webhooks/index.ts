/** Webhooks: sending them, in any role, and an app owner's view of them. */
import { readFileSync } from 'node:fs';
import { eventCodec } from '../../../commands/codec.ts';
import type { RoleCheck } from '../../../commands/handle.ts';
import { currentState, type Handle, readStream } from '../../../commands/handle.ts';
import { endpointSecretContext, webhookSecretContext } from '../../../commands/merchantRegistration.ts';
import type { EventStore } from '../../../commands/ports.ts';
import {
  bodyDigest,
  createRedeliver,
  createSendTest,
  createSendWebhook,
  redeliveryIdOf,
  type SendWebhook,
  type SendWebhookDeps,
} from '../../../commands/sendWebhook.ts';
import { assert, isRefusal } from '../../../domain/decider.ts';
import { merchant } from '../../../domain/merchant/state.ts';
import { endpointOf } from '../../../domain/merchant/webhook.ts';
import { getDelivery, listDeliveries } from '../../../queries/deliveries.ts';
import { admitApp, type Rates } from '../../api/rateLimits.ts';
import type { DeliveryRoutesDeps } from '../../api/routes/deliveries.ts';
import { ConfigError } from '../../config.ts';
import type { Core } from '../../core.ts';
import { coalesce } from '../../lib/cache.ts';
import { randomIds } from '../../process/system.ts';
import { certificatesIn } from '../../security/certificates.ts';
import { createAddressCheck } from '../../security/publicAddress.ts';
import { createWebhookPost } from './webhookPost.ts';
import { createWebhookBodies } from './webhooks.ts';

interface Deciding {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
}

interface Sending extends Deciding, Pick<SendWebhookDeps, 'triesMax'> {}

/** For requests or for workers: each has a separate queue to the store. @throws ConfigError for an unusable `WEBHOOK_CA_FILE` */
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
      ...(caFile && { extraCa: authoritiesOf(caFile) }),
    }),
    bodyOf: createWebhookBodies({ store, codec: eventCodec }),
    secretOf: (appId, endpointId) => readSecret(endpointId === undefined ? appId : `${appId} ${endpointId}`),
  });
}

/** Reads the file of `WEBHOOK_CA_FILE`. @throws ConfigError if it is missing or damaged */
function authoritiesOf(caFile: string): readonly string[] {
  try {
    return certificatesIn(readFileSync(caFile, 'utf8'));
  } catch (error) {
    throw new ConfigError([`WEBHOOK_CA_FILE=${caFile}: ${(error as Error).message}`]);
  }
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
