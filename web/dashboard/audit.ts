/** Who changed what. */
import type { VNode } from 'preact';
import type { Change } from '../../queries/merchantAudit.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface AuditModel extends Frame {
  /** Newest first; `by` for people. */
  readonly changes: readonly Change[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

export const auditPage = (model: AuditModel): VNode =>
  html`<html lang="en"><head><title>audit</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
