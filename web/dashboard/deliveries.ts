/** One webhook delivery as sent and answered, and its redelivery. */
import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { rolePointer } from '../../domain/merchant/roles.ts';
import type { EndpointTerms } from '../../domain/payment/events.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import type { Delivery, DeliveryRecord } from '../../queries/deliveries.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import { ApiError, errorOfRefusal } from '../../src/api/errors.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { oneOf, Uuid } from '../../src/api/schemas/base.ts';
import { card, copyable, deliveryChip, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { lengthText, newsOf, silenceOf, when } from '../parts/cells.ts';
import { agreeField, emptyForm, type FormState, linkButton, problems, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, cut, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { type PlainName, sayContent, sayCount, sayText } from '../parts/say.ts';
import { type Column, table } from '../parts/table.ts';
import { fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
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

// Redelivers the newest webhooks that were not accepted, all those of the page at once. POST: acknowledged,
// deliveries.

export interface BulkRedeliveryModel extends Frame {
  /** Newest first. */
  readonly deliveries: readonly Delivery[];
  readonly form: FormState;
}

export const bulkRedeliveryPage = (model: BulkRedeliveryModel): VNode => {
  const { app, deliveries } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: sayText('sendWebhooksAgain'), section: 'webhooks', up: { href: to.webhooks, label: sayText('webhooks') } },
    html`<div class="stack">${
      deliveries.length === 0
        ? card(
            { title: sayText('nothingToSendAgain') },
            empty(
              sayText('everyWebhookAccepted'),
              sayContent('everyWebhookAcceptedText'),
              linkButton(to.webhooks, sayContent('webhooks')),
            ),
          )
        : [
            card({ title: sayCount('sendCountAgain', deliveries.length) }, confirmForm(model)),
            card(
              { title: sayText('theseAreSent'), note: sayContent('atMostAtOnce', { max: atOnceMax }) },
              deliveryTable(app.appId, deliveries),
            ),
          ]
    }</div>`,
  );
};

const confirmForm = ({ app, deliveries, form }: BulkRedeliveryModel): VNode =>
  inside(html`<form class="rows" method="post" action=${appPaths(app.appId).redeliverFailed}>
    ${problems(form)}
    <p>${sayContent('bulkText')}</p>
    <input type="hidden" name="deliveries" value=${deliveries.map(({ deliveryId }) => deliveryId).join(',')} />
    ${agreeField({
      form,
      name: 'acknowledged',
      label: sayText('serverLooksUp'),
    })}
    <div class="controls">${submit(sayCount('sendCountAgain', deliveries.length), 'danger')}
      ${linkButton(appPaths(app.appId).webhooks, sayContent('leaveIt'))}</div>
  </form>`);

// Redelivery of many webhooks.

/** Needs of the page of many redeliveries. */
export interface BulkRedeliveryDeps extends Pick<DeliveryRoutesDeps, 'listDeliveries' | 'getDelivery' | 'redeliver'> {
  readonly clock: Pick<Clock, 'now'>;
}

/** Maximum webhooks of one form. */
const atOnceMax = 20;
/** Exhausted deliveries that are read to find redeliverable ones. */
const readMax = 60;
const groupSize = 5;
/** No further webhook is sent after this time. A receiver has 10 s for each. */
const sending_ms = 15_000;

const bulkPath = '/dashboard/apps/{appId}/webhooks/again';
const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

const Chosen = fields({
  acknowledged: oneOf(['true', 'on', 'yes'], { description: 'ticked' }),
  deliveries: Type.Unsafe<string>({
    type: 'string',
    pattern: `^${uuid}(,${uuid}){0,${atOnceMax - 1}}$`,
    description: 'the deliveries of the page',
  }),
});

/** Before the page of one delivery, whose id would otherwise match the last word of the path. */
export function bulkRedeliveryPages(deps: BulkRedeliveryDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<'owner'>, form: FormState): Promise<PageResult> => {
    const [frame, deliveries] = await Promise.all([frames.ofApp(visit), redeliverableOf(deps, visit.visitor.appId)]);
    return { page: bulkRedeliveryPage({ ...frame, deliveries, form }) };
  };
  return [
    page({ path: bulkPath, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path: bulkPath,
      audience: 'owner',
      fields: Chosen,
      async act({ visitor: { appId }, fields: { deliveries }, by }) {
        const until_ms = epochMs(deps.clock.now()) + sending_ms;
        const isLate = (now: Instant): boolean => epochMs(now) >= until_ms;
        const ids = [...new Set(deliveries.toLowerCase().split(','))];
        const sent = await inGroups(ids, async (deliveryId) => {
          if (isLate(deps.clock.now())) return null;
          // The owner may have redelivered it meanwhile, and a foreign id is refused: the others are sent.
          return deps.redeliver(appId, deliveryId, by).catch(nullIfRateLimited);
        });
        const byRole = sent.find((each) => each !== null && isRefusal(each) && each.pointer === rolePointer);
        if (byRole && isRefusal(byRole)) return byRole;
        const isAll = sent.every((each) => each !== null && !isRefusal(each));
        return { to: appPaths(appId).webhooks, told: isAll ? 'redeliveredAll' : 'redeliveredSome' };
      },
      again: shown,
    }),
  ];
}

/** A rate limit stops no delivery that is already in flight. @throws any other error */
function nullIfRateLimited(error: unknown): null {
  if (error instanceof ApiError && error.code === 'rateLimited') return null;
  throw error;
}

/** Processes groups of `groupSize` items one after the other. */
async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let first = 0; first < items.length; first += groupSize) {
    results.push(...(await Promise.all(items.slice(first, first + groupSize).map(work))));
  }
  return results;
}

/** Newest deliveries that may be redelivered now. The log decides, so a delivery that was just redelivered is not among them. */
async function redeliverableOf(
  { listDeliveries, getDelivery }: BulkRedeliveryDeps,
  appId: string,
): Promise<readonly Delivery[]> {
  const found = await listDeliveries(appId, { limit: readMax, status: 'exhausted' });
  if (isRefusal(found)) throw errorOfRefusal(found);
  const records = await inGroups(found.deliveries, async (delivery) =>
    (await getDelivery(appId, delivery.deliveryId))?.redeliverable ? [delivery] : [],
  );
  return records.flat().slice(0, atOnceMax);
}
