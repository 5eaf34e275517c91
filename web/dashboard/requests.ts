/** The newest API requests of an app, for its developers. */

import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { ApiRequestEntry, ApiRequestFilter, ApiRequestsPage } from '../../queries/apiRequests.ts';
import type { ListedKey } from '../../queries/merchantAudit.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { keptRequestsMax } from '../../src/api/requestLog.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import { oneOf, PageCursor, Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, empty } from '../parts/boxes.ts';
import { grouped, when } from '../parts/cells.ts';
import { linkButton, selectField, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { type Column, pager, table } from '../parts/table.ts';
import { fields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyPage, page, whoDid } from './page.ts';

/** A request with its caller as a display text. */
export interface ShownRequest extends Omit<ApiRequestEntry, 'caller'> {
  readonly who: string;
}

export interface RequestsModel extends Frame {
  /** Newest first. */
  readonly requests: readonly ShownRequest[];
  readonly keys: readonly Pick<ListedKey, 'keyId' | 'name'>[];
  readonly filter: { readonly show: string | null; readonly key: string | null };
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

const columns: readonly Column[] = [
  { head: 'Request', kind: 'title' },
  { head: 'Answer', kind: 'chip' },
  { head: 'Key', kind: 'detail' },
  { head: 'Request id', kind: 'detail' },
  { head: 'Took', kind: 'number' },
  { head: 'When', kind: 'when', sorted: 'descending' },
];

export const requestsPage = (model: RequestsModel): VNode => {
  const { app, requests, filter, cursor, nextCursor } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: 'API requests', section: 'requests' },
    html`<div class="stack">
      ${filters(model)}
      ${card(
        {
          title: 'Newest requests',
          note: `the last ${grouped(String(keptRequestsMax))} with an accepted key, without bodies, queries and headers`,
        },
        requests.length > 0
          ? html`<div>${table('API requests, newest first', columns, requests.map(row))}
              ${pager({ path: to.requests, query: filter, cursor, nextCursor })}</div>`
          : none(model),
      )}
    </div>`,
  );
};

const row = ({ method, route, status, error, who, requestId, durationMs, at }: ShownRequest) => [
  html`<span class="mono" dir="ltr"><strong>${method}</strong> ${route}</span>`,
  status < 400
    ? chip('ok', String(status))
    : html`<span>${chip(status < 500 ? 'bad' : 'wait', String(status))}<small class="below mono">${error}</small></span>`,
  bdi(who),
  html`<span class="mono small">${bdi(requestId)}</span>`,
  `${grouped(String(durationMs))} ms`,
  when(at),
];

const filters = ({ app, keys, filter }: RequestsModel): VNode => {
  const path = appPaths(app.appId).requests;
  const form = { values: { show: filter.show ?? '', key: filter.key ?? '' }, errors: {} };
  const isFiltered = filter.show !== null || filter.key !== null;
  return html`<form class="filters few" method="get" action=${path}>
    ${selectField({
      form,
      name: 'show',
      label: 'Answers',
      optional: 'unsaid',
      options: [
        { value: '', label: 'All' },
        { value: 'failed', label: 'Errors only' },
      ],
    })}
    ${selectField({
      form,
      name: 'key',
      label: 'Key',
      optional: 'unsaid',
      options: [{ value: '', label: 'All' }, ...keys.map(({ keyId, name }) => ({ value: keyId, label: name }))],
    })}
    <div class="controls">${submit('Filter', 'plain')}${isFiltered && linkButton(path, 'Clear', 'quiet')}</div>
  </form>`;
};

function none({ app, filter, cursor }: RequestsModel): VNode {
  const to = appPaths(app.appId);
  if (filter.show === 'failed' && filter.key === null && cursor === null)
    return empty('No errors', 'None of the newest requests failed.', linkButton(to.requests, 'Show all'));
  if (filter.show !== null || filter.key !== null || cursor !== null)
    return empty('No more requests', 'No further request matches.', linkButton(to.requests, 'Show all'));
  return empty(
    'No request yet',
    'Issue a key and send a request with it. It is listed here within 5 seconds, also if it fails.',
    linkButton(to.keys, 'Issue an API key', 'primary'),
  );
}

// Requests with an accepted key or session.

/** Needs of the page of API requests. */
export interface RequestPagesDeps extends Pick<KeyReads, 'listKeys'> {
  readonly listApiRequests: (appId: string, asked: ApiRequestFilter) => Promise<ApiRequestsPage | Refusal>;
}

const rows = 50;

export const requestPages = ({ listApiRequests, listKeys }: RequestPagesDeps, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/requests',
    audience: 'owner',
    query: fields({
      show: Type.Optional(oneOf(['failed'])),
      key: Type.Optional(Uuid),
      cursor: Type.Optional(PageCursor),
    }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { show = null, key = null, cursor = null } = visit.query;
      const asked = {
        limit: rows,
        failed: show === 'failed',
        caller: key === null ? undefined : `key:${key.toLowerCase()}`,
        cursor: cursor ?? undefined,
      };
      const [frame, keys, found] = await Promise.all([
        frames.ofApp(visit),
        listKeys(appId),
        listApiRequests(appId, asked),
      ]);
      if (isRefusal(found)) throw errorOfRefusal(found);
      const names = new Map(keys.map(({ keyId, name }) => [`key:${keyId}`, name]));
      const requests = found.requests.map(({ caller, ...request }) => ({
        ...request,
        who: names.get(caller) ?? whoDid(caller, visit.visitor, frame),
      }));
      const model = { requests, keys, filter: { show, key }, cursor, nextCursor: found.nextCursor };
      return { page: requestsPage({ ...frame, ...model }) };
    },
  }),
];
