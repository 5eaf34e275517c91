/** API keys: issued, displayed once, renamed, revoked. POST: name, scope (orders or admin), expiresInDays; POST to renameKey: name. */

import type { VNode } from 'preact';
import Type, { type Static } from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import type { Clock } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { type Instant, plus } from '../../domain/time.ts';
import type { ListedKey } from '../../queries/merchantAudit.ts';
import { type InForce, issueKey } from '../../src/api/issueKey.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import type { TeamReads } from '../../src/api/routes/team.ts';
import { oneOf, Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, empty, secretOnce } from '../parts/boxes.ts';
import { hourFrom, onDay } from '../parts/cells.ts';
import {
  choiceField,
  emptyForm,
  type FormState,
  linkButton,
  problems,
  selectField,
  submit,
  textField,
} from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { confirmPage } from './confirm.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit, whoDid } from './page.ts';
import { noSuchPage } from './router.ts';

/** A key as the page displays it. */
export interface ShownKey extends ListedKey {
  readonly expiresAt: Instant | null;
  /** Display text: an e-mail, or the operator. */
  readonly createdBy: string;
  /** Rounded to the hour; null for never. */
  readonly lastUsedAt: Instant | null;
}

export interface KeysModel extends Frame {
  /** Oldest first, including revoked ones. */
  readonly keys: readonly ShownKey[];
  readonly form: FormState;
  /** Right after it was issued, and never again. */
  readonly issued: { readonly key: string; readonly name: string; readonly scope: string } | null;
  readonly now: Instant;
}

export const keysPage = (model: KeysModel): VNode => {
  const { app, issued, keys } = model;
  return appPage(
    model,
    { title: sayText('keys'), section: 'keys' },
    html`<div class="stack">
      ${issued && secretOnce(sayText('keyIssued', { name: issued.name }), issued.key, sayContent(issued.scope === 'admin' ? 'adviceOnAdmin' : 'adviceOnOrders'))}
      ${card(
        { title: sayText('keysTitle'), note: sayContent('keysNote') },
        keys.length > 0
          ? keyTable(model)
          : empty(
              sayText('noKey'),
              html`<span>${sayContent('noKeyText', { orders: html`<strong>${sayContent('scopeOrders')}</strong>` })}</span>`,
            ),
      )}
      <div class="narrow">${card({ title: sayText('issueTitle') }, issueForm(app.appId, model.form))}</div>
    </div>`,
  );
};

const issueForm = (appId: string, form: FormState): VNode =>
  html`<form class="inside" method="post" action=${appPaths(appId).keys}>
    ${problems(form)}
    ${textField({
      form,
      name: 'name',
      label: sayText('name'),
      maxlength: 100,
      placeholder: sayText('keyPlaceholder'),
      hint: sayContent('keyNameHint'),
    })}
    ${choiceField({
      form,
      name: 'scope',
      label: sayText('permissions'),
      options: [
        { value: 'orders', label: sayText('scopeOrders'), hint: sayText('scopeOrdersHint') },
        { value: 'admin', label: sayText('scopeAdmin'), hint: sayText('scopeAdminHint') },
      ],
    })}
    ${selectField({
      form,
      name: 'expiresInDays',
      label: sayText('keyEnds'),
      options: [
        { value: '', label: sayText('never') },
        { value: '30', label: sayText('in30Days') },
        { value: '90', label: sayText('in90Days') },
        { value: '365', label: sayText('inAYear') },
      ],
    })}
    ${submit(sayContent('issueTheKey'))}
  </form>`;

const keyTable = ({ app, keys, now }: KeysModel): VNode => {
  const to = appPaths(app.appId);
  return table(
    sayText('keys'),
    [
      { head: sayText('name'), kind: 'title' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('key'), kind: 'detail' },
      { head: sayText('issued'), kind: 'detail' },
      { head: sayText('lastUsed'), kind: 'detail' },
      { head: sayText('revoke'), kind: 'action' },
    ],
    keys.map((key) => [
      key.revokedAt === null ? nameField(to.renameKey(key.keyId), key) : html`<strong>${bdi(key.name)}</strong>`,
      stateOf(key, now),
      html`<span><span class="mono whole">${key.hint}</span><small class="below">
        ${sayContent(key.scope === 'admin' ? 'scopeAdmin' : 'scopeOrders')}</small></span>`,
      html`<span>${onDay(key.createdAt)}<small class="below">${sayContent('byPerson', { person: bdi(key.createdBy) })}</small></span>`,
      key.lastUsedAt === null ? html`<span class="muted">${sayContent('neverUsed')}</span>` : hourFrom(key.lastUsedAt),
      key.revokedAt === null &&
        linkButton(
          to.revokeKey(key.keyId),
          html`<span>${sayContent('revoke')}<span class="visually-hidden"> ${key.name}</span></span>`,
          'quiet',
        ),
    ]),
  );
};

const nameField = (action: string, { keyId, name }: ShownKey): VNode =>
  html`<details class="rename"><summary><strong>${bdi(name)}</strong> <span class="small muted">${sayContent('rename')}</span></summary>
    <form method="post" action=${action}>
      ${textField({ form: { values: { name }, errors: {} }, id: `name-${keyId}`, name: 'name', label: sayText('newName'), maxlength: 100 })}
      ${submit(sayContent('save'), 'plain')}
    </form>
  </details>`;

function stateOf({ revokedAt, expiresAt }: ShownKey, now: Instant): VNode {
  if (revokedAt !== null)
    return html`<span>${chip('idle', sayText('keyRevoked'))} <small class="below">${onDay(revokedAt)}</small></span>`;
  if (expiresAt === null) return chip('ok', sayText('keyWorks'));
  if (expiresAt <= now)
    return html`<span>${chip('idle', sayText('keyEnded'))} <small class="below">${onDay(expiresAt)}</small></span>`;
  return html`<span>${chip('ok', sayText('keyWorks'))} <small class="below">${sayContent('until', { time: onDay(expiresAt) })}</small></span>`;
}

// API keys: issued and displayed once, renamed, revoked.

/** Needs of the pages of API keys. */
export interface KeyPagesDeps extends Pick<KeyReads, 'listKeys'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'issueKey' | 'renameKey' | 'revokeKey'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly team: Pick<TeamReads, 'list'>;
}
type Own = Visit<'owner'>;

const path = '/dashboard/apps/{appId}/keys';
const day_ms = 86_400_000;

const NewKey = fields({
  name: entry(100),
  scope: oneOf(['orders', 'admin']),
  expiresInDays: Type.Optional(
    Type.Unsafe<string>({ type: 'string', pattern: '^[1-9][0-9]{0,3}$', description: 'a whole number of days' }),
  ),
});
const KeyPath = Type.Object({ keyId: Uuid });

export function keyPages(deps: KeyPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, listKeys, shown } = deps;
  const listed = async (visit: Own, state: FormState, issued: KeysModel['issued'] = null): Promise<PageResult> => {
    const { appId } = visit.visitor;
    const [frame, all, team] = await Promise.all([frames.ofApp(visit), listKeys(appId), deps.team.list(appId)]);
    const keys = all.map((key) => ({ ...key, createdBy: whoDid(key.createdBy, visit.visitor, frame, team) }));
    return { page: keysPage({ ...frame, keys, form: state, issued, now: deps.clock.now() }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => listed(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: NewKey,
      async act(visit) {
        const { appId } = visit.visitor;
        const { name, scope } = visit.fields;
        const issued = await issueKey(deps, appId, { name, scope, expiresAt: expiryOf(visit.fields) }, visit.by);
        if (isRefusal(issued)) return issued;
        // Only this answer contains the key: a redirect target could be opened again.
        return listed(visit, emptyForm, { key: issued.key, name, scope });
      },
      again: listed,
    }),
    form({
      path: `${path}/{keyId}/rename`,
      audience: 'owner',
      params: KeyPath,
      fields: fields({ name: entry(100) }),
      async act({ visitor: { appId }, params, fields: { name }, by }) {
        const renamed = await merchants.renameKey(appId, params.keyId, name, by);
        if (isRefusal(renamed)) return renamed;
        await shown(renamed).catch(() => {});
        return { to: appPaths(appId).keys, told: 'keyRenamed' };
      },
      again: listed,
    }),
    ...revoking(deps, frames, listed),
  ];

  function expiryOf({ expiresInDays }: Static<typeof NewKey>): Instant | null {
    return expiresInDays === undefined ? null : plus(deps.clock.now(), Number(expiresInDays) * day_ms);
  }
}

const revoking = (
  { merchants, listKeys, shown }: KeyPagesDeps,
  frames: Frames,
  listed: (visit: Own, state: FormState) => Promise<PageResult>,
): readonly (AnyPage | AnyForm)[] => [
  page({
    path: `${path}/{keyId}/revoke`,
    audience: 'owner',
    params: KeyPath,
    async show(visit) {
      const { appId } = visit.visitor;
      const key = (await listKeys(appId)).find(({ keyId }) => keyId === visit.params.keyId);
      if (!key || key.revokedAt !== null) throw noSuchPage();
      const { keyId, name, hint, lastUsedAt } = key;
      const danger = { kind: 'revokeKey', keyId, name, hint, lastUsedAt } as const;
      return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
    },
  }),
  form({
    path: `${path}/{keyId}/revoke`,
    audience: 'owner',
    params: KeyPath,
    fields: noFields,
    async act({ visitor: { appId }, params, by }) {
      const revoked = await merchants.revokeKey(appId, params.keyId, by);
      if (isRefusal(revoked)) return revoked;
      await shown(revoked).catch(() => {});
      return { to: appPaths(appId).keys, told: 'keyRevoked' };
    },
    again: listed,
  }),
];
