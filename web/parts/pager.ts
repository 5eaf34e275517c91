import type { VNode } from 'preact';
import { html } from './html.ts';
import { icon } from './icon.ts';
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
    ${
      cursor !== null &&
      html`<a class="button plain" rel="first" href=${withQuery(path, query)}>
    ${icon('back')}Newest</a>`
    }
    ${nextCursor !== null && html`<a class="button plain" rel="next" href=${withQuery(path, { ...query, cursor: nextCursor })}>Older${icon('forth')}</a>`}
  </nav>`;
}
