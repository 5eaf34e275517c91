/** Until when it can be paid. A script (client/pay.js) counts down by our clock; without one, the time itself stands here. */
import type { VNode } from 'preact';
import { html } from '../parts/html.ts';
import { between } from '../parts/time.ts';
import { isDue, type PayModel } from './model.ts';

/** Where the script puts what is left: `14:32`. */
const place = '%';

export function countdown({ say, facts }: PayModel): VNode {
  const { situation, payment, now } = facts;
  if (!isDue(situation)) return html`<div id="left" data-live="part"></div>`;
  const { createdAt, expiresAt } = payment;
  const [whole, left] = [between(createdAt, expiresAt), between(now, expiresAt)].map((length_ms) =>
    Math.max(0, Math.round(length_ms / 1_000)),
  );
  return html`<div id="left" data-live="part"><div class="left" data-now=${now} data-until=${expiresAt} data-left=${say.text('left', { time: place })}>
    <span class="small muted">${say(situation.kind === 'underpaid' ? 'sendRest' : 'waiting')}</span>
    <span class="small" role="timer">${say('until', { time: html`<time datetime=${expiresAt} data-local="minutes" dir="auto">${say.time(expiresAt)}</time>` })}</span>
    <progress max=${whole} value=${left} aria-hidden="true"></progress>
  </div></div>`;
}
