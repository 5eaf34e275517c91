/** One webhook delivery as sent and answered, and its redelivery. */

import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import type { Delivery, DeliveryRecord } from '../../queries/deliveries.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { oneOf, Uuid } from '../../src/api/schemas/base.ts';
import { card, copyable, deliveryChip, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { lengthText, newsOf, when } from '../parts/cells.ts';
import { agreeField, emptyForm, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { deliveryTable } from './deliveryTable.ts';
import { fields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page } from './page.ts';
import { noSuchPage } from './router.ts';

export interface DeliveryModel extends Frame {
  readonly delivery: Delivery;
  readonly url: string;
  /** For people: reason of a missing answer; null if there was one. */
  readonly error: string | null;
  readonly duration_ms: number | null;
  /** As sent; null if unknown: it was never sent, or by an older version. */
  readonly request: {
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: string;
    /** True if the displayed body is the sent one, by its digest. */
    readonly proved: boolean;
  } | null;
  /** First delivery of a redelivery; null for a first one. */
  readonly firstDeliveryId: string | null;
  /** Redeliveries of this one, oldest first. */
  readonly repeats: readonly Delivery[];
  readonly mayRedeliver: boolean;
}

/** One webhook: the request as sent, and the answer. POST to redeliver: acknowledged. */
export const deliveryPage = (model: DeliveryModel): VNode => {
  const { app, delivery, repeats } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: newsOf[delivery.eventType],
      state: deliveryChip(delivery),
      up: { href: to.webhooks, label: 'Webhooks' },
      section: 'webhooks',
      live: `${newsOf[delivery.eventType]}: ${delivery.status}`,
    },
    html`<div class="stack">
      <div class="pair">
        ${card({ title: 'Request', note: requestNote(model) }, request(model))}
        <div class="stack">
          ${card({ title: 'Answer', live: 'answer' }, inside(answer(model)))}
          ${model.mayRedeliver && card({ title: 'Send it again' }, redeliverForm(model))}
        </div>
      </div>
      ${repeats.length > 0 && card({ title: 'Sent again', live: 'repeats' }, deliveryTable(app.appId, repeats))}
    </div>`,
  );
};

const requestNote = ({ request }: DeliveryModel): string | undefined =>
  request ? (request.proved ? 'as it was sent, byte for byte' : 'made again: the bytes sent were others') : undefined;

function request({ url, request }: DeliveryModel): VNode {
  if (!request)
    return empty(
      'The request is not known',
      'It was not sent, or nobody knows whether it was: this service stopped while it was being sent. It is not sent again by itself.',
    );
  return inside(html`<div class="rows">
    <p class="mono wrap"><strong>POST</strong> ${url}</p>
    <pre class="mono code" tabindex="0" aria-label="Headers">
    ${request.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
    <pre class="mono code" tabindex="0" aria-label="Body">${indented(request.body)}</pre>
  </div>`);
}

/** For display: the signature covers the bytes without these spaces. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function answer({ app, delivery, error, duration_ms, firstDeliveryId }: DeliveryModel): VNode {
  const to = appPaths(app.appId);
  const { statusCode, responsePreview, paymentId, deliveryId, deliveredAt, endpointId } = delivery;
  return html`<div class="rows">
    ${pairs([
      [
        'Status',
        statusCode === null ? html`<strong>${error ?? 'no answer'}</strong>` : html`<strong>${statusCode}</strong>`,
      ],
      duration_ms === null ? null : ['Took', lengthText(duration_ms)],
      deliveredAt === null ? null : ['When', when(deliveredAt as Instant)],
      paymentId === null ? null : ['Payment', html`<a class="mono" href=${to.payment(paymentId)}>${paymentId}</a>`],
      ['Delivery', copyable(html`<span class="mono">${deliveryId}</span>`, deliveryId, 'Delivery id')],
      endpointId === null
        ? null
        : ['Endpoint', copyable(html`<span class="mono">${endpointId}</span>`, endpointId, 'Endpoint id')],
      firstDeliveryId === null
        ? null
        : [
            'Sent again',
            html`<span>after <a class="mono" href=${to.delivery(firstDeliveryId)}>${firstDeliveryId}</a></span>`,
          ],
    ])}
    ${responsePreview && begun(responsePreview)}
  </div>`;
}

const begun = (preview: string): VNode =>
  html`<div class="rows">
    <pre class="mono code" tabindex="0" aria-label="The answer’s beginning">${preview}</pre>
    <p class="small muted">The first 200 characters of what your server answered.</p>
  </div>`;

const redeliverForm = ({ app, delivery }: DeliveryModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).redeliver(delivery.deliveryId)}>
    ${notice(
      'wait',
      html`<p>Your server may have taken this webhook although its answer did not reach us. Sent again,
    it comes with <strong>another id</strong>, and a server that does not look at the payment could fulfil the order
    twice.</p>`,
    )}
    ${agreeField({
      form: emptyForm,
      name: 'acknowledged',
      label: 'My server looks up the payment and fulfils an order once.',
    })}
    ${submit('Send it again', 'danger')}
  </form>`;

/** Needs of the pages of a delivery. */
export type DeliveryPagesDeps = Pick<DeliveryRoutesDeps, 'getDelivery' | 'redeliver'>;

const DeliveryPath = Type.Object({ deliveryId: Uuid });
const path = '/dashboard/apps/{appId}/webhooks/{deliveryId}';

export const deliveryPages = (
  { getDelivery, redeliver }: DeliveryPagesDeps,
  frames: Frames,
): readonly (AnyPage | AnyForm)[] => [
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
    // Checkbox below the warning that the receiver may have it already.
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
  badUrl: 'The URL is not valid. Nothing was sent.',
  blockedAddress: 'The address of the host is not public. Nothing was sent.',
  dns: 'The host name does not resolve.',
  connection: 'Could not connect, or the connection broke.',
  tls: 'The certificate is not valid for the host.',
  protocol: 'The answer was not HTTP.',
  timeout: 'No answer within 10 seconds.',
  endpointRemoved: 'The endpoint was removed before. Nothing was sent.',
  unknown: 'It is unknown whether it arrived: the service stopped while sending, or is sending it now.',
};
