import type { VNode } from 'preact';
import { copyButton } from './button.ts';
import { type Content, html } from './html.ts';
import { icon } from './icon.ts';

/** Something that is shown once and never again. */
export const secretOnce = (what: string, value: string, advice: Content): VNode =>
  html`<section class="card secret" aria-labelledby="secret">
    <h2 id="secret">${icon('keys')}${what}</h2>
    <p class="copyable"><code class="mono" tabindex="0">${value}</code>${copyButton(value, what)}</p>
    <p><strong>Copy it now: it is shown this once.</strong> ${advice}</p>
  </section>`;

/** A value that people carry elsewhere. */
export const copyable = (content: Content, text: string, what: string): VNode =>
  html`<span class="copyable"><span>${content}</span>${copyButton(text, what)}</span>`;
