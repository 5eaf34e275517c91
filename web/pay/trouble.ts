/** Pages without a payment: an invalid link, and temporary failures. */
import type { VNode } from 'preact';
import { html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { payDocument } from './layout.ts';
import type { Around } from './model.ts';

/** @param requestId for the operator; null without a failure */
export function troublePage(
  around: Around,
  what: 'unknown' | 'linkUnknown' | 'trouble',
  requestId: string | null = null,
): VNode {
  const { say } = around;
  return payDocument(
    around,
    { title: say.text(`${what}Title`), shop: null, order: null, live: null, sites: [] },
    html`<div class="card"><section class="ask">
      <span class=${`sign ${what === 'trouble' ? 'wait' : 'idle'}`}>${icon(what === 'trouble' ? 'clock' : 'over')}</span>
      <h1>${say(`${what}Title`)}</h1><p class="on">${say(`${what}Text`)}</p>
      ${requestId !== null && html`<p class="small muted mono" dir="ltr">${requestId}</p>`}
    </section></div>`,
  );
}
