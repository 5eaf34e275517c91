import type { VNode } from 'preact';
import { epochMs, hour_ms, type Instant, minute_ms } from '../../domain/time.ts';
import { html } from './html.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `2026-11-02…` as `2 Nov`. */
export const dayText = (date: string): string => `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1]}`;

/** In UTC, said so; a script (client/localTime.js) puts the reader's own time in its place. */
export const when = (at: Instant): VNode =>
  html`<time datetime=${at} data-local="minutes">${dayText(at)}, ${at.slice(11, 16)} UTC</time>`;

/** To the millisecond: for the lines of a story, one below the other. */
export const exactly = (at: Instant): VNode =>
  html`<time datetime=${at} data-local="exactly">${dayText(at)}, ${at.slice(11, 23)} UTC</time>`;

export const onDay = (at: Instant): VNode =>
  html`<time datetime=${at} data-local="day">${dayText(at)} ${at.slice(0, 4)}</time>`;

/** `24 s`, `3 min`, `2 h`, `5 days`: one unit, rounded up, so that nothing is promised too early. */
export function lengthText(duration_ms: number): string {
  if (duration_ms < 1_000) return `${Math.max(0, Math.ceil(duration_ms))} ms`;
  if (duration_ms <= 99_000) return `${Math.ceil(duration_ms / 1_000)} s`;
  if (duration_ms <= 99 * minute_ms) return `${Math.ceil(duration_ms / minute_ms)} min`;
  const hours = Math.ceil(duration_ms / hour_ms);
  return hours <= 48 ? `${hours} h` : `${Math.ceil(hours / 24)} days`;
}

export const between = (from: Instant, to: Instant): number => epochMs(to) - epochMs(from);
