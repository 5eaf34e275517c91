/** The events of an app's payments: as a page, and as JSON with links. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { AppEvent } from '../../queries/feed.ts';
import type { FeedRoutesDeps } from '../../src/api/routes/feed.ts';
import { card, empty, wordOf } from '../parts/boxes.ts';
import { when } from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, cut, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { type Column, table } from '../parts/table.ts';
import { fields } from './forms.ts';
import { type AnyPage, type Frames, page } from './page.ts';

export interface EventsModel extends Frame {
  /** Newest first. */
  readonly events: readonly AppEvent[];
  /** Ordinal of the app's newest event; `0` without one. */
  readonly last: string;
}

const columns = (): readonly Column[] => [
  { head: sayText('event'), kind: 'title' },
  { head: sayText('payment'), kind: 'detail' },
  { head: sayText('stateAfter'), kind: 'detail' },
  { head: sayText('when'), kind: 'when', sorted: 'descending' },
  { head: 'JSON', kind: 'note' },
];

/** Events of a page, and of one JSON document. */
const rows = 50;

export const eventsPage = (model: EventsModel): VNode => {
  const { app, events, last } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: sayText('events'),
      section: 'events',
      controls: linkButton(to.eventsJson, sayContent('jsonFromFirst')),
    },
    card(
      {
        title: sayText('everythingHappened'),
        note: sayContent('everythingHappenedNote', { path: 'GET /payment-api/events' }),
      },
      events.length > 0
        ? html`<div>${table(
            sayText('eventsNewestFirst'),
            columns(),
            events.map((event) => row(app.appId, event)),
          )}
            ${turning(to.events, events, last)}</div>`
        : empty(
            sayText('noEvent'),
            sayContent('noEventText'),
            linkButton(to.newLink, sayContent('newPayment'), 'primary'),
          ),
    ),
  );
};

const row = (appId: string, event: AppEvent) => {
  const to = appPaths(appId);
  const { ordinal, type, paymentId, orderId, status, at } = event;
  return [
    html`<span><strong>${type}</strong><small class="below">${sayContent('eventNumber', { number: ordinal })}</small></span>`,
    html`<a href=${to.payment(paymentId)}>${bdi(cut(orderId ?? paymentId.slice(0, 8), 60))}</a>`,
    wordOf(status),
    when(at),
    html`<details><summary>JSON<span class="visually-hidden">${sayContent('ofEvent', { number: ordinal })}</span></summary>
      <pre class="mono" dir="ltr" tabindex="0">${JSON.stringify(linked(appId, event), null, 2)}</pre></details>`,
  ];
};

function turning(path: string, events: readonly AppEvent[], last: string): VNode | null {
  const [newest, oldest] = [events[0]?.ordinal ?? '0', events.at(-1)?.ordinal ?? '0'];
  const [isNewest, isOldest] = [newest === last, BigInt(oldest) <= 1n];
  if (isNewest && isOldest) return null;
  return html`<nav class="pager" aria-label=${sayText('pages')}>
    ${!isNewest && html`<a class="button plain" rel="first" href=${path}>${icon('back')}${sayContent('newest')}</a>`}
    ${!isOldest && html`<a class="button plain" rel="next" href=${withQuery(path, { before: oldest })}>${sayContent('older')}${icon('forth')}</a>`}
  </nav>`;
}

/** The event in the API's form, with the paths of its payment in the dashboard. */
const linked = (appId: string, event: AppEvent) => {
  const { payment, evidence } = appPaths(appId);
  return { ...event, links: { payment: payment(event.paymentId), evidence: evidence(event.paymentId) } };
};

// Events in the order of the log, whole and in pages.

/** Needs of the pages of events. */
export type EventPagesDeps = FeedRoutesDeps;

const Ordinal = Type.Unsafe<string>({
  type: 'string',
  pattern: '^[0-9]{1,18}$',
  description: 'the number of an event',
});

export const eventPages = (deps: EventPagesDeps, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/events',
    audience: 'owner',
    query: fields({ before: Type.Optional(Ordinal) }),
    async show(visit) {
      const { appId } = visit.visitor;
      const { feed } = deps;
      const [frame, last] = await Promise.all([frames.ofApp(visit), feed.lastOrdinal(appId)]);
      const { before = String(BigInt(last) + 1n) } = visit.query;
      const first = BigInt(before) - BigInt(rows) - 1n;
      const found = await feed.events(appId, { after: String(first > 0n ? first : 0n), limit: rows });
      const events = found.filter(({ ordinal }) => BigInt(ordinal) < BigInt(before)).toReversed();
      return { page: eventsPage({ ...frame, events, last }) };
    },
  }),
  page({
    path: '/dashboard/apps/{appId}/events.json',
    audience: 'owner',
    query: fields({ after: Type.Optional(Ordinal) }),
    async show({ visitor: { appId }, query: { after = '0' } }) {
      const { feed } = deps;
      const self = appPaths(appId).eventsJson;
      // An extra event reveals whether there are more.
      const found = await feed.events(appId, { after, limit: rows + 1 });
      const data = found.slice(0, rows);
      const next = found.length > rows ? (data.at(-1)?.ordinal ?? null) : null;
      const links = { self: withQuery(self, { after }), next: next === null ? null : withQuery(self, { after: next }) };
      return {
        status: 200,
        type: 'application/json; charset=utf-8',
        body: JSON.stringify({ data: data.map((event) => linked(appId, event)), links }, null, 2),
      };
    },
  }),
];
