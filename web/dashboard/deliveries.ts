/** One webhook delivery as it was sent and answered; a repeat of it. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { DeliveryRecord } from '../../queries/deliveries.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { oneOf, Uuid } from '../../src/api/schemas/base.ts';
import type { Frame } from '../parts/frame.ts';
import { appPaths } from '../parts/paths.ts';
import { type DeliveryModel, deliveryPage } from './delivery.ts';
import { fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page } from './page.ts';
import { noSuchPage } from './router.ts';

type Deps = Pick<HttpDeps, 'getDelivery' | 'redeliver'>;

const DeliveryPath = Type.Object({ deliveryId: Uuid });
const path = '/dashboard/apps/{appId}/webhooks/{deliveryId}';

export const deliveryPages = ({ getDelivery, redeliver }: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] => [
  page({
    path,
    audience: 'owner',
    params: DeliveryPath,
    async show(visit) {
      const { appId } = visit.visitor;
      const delivery = await getDelivery(appId, visit.params.deliveryId.toLowerCase());
      if (!delivery) throw noSuchPage();
      return { page: deliveryPage({ ...(await frames.ofApp(visit)), ...shown(delivery) }) };
    },
  }),
  form({
    path: `${path}/redeliver`,
    audience: 'owner',
    params: DeliveryPath,
    // Ticked below the warning that the receiver may have it already.
    fields: fields({ acknowledged: oneOf(['true', 'on', 'yes'], { description: 'ticked' }) }),
    async act({ visitor: { appId }, params, by }) {
      const redelivered = await redeliver(appId, params.deliveryId.toLowerCase(), by);
      if (isRefusal(redelivered)) return redelivered;
      return { to: appPaths(appId).delivery(redelivered.delivery.deliveryId), told: 'redelivered' };
    },
    async again({ visitor, params }) {
      const { deliveryId } = params as { readonly deliveryId: string };
      return { to: appPaths(visitor.appId).delivery(deliveryId), told: 'notRedelivered' };
    },
  }),
];

type Shown = Omit<DeliveryModel, keyof Frame>;

function shown({ request, redeliveries, redeliverable, ...delivery }: DeliveryRecord): Shown {
  return {
    delivery,
    url: delivery.url,
    error: delivery.error === null ? null : whyNot[delivery.error],
    duration_ms: delivery.durationMs,
    request: request && {
      headers: Object.entries(request.headers),
      body: request.body,
      proved: request.isBodyAsSent,
    },
    firstDeliveryId: delivery.firstDeliveryId,
    repeats: redeliveries,
    mayRedeliver: redeliverable,
  };
}

const whyNot: Readonly<Record<NonNullable<DeliveryRecord['error']>, string>> = {
  badUrl: 'The URL is none that can be called: nothing was sent.',
  blockedAddress: 'Its address is not publicly reachable: nothing was sent.',
  dns: 'The name of its host has no address.',
  connection: 'The connection did not come about, or it broke.',
  tls: 'Its certificate is not valid for its host.',
  protocol: 'What came back was no HTTP.',
  timeout: 'There was no answer within ten seconds.',
  unknown: 'Nobody knows whether it arrived: the service stopped while it was sent, or is sending it now.',
};
