/** Layout of pages: head, skip link, sidebar with the app's pages, signed-in person. */
import type { VNode } from 'preact';
import { noticesMax } from '../../queries/notices.ts';
import { flashed } from './boxes.ts';
import { postButton } from './field.ts';
import type { AppName, Frame, Mode, Outer } from './frame.ts';
import { bdi, type Content, cut, html } from './html.ts';
import { type IconName, icon } from './icon.ts';
import { directionOf, languages, ownNames } from './language.ts';
import { appPaths, paths } from './paths.ts';
import { isRightToLeft, pageLanguage, pageReading, sayContent, sayText } from './say.ts';

export type Section =
  | 'overview'
  | 'payments'
  | 'links'
  | 'cashback'
  | 'reports'
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

type Entry = readonly [section: Section, drawing: IconName];
type GroupName = 'navDevelopers' | 'navSettings';

/** Entries of the sidebar. The first group needs no heading. */
const groups: readonly (readonly [heading: GroupName | null, entries: readonly Entry[]])[] = [
  [
    null,
    [
      ['overview', 'overview'],
      ['payments', 'payments'],
      ['links', 'link'],
      ['cashback', 'cashback'],
      ['reports', 'audit'],
    ],
  ],
  [
    'navDevelopers',
    [
      ['keys', 'keys'],
      ['webhooks', 'webhooks'],
      ['requests', 'search'],
      ['events', 'clock'],
      ['embedding', 'embedding'],
    ],
  ],
  [
    'navSettings',
    [
      ['settlement', 'settlement'],
      ['payFrom', 'choose'],
      ['policy', 'balance'],
      ['branding', 'branding'],
      ['notifications', 'bell'],
      ['team', 'team'],
      ['audit', 'audit'],
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
        <div class="controls">${bell(frame)}<button class="button quiet" type="button" popovertarget="rail">${icon('menu')}<span>${sayContent('menu')}</span></button></div>
      </header>
      <aside class="rail" id="rail" popover="auto" aria-label=${sayContent('railLabel')}>
 <div class="inner">
        <button class="button quiet close" type="button" popovertarget="rail" popovertargetaction="hide">
        ${icon('close')}<span>${sayContent('close')}</span></button>
        <button class="button quiet more" type="button" popovertarget="rail">${icon('menu')}<span class="visually-hidden">${sayContent('menu')}</span></button>
        ${switcher(frame)}
        <a class="find" href=${appPaths(appId).find} data-finds>${icon('search')}<span>${sayContent('find')}</span><kbd>Ctrl K</kbd></a>
        ${frame.unread > 0 && bell(frame)}
        <nav aria-label=${sayContent('mainNav')}>${groups.map(([heading, entries]) => navGroup(appId, page.section, heading, entries))}</nav>
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
    : html`<a class="find bell" href=${appPaths(app.appId).notifications}>${icon('bell')}<span>${unread >= noticesMax ? `${noticesMax}+` : unread}<span class="visually-hidden"> ${sayContent('unreadLong')}</span><span aria-hidden="true"> ${sayContent('unread')}</span></span></a>`;

const navGroup = (appId: string, current: Section, heading: GroupName | null, entries: readonly Entry[]): VNode =>
  html`<div class="group">${heading !== null && html`<p class="small muted" id=${`nav-${heading.slice(3)}`}>${sayContent(heading)}</p>`}
    <ul aria-labelledby=${heading === null ? undefined : `nav-${heading.slice(3)}`}>${entries.map(
      ([section, drawing]) =>
        html`<li><a href=${appPaths(appId)[section]} title=${sayText(section)} aria-current=${section === current ? 'page' : undefined}>${icon(drawing)}<span>${sayContent(section)}</span></a></li>`,
    )}</ul></div>`;

/** A page without an app: one column, one action. */
export function outerPage(outer: Outer, title: string, content: Content, wide = false): VNode {
  return documentPart(
    outer,
    { title, live: null, find: null, script: null },
    html`<div class="outer">
      <header><a class="who" href=${outer.person === null ? '/' : paths.home}><span class="mark" aria-hidden="true">${icon('payments')}</span>
      <strong>Payment Intents</strong></a>
        ${
          outer.person !== null &&
          html`<div class="controls"><span class="small muted person">${bdi(outer.person)}
        </span>${postButton(paths.signOut, sayText('signOut'), 'quiet')}</div>`
        }</header>
      <main id="main" class=${wide ? 'column wide' : 'column'} tabindex="-1">${flashed(outer.flash)}${content}</main>
      ${languageMenu()}
    </div>`,
  );
}

/** The choice of a language; it works without scripts. Null outside of the dashboard, whose other pages have their own choice. */
function languageMenu(): VNode | null {
  const chosen = pageReading();
  if (!chosen) return null;
  const { url } = chosen;
  return html`<form class="languages" method="post" action=${paths.language} aria-label=${sayContent('language')}>
    ${url !== null && html`<input type="hidden" name="next" value=${url} />`}${languages.map(
      (language) =>
        html`<button type="submit" name="language" value=${language} lang=${language} dir=${directionOf(language)} aria-current=${language === chosen.language ? 'true' : undefined}>${ownNames[language]}</button>`,
    )}</form>`;
}

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
  html`<html lang=${pageLanguage()} dir=${isRightToLeft() ? 'rtl' : undefined}>
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
      <a class="skip" href="#main">${sayContent('skip')}</a>
      ${banner(outer.mode)}
      ${content}
    </body>
  </html>`;

/** On every page, so nobody mistakes play money for money. */
const banner = (mode: Mode): VNode | null =>
  mode === 'live'
    ? null
    : html`<aside class="mode" aria-label=${sayContent('modeLabel')}>${icon('alert')}<p>${
        mode === 'sandbox'
          ? html`<span><strong>${sayContent('modeSandbox')}</strong> ${sayContent('modeSandboxText')}</span>`
          : html`<span><strong>${sayContent('modeTest')}</strong> ${sayContent('modeTestText')}</span>`
      }</p></aside>`;

const mark = ({ app, logoUrl }: Frame): VNode =>
  logoUrl === null
    ? html`<span class="mark" aria-hidden="true">${Array.from(app.name)[0]?.toUpperCase()}</span>`
    : html`<img class="mark" src=${logoUrl} alt="" width="36" height="36" />`;

function switcher(frame: Frame): VNode {
  const { app, apps } = frame;
  return html`<details class="switcher"><summary class="who">${mark(frame)}<span class="name"><strong>${bdi(app.name)}
    </strong><span class="small muted">${app.appId}</span></span>
    <span class="visually-hidden">${sayContent('chooseOtherApp')}</span>${icon('choose')}</summary>
    <ul>${apps.filter(({ appId }) => appId !== app.appId).map(appItem)}<li><a href=${paths.choose}>${sayContent('allApps')}</a></li>
    </ul></details>`;
}

const appItem = ({ appId, name }: AppName): VNode =>
  html`<li><a href=${appPaths(appId).overview}>${bdi(name)} <span class="small muted">${appId}</span></a></li>`;

const whoIsHere = (person: string | null): VNode | null =>
  person === null
    ? null
    : html`<div class="end small muted"><span class="person">${bdi(person)}</span>
    <a href=${paths.sessions}>${sayContent('sessions')}</a> <a href="/docs">${sayContent('docs')}</a>${postButton(paths.signOut, sayText('signOut'), 'quiet')}${languageMenu()}</div>`;
