import type { VNode } from 'preact';
import type { State } from './chip.ts';
import { shapes } from './chip.ts';
import type { Flash } from './frame.ts';
import { type Content, html } from './html.ts';
import { icon } from './icon.ts';

/** A sentence or two that somebody should read before going on. */
export const notice = (state: State, content: Content): VNode =>
  html`<div class=${`notice ${state}`}>${icon(shapes[state])}<div>${content}</div></div>`;

const states = { done: 'ok', warning: 'wait', problem: 'bad' } as const;

/** What became of what was just done; read out at once. */
export const flashed = (flash: Flash | null): VNode | null =>
  flash &&
  html`<div class=${`notice ${states[flash.kind]}`} role=${flash.kind === 'problem' ? 'alert' : 'status'}>
    ${icon(shapes[states[flash.kind]])}<div>${flash.text}</div></div>`;
