/** Pages of the mailbox: a list, and one mail. No scripts; the content of mails is text. */
import type { VNode } from 'preact';
import { documentOf, html } from '../web/parts/html.ts';
import type { ReadMail } from './readMail.ts';

type Listed = ReadMail & { readonly name: string };

export const stylesheet = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 14%, transparent); --quiet: color-mix(in srgb, currentColor 66%, transparent); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f6f7f9, #101317); color: light-dark(#171b21, #e8ebef); }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
p, dl { margin: 0 0 1.5rem; }
.quiet, dt { color: var(--quiet); }
ul { list-style: none; margin: 0; padding: 0; }
.card { background: light-dark(#fff, #191e24); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
li + li { border-top: 1px solid var(--line); }
li a { display: block; padding: .85rem 1.1rem; color: inherit; text-decoration: none; }
li a:hover { background: light-dark(#eef3ff, #202833); }
a { color: light-dark(#1d4ed8, #93b4ff); }
a:focus-visible { outline: 2px solid currentColor; outline-offset: -3px; border-radius: 10px; }
li strong, li span { display: block; }
li span { font-size: .9rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem 1rem; font-size: .95rem; }
dd { margin: 0; }
pre { margin: 0; padding: 1.25rem 1.1rem; font: inherit; white-space: pre-wrap; }
`;

const shell = (title: string, content: unknown): string =>
  documentOf(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${title}</title>
      <link rel="stylesheet" href="/mailbox.css" />
    </head>
    <body><main>${content}</main></body>
  </html>`);

export const listPage = (mails: readonly Listed[]): string =>
  shell(
    'Mailbox',
    html`<div>
      <h1>Mailbox</h1>
      <p class="quiet">All mail of this sandbox ends here, whoever it is for. Load the page again to see what is new.</p>
      ${mails.length === 0 ? empty : html`<ul class="card">${mails.map(item)}</ul>`}
    </div>`,
  );

const empty = html`<p>No mail yet. Codes to sign in with, and word of changed settings, will be here.</p>`;

const item = ({ name, subject, to, date }: Listed): VNode =>
  html`<li><a href=${`/${name}`}><strong>${subject}</strong><span class="quiet">to ${to} · ${date}</span></a></li>`;

export const mailPage = ({ subject, to, from, date, text }: ReadMail): string =>
  shell(
    subject,
    html`<div>
      <p><a href="/">All mail</a></p>
      <h1>${subject}</h1>
      <dl><dt>To</dt><dd>${to}</dd><dt>From</dt><dd>${from}</dd><dt>Sent</dt><dd>${date}</dd></dl>
      <pre class="card">${text}</pre>
    </div>`,
  );

export const noMailPage = (): string =>
  shell('No such mail', html`<div><h1>No such mail</h1><p><a href="/">All mail</a></p></div>`);
