/** A name, its value, and a copy button. */
import type { VNode } from 'preact';
import { type Content, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import type { Say } from './language.ts';

export type LineName =
  | 'sendTo'
  | 'memo'
  | 'exactAmount'
  | 'amount'
  | 'token'
  | 'contract'
  | 'sender'
  | 'inUnits'
  | 'command'
  | 'to'
  | 'refundMemo'
  | 'refundWords';

/** @param copied null without a copyable text */
export const line = (say: Say, name: LineName, value: Content, copied: string | null = null): VNode =>
  html`<div class="line"><dt>${say(name)}</dt><dd><div>${value}</div>${copied !== null && copy(say, copied, say.text(name))}</dd></div>`;

/** Visible if a script can copy (client/copy.js). */
const copy = (say: Say, text: string, what: string): VNode =>
  html`<button class="button small copy" type="button" hidden data-copy=${text} data-copied=${say.text('copiedWhat', { what })} data-told=${say.text('copied')} data-failed=${say.text('byHand')}>${icon('copy')}<span>${say('copy')}</span><span class="visually-hidden"> ${what}</span></button>`;
