/** Webhook endpoints besides the webhook URL, on the page of webhooks. POST to add: url, and a field per type. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal } from '../../domain/decider.ts';
import { type WebhookEventType, webhookEndpointsMax, webhookEventTypes } from '../../domain/webhook.ts';
import type { ShownEndpoint } from '../../queries/apps.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { card, inside, pairs } from '../parts/boxes.ts';
import { newsOf, when } from '../parts/cells.ts';
import { type FormState, postButton, problems, submit, textField } from '../parts/field.ts';
import { html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, form, type PageResult, type Visit } from './page.ts';

interface EndpointsModel {
  readonly appId: string;
  /** Oldest first. */
  readonly endpoints: readonly ShownEndpoint[];
  /** Fields: url, and each type. */
  readonly form: FormState;
}

export const endpointsCard = ({ appId, endpoints, form }: EndpointsModel): VNode =>
  card(
    {
      title: sayText('furtherEndpoints'),
      note: sayContent('furtherEndpointsNote', { max: webhookEndpointsMax }),
    },
    inside(html`<div class="rows">
      ${endpoints.map((endpoint) => endpointRow(appId, endpoint))}
      ${endpoints.length < webhookEndpointsMax && addForm(appId, form)}
    </div>`),
  );

const endpointRow = (appId: string, { endpointId, url, types, fingerprint, rotatedAt }: ShownEndpoint): VNode => {
  const to = appPaths(appId);
  return html`<details class="endpoint">
    <summary><span class="mono">${url}</span> <small class="muted">${types.map(nameOf).join(sayText('listComma'))}</small></summary>
    <form class="rows" method="post" action=${to.endpointTypes(endpointId)}>
      ${typeChoices(sayText('endpointEvents'), (type) => types.includes(type))}
      ${submit(sayContent('save'))}
    </form>
    ${pairs([
      [sayText('fingerprint'), html`<span class="mono">${fingerprint}</span>`],
      [sayText('endpointSecretMade'), when(rotatedAt)],
    ])}
    <p class="muted">${sayContent('endpointNote')}</p>
    <div class="controls">${postButton(to.testEndpoint(endpointId), sayContent('sendTest'))}
      ${postButton(to.rotateEndpoint(endpointId), sayContent('makeNewSecret'))}
      ${postButton(to.removeEndpoint(endpointId), sayContent('removeEndpoint'), 'danger')}</div>
  </details>`;
};

const addForm = (appId: string, form: FormState): VNode =>
  html`<form class="rows" method="post" action=${appPaths(appId).endpoints}>
    ${problems(form)}
    ${textField({
      form,
      name: 'url',
      label: sayText('otherEndpointUrl'),
      type: 'url',
      inputmode: 'url',
      maxlength: 2048,
      placeholder: 'https://shop.example/accounting',
      hint: sayContent('otherEndpointHint'),
    })}
    ${typeChoices(sayText('newEndpointEvents'), (type) => form.values[type] !== undefined)}
    ${submit(sayContent('addEndpoint'))}
  </form>`;

const typeChoices = (legend: string, isTicked: (type: WebhookEventType) => boolean): VNode =>
  html`<fieldset class="field"><legend>${legend}</legend>
    <div class="choices">${webhookEventTypes.map(
      (type) =>
        html`<label><input type="checkbox" name=${type} value="true" checked=${isTicked(type)} /><span><strong>${newsOf(type)}</strong> <small class="muted mono">${type}</small></span></label>`,
    )}</div>
  </fieldset>`;

const nameOf = (type: string): string =>
  webhookEventTypes.find((known) => known === type) ? newsOf(type as WebhookEventType) : type;

// Forms.

export interface EndpointFormsDeps extends InForce, Pick<DeliveryRoutesDeps, 'sendTest'> {
  readonly merchants: Pick<
    ManageMerchant,
    'addEndpoint' | 'setEndpointTypes' | 'rotateEndpointSecret' | 'removeEndpoint'
  >;
}

type Own = Visit<'owner'>;

/** Renders the page of webhooks, with the refused form or with the secret that was made right now. */
export type EndpointsListed = (
  visit: Own,
  asked: { readonly endpointState?: FormState; readonly newEndpointSecret?: string },
) => Promise<PageResult>;

const path = '/dashboard/apps/{appId}/webhooks/endpoints';
const boxes = Object.fromEntries(webhookEventTypes.map((type) => [type, Type.Optional(entry(8))]));
const EndpointPath = Type.Object({ endpointId: Type.String({ maxLength: 128 }) });

const ticked = (sent: object): WebhookEventType[] => webhookEventTypes.filter((type) => type in sent);

export function endpointForms(
  { merchants, sendTest, shown }: EndpointFormsDeps,
  listed: EndpointsListed,
): readonly AnyForm[] {
  const again = (visit: Own, endpointState: FormState) => listed(visit, { endpointState });
  return [
    form({
      path,
      audience: 'owner',
      fields: fields({ url: entry(2_048), ...boxes }),
      async act(visit) {
        const { visitor, fields: sent, by } = visit;
        const made = await merchants.addEndpoint(visitor.appId, { url: String(sent.url), types: ticked(sent) }, by);
        if (isRefusal(made)) return made;
        await shown(made).catch(() => {});
        return listed(visit, { newEndpointSecret: made.secret });
      },
      again,
    }),
    form({
      path: `${path}/{endpointId}/types`,
      audience: 'owner',
      params: EndpointPath,
      fields: fields(boxes),
      async act({ visitor: { appId }, params: { endpointId }, fields: sent, by }) {
        const changed = await merchants.setEndpointTypes(appId, endpointId, ticked(sent), by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        return { to: appPaths(appId).webhooks, told: 'webhookTypesSet' };
      },
      again: (visit, { errors }) => again(visit, { values: {}, errors }),
    }),
    form({
      path: `${path}/{endpointId}/rotate`,
      audience: 'owner',
      params: EndpointPath,
      fields: noFields,
      async act(visit) {
        const { visitor, params, by } = visit;
        const made = await merchants.rotateEndpointSecret(visitor.appId, params.endpointId, by);
        if (isRefusal(made)) return made;
        await shown(made).catch(() => {});
        return listed(visit, { newEndpointSecret: made.secret });
      },
      again,
    }),
    form({
      path: `${path}/{endpointId}/remove`,
      audience: 'owner',
      params: EndpointPath,
      fields: noFields,
      async act({ visitor: { appId }, params: { endpointId }, by }) {
        const removed = await merchants.removeEndpoint(appId, endpointId, by);
        if (isRefusal(removed)) return removed;
        await shown(removed);
        return { to: appPaths(appId).webhooks, told: 'endpointRemoved' };
      },
      again,
    }),
    form({
      path: `${path}/{endpointId}/test`,
      audience: 'owner',
      params: EndpointPath,
      fields: noFields,
      async act({ visitor: { appId }, params: { endpointId }, by }) {
        const test = await sendTest(appId, by, endpointId);
        if (isRefusal(test)) return test;
        return { to: appPaths(appId).delivery(test.deliveryId), told: 'testSent' };
      },
      again,
    }),
  ];
}
