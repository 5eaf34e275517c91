/** Layout of pages: head, skip link, sidebar with the app's pages, signed-in person. */
import type { VNode } from 'preact';
import { noticesMax } from '../../queries/notices.ts';
import { flashed } from './boxes.ts';
import { postButton } from './field.ts';
import type { AppName, Frame, Mode, Outer } from './frame.ts';
import { bdi, type Content, cut, html } from './html.ts';
import { type IconName, icon } from './icon.ts';
import { appPaths, paths } from './paths.ts';

export type Section =
  | 'overview'
  | 'payments'
  | 'links'
  | 'cashback'
  | 'webhooks'
  | 'keys'
  | 'requests'
  | 'events'
  | 'settlement'
  | 'payFrom'
  | 'policy'
  | 'branding'
  | 'embedding'
  | 'notifications'
  | 'team'
  | 'audit';

type Entry = readonly [section: Section, label: string, drawing: IconName];

/** Entries of the sidebar. The first group needs no heading. */
const groups: readonly (readonly [heading: string | null, entries: readonly Entry[]])[] = [
  [
    null,
    [
      ['overview', 'Overview', 'overview'],
      ['payments', 'Payments', 'payments'],
      ['links', 'Payment links', 'link'],
      ['cashback', 'Cashback', 'cashback'],
    ],
  ],
  [
    'Developers',
    [
      ['keys', 'API keys', 'keys'],
      ['webhooks', 'Webhooks', 'webhooks'],
      ['requests', 'API requests', 'search'],
      ['events', 'Events', 'clock'],
      ['embedding', 'Embedding', 'embedding'],
    ],
  ],
  [
    'Settings',
    [
      ['settlement', 'Settlement', 'settlement'],
      ['payFrom', 'Pay from', 'choose'],
      ['policy', 'Other amounts', 'balance'],
      ['branding', 'Branding', 'branding'],
      ['notifications', 'Notifications', 'bell'],
      ['team', 'Team', 'team'],
      ['audit', 'Audit trail', 'audit'],
    ],
  ],
];

/** Every section of an app, as the search of the dashboard lists them. */
export const sections: readonly Entry[] = groups.flatMap(([, entries]) => entries);

export interface AppPage {
  readonly title: string;
  /** Beside the title: a chip. */
  readonly state?: Content;
  /** Link to the parent page. */
  readonly up?: { readonly href: string; readonly label: string };
  readonly section: Section;
  /** At the end of the title's line. */
  readonly controls?: Content;
  /** Module of web/client that only this page of settings needs, besides settings.css. */
  readonly script?: string;
  /** Announced when a live update changes it; null on static pages. */
  readonly live?: string;
}

/** A page of an app. */
export function appPage(frame: Frame, page: AppPage, content: Content): VNode {
  const { appId } = frame.app;
  return documentPart(
    frame,
    {
      title: `${cut(page.title, 80)} · ${frame.app.name}`,
      live: page.live === undefined ? null : appPaths(appId).live,
      find: appPaths(appId).find,
      script: page.script ?? null,
    },
    html`<div class="desk">
      <header class="topbar">
        <a class="who" href=${appPaths(appId).overview}>${mark(frame)}<strong>${bdi(frame.app.name)}</strong></a>
        <div class="controls">${bell(frame)}<button class="button quiet" type="button" popovertarget="rail">${icon('menu')}<span>Menu</span></button></div>
      </header>
      <aside class="rail" id="rail" popover="auto" aria-label="App">
 <div class="inner">
        <button class="button quiet close" type="button" popovertarget="rail" popovertargetaction="hide">
        ${icon('close')}<span>Close</span></button>
        ${switcher(frame)}
        <a class="find" href=${appPaths(appId).find} data-finds>${icon('search')}Find<kbd>Ctrl K</kbd></a>
        ${frame.unread > 0 && bell(frame)}
        <nav aria-label="Main">${groups.map(([heading, entries]) => navGroup(appId, page.section, heading, entries))}</nav>
        ${whoIsHere(frame.person)}
      </div></aside>
      <main id="main" class="main" tabindex="-1">
        <div class="head" id="head" data-live="part">
          <div class="title">
            ${page.up && html`<a class="up small muted" href=${page.up.href}>${icon('back')}${page.up.label}</a>`}
            <h1><bdi>${page.title}</bdi> ${page.state}</h1>
          </div>
          ${page.controls && html`<div class="controls">${page.controls}</div>`}
        </div>
        ${flashed(frame.flash)}
        ${content}
        ${
          page.live !== undefined &&
          html`<p class="visually-hidden" role="status" data-say=${page.live} id="said">
        </p>`
        }
      </main>
    </div>`,
  );
}

/** Unread notifications. Without any, the sidebar's entry is enough. */
const bell = ({ app, unread }: Frame): VNode | null =>
  unread === 0
    ? null
    : html`<a class="find bell" href=${appPaths(app.appId).notifications}>${icon('bell')}<span>${unread >= noticesMax ? `${noticesMax}+` : unread}<span class="visually-hidden"> unread notifications</span><span aria-hidden="true"> unread</span></span></a>`;

const navGroup = (appId: string, current: Section, heading: string | null, entries: readonly Entry[]): VNode =>
  html`<div class="group">${heading !== null && html`<p class="small muted" id=${`nav-${heading}`}>${heading}</p>`}
    <ul aria-labelledby=${heading === null ? undefined : `nav-${heading}`}>${entries.map(
      ([section, label, drawing]) =>
        html`<li><a href=${appPaths(appId)[section]} aria-current=${section === current ? 'page' : undefined}>${icon(drawing)}${label}</a></li>`,
    )}</ul></div>`;

/** A page without an app: one column, one action. */
export const outerPage = (outer: Outer, title: string, content: Content, wide = false): VNode =>
  documentPart(
    outer,
    { title, live: null, find: null, script: null },
    html`<div class="outer">
      <header><a class="who" href=${outer.person === null ? '/' : paths.home}><span class="mark" aria-hidden="true">${icon('payments')}</span>
      <strong>Payment Intents</strong></a>
        ${
          outer.person !== null &&
          html`<div class="controls"><span class="small muted person">${bdi(outer.person)}
        </span>${postButton(paths.signOut, 'Sign out', 'quiet')}</div>`
        }</header>
      <main id="main" class=${wide ? 'column wide' : 'column'} tabindex="-1">${flashed(outer.flash)}${content}</main>
    </div>`,
  );

const documentPart = (
  outer: Outer,
  {
    title,
    live,
    find,
    script,
  }: {
    readonly title: string;
    readonly live: string | null;
    readonly find: string | null;
    readonly script: string | null;
  },
  content: Content,
) =>
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>${title}</title>
      <link rel="stylesheet" href=${paths.asset('look.css')} />
      ${find !== null && html`<link rel="stylesheet" href=${paths.asset('desk.css')} />`}
      ${script !== null && html`<link rel="stylesheet" href=${paths.asset('settings.css')} />`}
      <link rel="icon" href=${paths.asset('icon.svg')} type="image/svg+xml" />
      ${[
        'localTime.js',
        'copy.js',
        'forms.js',
        live === null ? null : 'live.js',
        find === null ? null : 'find.js',
        script,
      ].map((file) => file && html`<script type="module" src=${paths.asset(file)}></script>`)}
    </head>
    <body data-live-from=${live} data-find=${find}>
      <a class="skip" href="#main">Skip to the content</a>
      ${banner(outer.mode)}
      ${content}
    </body>
  </html>`;

/** On every page, so nobody mistakes play money for money. */
const banner = (mode: Mode): VNode | null =>
  mode === 'live'
    ? null
    : html`<aside class="mode" aria-label="Mode">${icon('alert')}<p>${
        mode === 'sandbox'
          ? html`<span><strong>Sandbox.</strong> Chains, money and mails are simulated on this machine.</span>`
          : html`<span><strong>Test mode.</strong> Test networks: nothing here is worth money.</span>`
      }</p></aside>`;

const mark = ({ app, logoUrl }: Frame): VNode =>
  logoUrl === null
    ? html`<span class="mark" aria-hidden="true">${Array.from(app.name)[0]?.toUpperCase()}</span>`
    : html`<img class="mark" src=${logoUrl} alt="" width="36" height="36" />`;

function switcher(frame: Frame): VNode {
  const { app, apps } = frame;
  return html`<details class="switcher"><summary class="who">${mark(frame)}<span class="name"><strong>${bdi(app.name)}
    </strong><span class="small muted">${app.appId}</span></span>
    <span class="visually-hidden">choose another app</span>${icon('choose')}</summary>
    <ul>${apps.filter(({ appId }) => appId !== app.appId).map(appItem)}<li><a href=${paths.choose}>All apps</a></li>
    </ul></details>`;
}

const appItem = ({ appId, name }: AppName): VNode =>
  html`<li><a href=${appPaths(appId).overview}>${bdi(name)} <span class="small muted">${appId}</span></a></li>`;

const whoIsHere = (person: string | null): VNode | null =>
  person === null
    ? null
    : html`<div class="end small muted"><span class="person">${bdi(person)}</span>
    <a href=${paths.sessions}>Sessions</a> <a href="/docs">Docs</a>${postButton(paths.signOut, 'Sign out', 'quiet')}</div>`;
