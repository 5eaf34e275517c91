import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import { type Content, html } from './html.ts';
import { exactly } from './time.ts';

/** done has happened, now goes on, next is to come, problem has happened and needs somebody. */
export interface Step {
  readonly stage: 'done' | 'now' | 'next' | 'problem';
  readonly title: Content;
  readonly detail?: Content;
  readonly at?: Instant;
}

const inEnglish = { done: 'Done: ', now: 'Now: ', next: 'To come: ', problem: 'Problem: ' } as const;

/** A story from top to bottom, for payers and merchants alike. @param spoken what is read out before each step */
export const steps = (list: readonly Step[], spoken: Readonly<Record<Step['stage'], string>> = inEnglish): VNode =>
  html`<ol class="way">${list.map(
    ({ stage, title, detail, at }) => html`<li class=${stage} aria-current=${stage === 'now' ? 'step' : undefined}>
      <span><span class="visually-hidden">${spoken[stage]}</span>${title}
      ${detail && html`<small class="muted">${detail}</small>`}</span>
      ${at && exactly(at)}
    </li>`,
  )}</ol>`;
