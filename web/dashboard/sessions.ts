/** Where somebody is signed in. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface Session {
  readonly sessionId: string;
  readonly startedAt: Instant;
  readonly lastSeenAt: Instant;
  readonly expiresAt: Instant;
  /** What the browser says of itself; null when it says nothing. */
  readonly userAgent: string | null;
  readonly address: string;
  /** The one that asks. */
  readonly current: boolean;
}

export interface SessionsModel extends Outer {
  readonly sessions: readonly Session[];
}

export const sessionsPage = (model: SessionsModel): VNode =>
  html`<html lang="en"><head><title>sessions</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
