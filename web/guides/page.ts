/** A guide with navigation to the others and to the reference. */
import type { VNode } from 'preact';
import { html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { paths } from '../parts/paths.ts';

export interface GuidePage {
  readonly title: string;
  readonly guides: readonly { readonly href: string; readonly title: string; readonly isHere: boolean }[];
  /** HTML of the project's own text. */
  readonly article: string;
}

export const guidePage = ({ title, guides, article }: GuidePage): VNode =>
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${`${title} · Payment Intents`}</title>
      <link rel="stylesheet" href=${paths.asset('look.css')} />
      <link rel="stylesheet" href=${paths.asset('guide.css')} />
      <link rel="icon" href=${paths.asset('icon.svg')} type="image/svg+xml" />
    </head>
    <body>
      <a class="skip" href="#main">Skip to the content</a>
      <div class="guides">
        <nav aria-label="Guides">
          <a class="who" href="/docs/guides"><span class="mark" aria-hidden="true">${icon('payments')}</span><strong>Guides</strong></a>
          <ul>
            ${guides.map(
              ({ href, title: name, isHere }) =>
                html`<li><a href=${href} aria-current=${isHere ? 'page' : undefined}>${name}</a></li>`,
            )}
            <li class="reference"><a href="/docs">API reference</a></li>
          </ul>
        </nav>
        <main id="main" tabindex="-1"><article dangerouslySetInnerHTML=${{ __html: article }}></article></main>
      </div>
    </body>
  </html>`;
