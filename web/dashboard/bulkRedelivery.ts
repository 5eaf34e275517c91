/** Redelivers the newest webhooks that were not accepted, all those of the page at once. POST: acknowledged, deliveries. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { rolePointer } from '../../domain/merchant/roles.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { ApiError, errorOfRefusal } from '../../src/api/errors.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { card, empty, inside } from '../parts/boxes.ts';
import { agreeField, emptyForm, type FormState, linkButton, problems, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayCount, sayText } from '../parts/say.ts';
import { deliveryTable } from './deliveries.ts';
import { fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';

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

const path = '/dashboard/apps/{appId}/webhooks/again';
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
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
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
