/** Layout of a payment's pages: receiver, languages, and content that works without scripts. */
import type { VNode } from 'preact';
import { contentSecurityPolicy } from '../../src/api/middleware.ts';
import { colourLink } from '../parts/colour.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { directionOf, languages, ownNames } from '../parts/language.ts';
import { paths, withQuery } from '../parts/paths.ts';
import type { Around, Shop } from './model.ts';

export interface PageHead {
  readonly title: string;
  /** Receiver of the payment; null if unknown. */
  readonly shop: Shop | null;
  /** The merchant's name of the order. */
  readonly order: string | null;
  /** Origins that may frame the page: they are notified of the payment's state. */
  readonly sites: readonly string[];
  /** Null on static pages. */
  readonly live: { readonly from: string; readonly refresh_s: number | null } | null;
  /** Seconds until a page that could not be shown is requested again. Default: it is not. */
  readonly again_s?: number | null;
}

/** One column, one action. */
export function payDocument({ say, mode, path }: Around, head: PageHead, content: Content): VNode {
  const { title, shop, live, sites, again_s = null } = head;
  const refresh_s = again_s ?? live?.refresh_s ?? null;
  return html`<html lang=${say.language} dir=${directionOf(say.language)}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex, nofollow" />
      <title>${title}</title>
      <link rel="stylesheet" href=${paths.asset('look.css')} />
      <link rel="stylesheet" href=${paths.asset('pay.css')} />
      ${colourLink(shop?.colour ?? null)}
      <link rel="icon" href=${paths.asset('icon.svg')} type="image/svg+xml" />
      <script type="module" src=${paths.asset(live ? 'pay.js' : 'receipt.js')}></script>
      ${again_s !== null && html`<script type="module" src=${paths.asset('again.js')} data-after=${again_s}></script>`}
      ${refresh_s !== null && html`<noscript><meta http-equiv="refresh" content=${refresh_s} /></noscript>`}
    </head>
    <body class="pay" data-live-from=${live?.from} data-sites=${sites.join(' ') || undefined}>
      <a class="skip" href="#main">${say('skip')}</a>
      ${mode !== 'live' && html`<aside class="mode">${icon('alert')}<p>${say(mode)}</p></aside>`}
      <header>${shop && whose(shop, head.order, say)}${shop && html`<a class="end small muted" href="#help">${say('helpTitle')}</a>`}</header>
      <main id="main" tabindex="-1">${content}</main>
      <footer class="small muted">
        <nav aria-label=${say.text('language')}><ul>${languages.map(
          (language) =>
            html`<li><a href=${withQuery(path, { lang: language })} lang=${language} hreflang=${language} dir=${directionOf(language)} aria-current=${language === say.language ? 'true' : undefined}>${ownNames[language]}</a></li>`,
        )}</ul></nav>
        <p>${say('provable')}</p>
      </footer>
    </body>
  </html>`;
}

const whose = ({ name, logoUrl }: Shop, order: string | null, say: Around['say']): VNode => {
  const shown = name ?? say.text('payment');
  return html`<div class="who">${
    logoUrl === null
      ? html`<span class="mark" aria-hidden="true">${name === null ? icon('payments') : Array.from(name)[0]?.toUpperCase()}</span>`
      : html`<img class="mark" src=${logoUrl} alt="" width="36" height="36" />`
  }<span class="name"><strong>${bdi(shown)}</strong>${order !== null && html`<span class="small muted">${say('order', { order })}</span>`}</span></div>`;
};

// Headers that decide whether other sites may frame a payment's page.

/**
 * `frame-ancestors` lists them (CSP level 3, 6.4.2); `X-Frame-Options` can list none, so it is omitted if some site may, and is DENY
 * otherwise. A page with a form sends its origin only to us: with `no-referrer` browsers would hide the form's origin, and for other sites
 * `same-origin` reveals as little.
 *
 * @param sites origins that the merchant allows
 */
export function framing(sites: readonly string[], hasForm: boolean): Readonly<Record<string, string | null>> {
  const own = {
    ...(sites.length > 0 && { frameAncestors: [...sites] }),
    ...(hasForm && { formAction: ["'self'"] }),
  };
  return {
    ...(Object.keys(own).length > 0 && { 'Content-Security-Policy': contentSecurityPolicy(own) }),
    ...(sites.length > 0 && { 'X-Frame-Options': null }),
    ...(hasForm && { 'Referrer-Policy': 'same-origin' }),
  };
}

// Pages without a payment: an invalid link, and temporary failures.

/** A failure that passes. */
export interface PassingFailure {
  /** For the operator. */
  readonly requestId: string;
  /** Seconds until the page is requested again. */
  readonly again_s: number;
}

/** @param failure null if none is the reason */
export function troublePage(
  around: Around,
  what: 'unknown' | 'linkUnknown' | 'trouble',
  failure: PassingFailure | null = null,
): VNode {
  const { say } = around;
  return payDocument(
    around,
    {
      title: say.text(`${what}Title`),
      shop: null,
      order: null,
      live: null,
      sites: [],
      again_s: failure?.again_s ?? null,
    },
    html`<div class="card"><section class="ask">
      <span class=${`sign ${what === 'trouble' ? 'wait' : 'idle'}`}>${icon(what === 'trouble' ? 'clock' : 'over')}</span>
      <h1>${say(`${what}Title`)}</h1><p class="on">${say(`${what}Text`)}</p>
      ${failure && html`<p class="small muted mono" dir="ltr">${failure.requestId}</p>`}
    </section></div>`,
  );
}
