/** API keys: issued, shown once, renamed, revoked. POST: name, scope (orders or admin), expiresInDays; POST to renameKey: name. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { ListedKey } from '../../queries/merchantAudit.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

/** A key as the page shows it. */
export interface ShownKey extends ListedKey {
  readonly expiresAt: Instant | null;
  /** For people: an e-mail, or the operator. */
  readonly createdBy: string;
  /** To the hour; null for never. */
  readonly lastUsedAt: Instant | null;
}

export interface KeysModel extends Frame {
  /** Oldest first, revoked ones too. */
  readonly keys: readonly ShownKey[];
  readonly form: FormState;
  /** Right after it was issued, and never again. */
  readonly issued: { readonly key: string; readonly name: string; readonly scope: string } | null;
  readonly now: Instant;
}

export const keysPage = (model: KeysModel): VNode =>
  html`<html lang="en"><head><title>keys</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
