import type { VNode } from 'preact';
import { linkButton } from './button.ts';
import { html } from './html.ts';
import { withQuery } from './paths.ts';

export interface Pages {
  readonly path: string;
  /** What else the address says. */
  readonly query?: Readonly<Record<string, string | null>>;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

/** Back to the newest, on to older ones. Null when everything is on one page. */
export function pager({ path, query = {}, cursor, nextCursor }: Pages): VNode | null {
  if (cursor === null && nextCursor === null) return null;
  return html`<nav class="pager" aria-label="Pages">
    ${cursor !== null && linkButton(withQuery(path, query), 'Newest', 'plain', 'back')}
    ${nextCursor !== null && linkButton(withQuery(path, { ...query, cursor: nextCursor }), 'Older', 'plain', 'forth')}
  </nav>`;
}
