/** One webhook delivery as sent and answered, and its redelivery. */
import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { EndpointTerms } from '../../domain/payment/events.ts';
import type { Instant } from '../../domain/time.ts';
import type { Delivery, DeliveryRecord } from '../../queries/deliveries.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { oneOf, Uuid } from '../../src/api/schemas/base.ts';
import { card, copyable, deliveryChip, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { lengthText, newsOf, silenceOf, when } from '../parts/cells.ts';
import { agreeField, emptyForm, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, cut, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { type PlainName, sayContent, sayText } from '../parts/say.ts';
import { type Column, table } from '../parts/table.ts';
import { fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, page } from './page.ts';
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
  /** A redelivery would go to an endpoint that the app has removed. */
  readonly endpointRemoved: boolean;
}

/** One webhook: the request as sent, and the answer. POST to redeliver: acknowledged. */
export const deliveryPage = (model: DeliveryModel): VNode => {
  const { app, delivery, repeats } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: newsOf(delivery.eventType),
      state: deliveryChip(delivery),
      up: { href: to.webhooks, label: sayText('webhooks') },
      section: 'webhooks',
      live: `${newsOf(delivery.eventType)}: ${sayText(delivery.status === 'delivered' ? 'deliveredWord' : 'exhaustedWord')}`,
    },
    html`<div class="stack">
      <div class="pair">
        ${card({ title: sayText('request'), note: requestNote(model) }, request(model))}
        <div class="stack">
          ${card({ title: sayText('answer'), live: 'answer' }, inside(answer(model)))}
          ${model.mayRedeliver && card({ title: sayText('sendItAgain') }, redeliverForm(model))}
          ${
            model.endpointRemoved &&
            card(
              { title: sayText('sendItAgain') },
              inside(notice('idle', html`<p>${sayContent('redeliverRemoved')}</p>`)),
            )
          }
        </div>
      </div>
      ${repeats.length > 0 && card({ title: sayText('sentAgain'), live: 'repeats' }, deliveryTable(app.appId, repeats))}
    </div>`,
  );
};

const requestNote = ({ request }: DeliveryModel): string | undefined =>
  request ? (request.proved ? sayText('sentExactly') : sayText('madeAgain')) : undefined;

function request({ url, request }: DeliveryModel): VNode {
  if (!request) return empty(sayText('requestUnknown'), sayContent('requestUnknownText'));
  return inside(html`<div class="rows">
    <p class="mono wrap" dir="ltr"><strong>POST</strong> ${url}</p>
    <pre class="mono code" dir="ltr" tabindex="0" aria-label=${sayText('headersLabel')}>
    ${request.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
    <pre class="mono code" dir="ltr" tabindex="0" aria-label=${sayText('bodyLabel')}>${indented(request.body)}</pre>
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
        sayText('status'),
        statusCode === null
          ? html`<strong>${error ?? sayContent('noAnswer')}</strong>`
          : html`<strong>${statusCode}</strong>`,
      ],
      duration_ms === null ? null : [sayText('took'), lengthText(duration_ms)],
      deliveredAt === null ? null : [sayText('when'), when(deliveredAt as Instant)],
      paymentId === null
        ? null
        : [sayText('payment'), html`<a class="mono" href=${to.payment(paymentId)}>${paymentId}</a>`],
      [sayText('delivery'), copyable(html`<span class="mono">${deliveryId}</span>`, deliveryId, sayText('deliveryId'))],
      endpointId === null
        ? null
        : [
            sayText('endpoint'),
            copyable(html`<span class="mono">${endpointId}</span>`, endpointId, sayText('endpointId')),
          ],
      firstDeliveryId === null
        ? null
        : [
            sayText('sentAgain'),
            html`<span>${sayContent('afterDelivery', { delivery: html`<a class="mono" href=${to.delivery(firstDeliveryId)}>${firstDeliveryId}</a>` })}</span>`,
          ],
    ])}
    ${responsePreview && begun(responsePreview)}
  </div>`;
}

const begun = (preview: string): VNode =>
  html`<div class="rows">
    <pre class="mono code" dir="ltr" tabindex="0" aria-label=${sayText('answerBeginning')}>${preview}</pre>
    <p class="small muted">${sayContent('answerBeginningNote')}</p>
  </div>`;

const redeliverForm = ({ app, delivery }: DeliveryModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).redeliver(delivery.deliveryId)}>
    ${notice(
      'wait',
      html`<p>${sayContent('redeliverWarning', { anotherId: html`<strong>${sayContent('anotherId')}</strong>` })}</p>`,
    )}
    ${agreeField({
      form: emptyForm,
      name: 'acknowledged',
      label: sayText('serverLooksUp'),
    })}
    ${submit(sayContent('sendItAgain'), 'danger')}
  </form>`;

/** Needs of the pages of a delivery. */
export type DeliveryPagesDeps = Pick<DeliveryRoutesDeps, 'getDelivery' | 'redeliver'> & Pick<AccessDeps, 'findApp'>;

const DeliveryPath = Type.Object({ deliveryId: Uuid });
const path = '/dashboard/apps/{appId}/webhooks/{deliveryId}';

export const deliveryPages = (
  { getDelivery, redeliver, findApp }: DeliveryPagesDeps,
  frames: Frames,
): readonly (AnyPage | AnyForm)[] => [
  page({
    path,
    audience: 'owner',
    params: DeliveryPath,
    async show(visit) {
      const { appId } = visit.visitor;
      const [delivery, app] = await Promise.all([
        getDelivery(appId, visit.params.deliveryId.toLowerCase()),
        findApp(appId),
      ]);
      if (!delivery) throw noSuchPage();
      return {
        page: deliveryPage({ ...(await frames.ofApp(visit)), ...shown(delivery, app?.webhookEndpoints ?? []) }),
      };
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

function shown(
  { request, redeliveries, redeliverable, ...delivery }: DeliveryRecord,
  endpoints: readonly Pick<EndpointTerms, 'endpointId'>[],
): Shown {
  const { kind, status, endpointId } = delivery;
  const isLast = kind !== 'test' && status === 'exhausted' && redeliveries.length === 0;
  const removed = endpointId !== null && endpoints.every((each) => each.endpointId !== endpointId);
  return {
    delivery,
    url: delivery.url,
    error: delivery.error === null ? null : sayText(whyNot[delivery.error]),
    duration_ms: delivery.durationMs,
    request: request && {
      headers: Object.entries(request.headers),
      body: request.body,
      proved: request.isBodyAsSent,
    },
    firstDeliveryId: delivery.firstDeliveryId,
    repeats: redeliveries,
    mayRedeliver: redeliverable,
    endpointRemoved: !redeliverable && isLast && removed,
  };
}

const whyNot: Readonly<Record<NonNullable<DeliveryRecord['error']>, PlainName>> = {
  badUrl: 'whyBadUrl',
  blockedAddress: 'whyBlocked',
  dns: 'whyDns',
  connection: 'whyConnection',
  tls: 'whyTls',
  protocol: 'whyProtocol',
  timeout: 'whyTimeout',
  endpointRemoved: 'whyRemoved',
  unknown: 'whyUnknown',
};

// Webhooks as rows, newest first.

const columns = (): readonly Column[] => [
  { head: sayText('webhookColumn'), kind: 'title' },
  { head: sayText('state'), kind: 'chip' },
  { head: sayText('answer'), kind: 'note' },
  { head: sayText('when'), kind: 'when', sorted: 'descending' },
];

export const deliveryTable = (appId: string, deliveries: readonly Delivery[]): VNode =>
  table(
    sayText('webhooksNewestFirst'),
    columns(),
    deliveries.map((delivery) => [
      html`<span><strong><a href=${appPaths(appId).delivery(delivery.deliveryId)}>${newsOf(delivery.eventType)}</a>
        </strong>${delivery.kind === 'manual' && sayContent('wasSentAgain')}<small class="below mono">${delivery.eventType}${
          delivery.endpointId !== null && sayContent('toEndpoint', { url: hostAndPath(delivery.url) })
        }
        </small></span>`,
      deliveryChip(delivery),
      answerOf(delivery),
      when((delivery.deliveredAt ?? delivery.startedAt) as Instant),
    ]),
  );

/** A query can contain a password. */
const hostAndPath = (url: string): string => (URL.canParse(url) ? new URL(url).host + new URL(url).pathname : url);

const answerOf = ({ responsePreview, error }: Delivery): VNode | null => {
  if (error !== null && error !== 'unknown') return html`<span class="muted">${silenceOf(error)}</span>`;
  return responsePreview ? html`<span class="mono">${bdi(cut(responsePreview, 80))}</span>` : null;
};
