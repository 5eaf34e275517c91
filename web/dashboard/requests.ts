/** The newest API requests of an app, for its developers. */

import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { ApiRequestEntry, ApiRequestFilter, ApiRequestsPage } from '../../queries/apiRequests.ts';
import type { ListedKey } from '../../queries/merchantAudit.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { keptRequestsMax } from '../../src/api/middleware.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import type { TeamReads } from '../../src/api/routes/team.ts';
import { oneOf, PageCursor, Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, empty } from '../parts/boxes.ts';
import { grouped, when } from '../parts/cells.ts';
import { linkButton, selectField, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { type Column, pager, table } from '../parts/table.ts';
import { fields } from './forms.ts';
import { type AnyPage, type Frames, page, whoDid } from './page.ts';

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

const columns = (): readonly Column[] => [
  { head: sayText('request'), kind: 'title' },
  { head: sayText('answer'), kind: 'chip' },
  { head: sayText('key'), kind: 'detail' },
  { head: sayText('requestId'), kind: 'detail' },
  { head: sayText('took'), kind: 'number' },
  { head: sayText('when'), kind: 'when', sorted: 'descending' },
];

export const requestsPage = (model: RequestsModel): VNode => {
  const { app, requests, filter, cursor, nextCursor } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: sayText('requests'), section: 'requests' },
    html`<div class="stack">
      ${filters(model)}
      ${card(
        {
          title: sayText('newestRequests'),
          note: sayContent('newestRequestsNote', { max: grouped(String(keptRequestsMax)) }),
        },
        requests.length > 0
          ? html`<div>${table(sayText('requestsNewestFirst'), columns(), requests.map(row))}
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
  sayContent('milliseconds', { count: grouped(String(durationMs)) }),
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
      label: sayText('answers'),
      optional: 'unsaid',
      options: [
        { value: '', label: sayText('allAnswers') },
        { value: 'failed', label: sayText('errorsOnly') },
      ],
    })}
    ${selectField({
      form,
      name: 'key',
      label: sayText('key'),
      optional: 'unsaid',
      options: [
        { value: '', label: sayText('allAnswers') },
        ...keys.map(({ keyId, name }) => ({ value: keyId, label: name })),
      ],
    })}
    <div class="controls">${submit(sayContent('filter'), 'plain')}${isFiltered && linkButton(path, sayContent('clear'), 'quiet')}</div>
  </form>`;
};

function none({ app, filter, cursor }: RequestsModel): VNode {
  const to = appPaths(app.appId);
  if (filter.show === 'failed' && filter.key === null && cursor === null)
    return empty(sayText('noErrors'), sayContent('noErrorsText'), linkButton(to.requests, sayContent('showAll')));
  if (filter.show !== null || filter.key !== null || cursor !== null)
    return empty(
      sayText('noMoreRequests'),
      sayContent('noMoreRequestsText'),
      linkButton(to.requests, sayContent('showAll')),
    );
  return empty(
    sayText('noRequest'),
    sayContent('noRequestText'),
    linkButton(to.keys, sayContent('issueKey'), 'primary'),
  );
}

// Requests with an accepted key or session.

/** Needs of the page of API requests. */
export interface RequestPagesDeps extends Pick<KeyReads, 'listKeys'> {
  readonly listApiRequests: (appId: string, asked: ApiRequestFilter) => Promise<ApiRequestsPage | Refusal>;
  readonly team: Pick<TeamReads, 'list'>;
}

const rows = 50;

export const requestPages = (
  { listApiRequests, listKeys, team }: RequestPagesDeps,
  frames: Frames,
): readonly AnyPage[] => [
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
      const [frame, keys, found, members] = await Promise.all([
        frames.ofApp(visit),
        listKeys(appId),
        listApiRequests(appId, asked),
        team.list(appId),
      ]);
      if (isRefusal(found)) throw errorOfRefusal(found);
      const names = new Map(keys.map(({ keyId, name }) => [`key:${keyId}`, name]));
      const requests = found.requests.map(({ caller, ...request }) => ({
        ...request,
        who: names.get(caller) ?? whoDid(caller, visit.visitor, frame, members),
      }));
      const model = { requests, keys, filter: { show, key }, cursor, nextCursor: found.nextCursor };
      return { page: requestsPage({ ...frame, ...model }) };
    },
  }),
];
