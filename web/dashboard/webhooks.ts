/** Webhook URL, secret, further endpoints and deliveries. POST to webhookUrl: webhookUrl. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import { laterWebhookEventTypes } from '../../domain/webhook.ts';
import type { ShownEndpoint } from '../../queries/apps.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { oneOf, PageCursor, Uuid } from '../../src/api/schemas/base.ts';
import { card, copyable, empty, inside, pairs, secretOnce } from '../parts/boxes.ts';
import { newsOf, when } from '../parts/cells.ts';
import {
  emptyForm,
  type FormState,
  linkButton,
  postButton,
  problems,
  selectField,
  submit,
  textField,
} from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { pager } from '../parts/table.ts';
import { confirmPage } from './confirm.ts';
import { deliveryTable } from './deliveries.ts';
import { type EndpointFormsDeps, endpointForms, endpointsCard } from './endpoints.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';

export interface WebhooksModel extends Frame {
  readonly webhookUrl: string | null;
  /** Types that the app chose besides the first two. */
  readonly webhookTypes: readonly string[];
  readonly fingerprint: string | null;
  readonly rotatedAt: Instant | null;
  /** Field: webhookUrl. */
  readonly form: FormState;
  /** Right after it was made, and never again. */
  readonly newSecret: string | null;
  /** Endpoints besides the webhook URL, oldest first. */
  readonly endpoints: readonly ShownEndpoint[];
  /** Fields of a new endpoint. */
  readonly endpointForm: FormState;
  /** Right after it was made, and never again. */
  readonly newEndpointSecret: string | null;
  /** Newest first. */
  readonly deliveries: readonly Delivery[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  readonly filter: DeliveryListFilter;
}

/** Filter of the list of deliveries; null for all. */
export interface DeliveryListFilter {
  readonly state: 'delivered' | 'exhausted' | null;
  readonly payment: string | null;
}

export const webhooksPage = (model: WebhooksModel): VNode => {
  const { app, webhookUrl, newSecret, newEndpointSecret, endpoints, endpointForm } = model;
  const { deliveries, cursor, nextCursor, filter } = model;
  const isFiltered = filter.state !== null || filter.payment !== null;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: sayText('webhooks'),
      section: 'webhooks',
      live: deliveries.length > 0 ? sayText('webhooksChanged') : '',
    },
    html`<div class="stack">
      ${newSecret !== null && secretOnce(sayText('newWebhookSecret'), newSecret, sayContent('newSecretAdvice'))}
      ${newEndpointSecret !== null && secretOnce(sayText('newEndpointSecretTitle'), newEndpointSecret, sayContent('newEndpointSecretAdvice'))}
      <div class="halves">
        <div class="stack">${card({ title: sayText('whereTheyGo') }, urlForm(model))}
          ${card({ title: sayText('secret'), controls: linkButton(to.rotateSecret, sayContent('rotate')) }, inside(secretFacts(model)))}</div>
        ${card({ title: sayText('whichEvents') }, typesForm(model))}
      </div>
      ${endpointsCard({ appId: app.appId, endpoints, form: endpointForm })}
      ${card(
        {
          title: sayText('recentDeliveries'),
          note: sayContent('sentOnce'),
          live: 'deliveries',
          controls: [
            linkButton(to.redeliverFailed, sayContent('sendAgainMenu'), 'quiet'),
            webhookUrl !== null && postButton(to.testWebhook, sayContent('sendTest')),
          ],
        },
        deliveries.length > 0 || isFiltered
          ? html`<div>${deliveryFilters(to.webhooks, filter)}${
              deliveries.length > 0
                ? deliveryTable(app.appId, deliveries)
                : empty(
                    sayText('noWebhookMatches'),
                    sayContent('noWebhookMatchesText'),
                    linkButton(to.webhooks, sayContent('showAll')),
                  )
            }${pager({ path: to.webhooks, query: { ...filter }, cursor, nextCursor })}</div>`
          : empty(sayText('nothingSentYet'), sayContent(webhookUrl === null ? 'setUrlFirst' : 'sendTestText')),
      )}
    </div>`,
  );
};

const deliveryFilters = (path: string, { state, payment }: DeliveryListFilter): VNode => {
  const form = { values: { state: state ?? '', payment: payment ?? '' }, errors: {} };
  return html`<form class="inside filters few" role="search" method="get" action=${path}>
    ${textField({ form, name: 'payment', label: sayText('paymentIdLabel'), optional: true, mono: true, maxlength: 36, pattern: ' *[0-9a-fA-F-]{36} *' })}
    ${selectField({
      form,
      name: 'state',
      label: sayText('state'),
      optional: true,
      options: [
        { value: '', label: sayText('all') },
        { value: 'exhausted', label: sayText('notAccepted') },
        { value: 'delivered', label: sayText('accepted') },
      ],
    })}
    <div class="controls">${submit(sayContent('filter'), 'plain')}
      ${(state !== null || payment !== null) && linkButton(path, sayContent('clear'), 'quiet')}</div>
  </form>`;
};

const urlForm = ({ app, webhookUrl, form }: WebhooksModel): VNode => {
  const to = appPaths(app.appId);
  const shown = form.values['webhookUrl'] === undefined ? { ...form, values: { webhookUrl: webhookUrl ?? '' } } : form;
  return html`<form class="inside" method="post" action=${to.webhookUrl}>
    ${problems(form)}
    ${textField({
      form: shown,
      name: 'webhookUrl',
      label: sayText('webhookUrl'),
      type: 'url',
      inputmode: 'url',
      maxlength: 2048,
      placeholder: 'https://shop.example/webhooks',
      hint: sayContent('webhookUrlHint'),
    })}
    <div class="controls">${submit(sayContent('save'))}${webhookUrl !== null && linkButton(to.removeWebhook, sayContent('removeMenu'), 'quiet')}
    </div>
  </form>`;
};

const typesForm = ({ app, webhookTypes }: WebhooksModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).webhookTypes}>
    <p class="muted">${sayContent('alwaysReported')}</p>
    <fieldset class="field"><legend class="visually-hidden">${sayContent('furtherEvents')}</legend>
      <div class="choices">${laterWebhookEventTypes.map(
        (type) =>
          html`<label><input type="checkbox" name=${type} value="true" checked=${webhookTypes.includes(type)} /><span><strong>${newsOf(type)}</strong> <small class="muted mono">${type}</small></span></label>`,
      )}</div>
    </fieldset>
    ${submit(sayContent('save'))}
  </form>`;

/** An unchecked box is not sent. */
const ChosenTypes = fields(Object.fromEntries(laterWebhookEventTypes.map((type) => [type, Type.Optional(entry(8))])));

const secretFacts = ({ fingerprint, rotatedAt }: WebhooksModel): VNode =>
  html`<div class="rows">
    <p class="muted">${sayContent('secretText')}</p>
    ${pairs([
      fingerprint === null
        ? null
        : [
            sayText('fingerprint'),
            copyable(html`<span class="mono">${fingerprint}</span>`, fingerprint, sayText('fingerprint')),
          ],
      [sayText('secretMade'), rotatedAt === null ? sayContent('atRegistration') : when(rotatedAt)],
    ])}
  </div>`;

// An app's webhook URL, the signing secret, and deliveries.

/** Needs of the pages of webhooks. */
export interface WebhookPagesDeps
  extends Pick<SettingsReads, 'getSettings'>,
    Pick<DeliveryRoutesDeps, 'listDeliveries' | 'sendTest'>,
    InForce {
  readonly merchants: Pick<ManageMerchant, 'setWebhookUrl' | 'setWebhookTypes' | 'rotateSecret'> &
    EndpointFormsDeps['merchants'];
}
type Own = Visit<'owner'>;

interface Asked {
  readonly state?: FormState;
  readonly endpointState?: FormState;
  readonly newEndpointSecret?: string | null;
  readonly cursor?: string | null;
  readonly filter?: DeliveryListFilter;
  /** Only in the answer to the POST that made it. */
  readonly newSecret?: string | null;
}
type Listed = (visit: Own, asked: Asked) => Promise<PageResult>;

const path = '/dashboard/apps/{appId}/webhooks';
const rows = 25;
const noFilter: DeliveryListFilter = { state: null, payment: null };

/** Before the page of one delivery, whose id would otherwise match these words. */
export function webhookPages(deps: WebhookPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const listed = listing(deps, frames);
  return [
    page({
      path,
      audience: 'owner',
      query: fields({
        cursor: Type.Optional(PageCursor),
        state: Type.Optional(oneOf(['delivered', 'exhausted'])),
        payment: Type.Optional(Uuid),
      }),
      show: (visit) => {
        const { cursor = null, state = null, payment = null } = visit.query;
        return listed(visit, { state: emptyForm, cursor, filter: { state, payment: payment?.toLowerCase() ?? null } });
      },
    }),
    ...changingUrl(deps, frames, listed),
    ...rotating(deps, frames, listed),
    ...endpointForms(deps, listed),
  ];
}

const listing =
  ({ getSettings, listDeliveries }: WebhookPagesDeps, frames: Frames): Listed =>
  async (visit, asked) => {
    const { state = emptyForm, endpointState = emptyForm, newSecret = null, newEndpointSecret = null } = asked;
    const { cursor = null, filter = noFilter } = asked;
    const { appId } = visit.visitor;
    const [frame, settings, sent] = await Promise.all([
      frames.ofApp(visit),
      getSettings(appId),
      listDeliveries(appId, {
        limit: rows,
        ...(cursor !== null && { cursor }),
        ...(filter.state !== null && { status: filter.state }),
        ...(filter.payment !== null && { paymentId: filter.payment }),
      }),
    ]);
    if (isRefusal(sent)) throw errorOfRefusal(sent);
    const webhookUrl = settings?.webhookUrl ?? null;
    const values = Object.keys(state.values).length > 0 ? state.values : { webhookUrl: webhookUrl ?? '' };
    const model = {
      webhookUrl,
      webhookTypes: settings?.webhookTypes ?? [],
      fingerprint: settings?.webhookSecretFingerprint ?? null,
      rotatedAt: settings?.webhookSecretRotatedAt ?? null,
      form: { ...state, values },
      newSecret,
      endpoints: settings?.webhookEndpoints ?? [],
      endpointForm: endpointState,
      newEndpointSecret,
      filter,
      cursor,
      ...sent,
    };
    return { page: webhooksPage({ ...frame, ...model }) };
  };

/** True for an app that never had a URL, and whose secret dates from its registration: its owner gets a new one with the first URL. */
const isFirstUrl = (before: ShownSettings): boolean =>
  before.webhookUrl === null &&
  (before.webhookSecretRotatedAt === null || before.webhookSecretRotatedAt <= before.registeredAt);

type ShownSettings = NonNullable<Awaited<ReturnType<WebhookPagesDeps['getSettings']>>>;

const changingUrl = (
  { merchants, getSettings, sendTest, shown }: WebhookPagesDeps,
  frames: Frames,
  listed: Listed,
): readonly (AnyPage | AnyForm)[] => {
  const again = (visit: Own, state: FormState) => listed(visit, { state });
  return [
    form({
      path: `${path}/url`,
      audience: 'owner',
      fields: fields({ webhookUrl: entry(2_048) }),
      async act(visit) {
        const { visitor, fields: sent, by } = visit;
        const { appId } = visitor;
        const before = await getSettings(appId);
        const changed = await merchants.setWebhookUrl(appId, sent.webhookUrl, by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        if (before && isFirstUrl(before)) {
          const rotated = await merchants.rotateSecret(appId, by);
          if (isRefusal(rotated)) return rotated;
          await shown(rotated).catch(() => {});
          return listed(visit, { state: emptyForm, newSecret: rotated.webhookSecret });
        }
        return { to: appPaths(appId).webhooks, told: 'webhookSet' };
      },
      again,
    }),
    form({
      path: `${path}/types`,
      audience: 'owner',
      fields: ChosenTypes,
      async act({ visitor: { appId }, fields: ticked, by }) {
        const types = laterWebhookEventTypes.filter((type) => type in ticked);
        const changed = await merchants.setWebhookTypes(appId, types, by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        return { to: appPaths(appId).webhooks, told: 'webhookTypesSet' };
      },
      again,
    }),
    page({
      path: `${path}/remove`,
      audience: 'owner',
      async show(visit) {
        const settings = await getSettings(visit.visitor.appId);
        if (!settings?.webhookUrl) throw noSuchPage();
        const danger = { kind: 'removeWebhook', webhookUrl: settings.webhookUrl } as const;
        return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
      },
    }),
    form({
      path: `${path}/remove`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const changed = await merchants.setWebhookUrl(appId, null, by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        return { to: appPaths(appId).webhooks, told: 'webhookRemoved' };
      },
      again,
    }),
    form({
      path: `${path}/test`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const test = await sendTest(appId, by);
        if (isRefusal(test)) return test;
        return { to: appPaths(appId).delivery(test.deliveryId), told: 'testSent' };
      },
      again,
    }),
  ];
};

const rotating = (
  { merchants, shown }: WebhookPagesDeps,
  frames: Frames,
  listed: Listed,
): readonly (AnyPage | AnyForm)[] => [
  page({
    path: `${path}/rotate`,
    audience: 'owner',
    show: async (visit) => ({
      page: confirmPage({ ...(await frames.ofApp(visit)), danger: { kind: 'rotateSecret' } }),
    }),
  }),
  form({
    path: `${path}/rotate`,
    audience: 'owner',
    fields: noFields,
    async act(visit) {
      const rotated = await merchants.rotateSecret(visit.visitor.appId, visit.by);
      if (isRefusal(rotated)) return rotated;
      await shown(rotated).catch(() => {});
      return listed(visit, { state: emptyForm, newSecret: rotated.webhookSecret });
    },
    again: (visit, state) => listed(visit, { state }),
  }),
];
