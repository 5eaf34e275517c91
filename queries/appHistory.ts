/** Who changed what of an app, newest first, page by page: its own stream, which is read whole, and its links, each of which has a stream. */
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { type AuditDeps, type Change, listChanges } from './merchantAudit.ts';
import { newestFirst, type PageOf, writeCursor } from './pages.ts';
import { build, decimalText } from './sql.ts';

/** `revision` is null for a change of a link: it is none of the app's own events. */
export type ListedChange = Omit<Change, 'revision'> & { readonly revision: number | null };

export interface ChangesPage {
  readonly changes: readonly ListedChange[];
  /** Null when there is no further page. */
  readonly nextCursor: string | null;
}

interface Asked {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A link that was made or closed. */
export interface LinkChange extends Omit<Change, 'revision'> {
  readonly eventId: string;
}

export interface HistoryDeps extends AuditDeps {
  readonly linkChanges: (appId: string, page: Asked) => Promise<PageOf<LinkChange> | Refusal>;
}

/** The place in the app's own stream below which a page begins; after it the place in the list of links' changes, empty for its begin. */
export const historyCursorPattern = '^[0-9]{1,9}(\\.[A-Za-z0-9_-]{1,100})?$';

/**
 * @param cursor `nextCursor` of the page before, of the pattern above
 * @returns a refusal when the cursor is none of ours. @throws Unavailable
 */
export async function changesPage(
  deps: HistoryDeps,
  appId: string,
  { limit, cursor }: Asked,
): Promise<ChangesPage | Refusal> {
  const [below, linkCursor] = cursor?.split('.', 2) ?? [];
  const [all, links] = await Promise.all([
    listChanges(deps, appId),
    deps.linkChanges(appId, { limit, cursor: linkCursor }),
  ]);
  if (isRefusal(links)) return links;
  const own = (all ?? []).filter(({ revision }) => below === undefined || revision < Number(below)).reverse();
  const changes: ListedChange[] = [];
  let [ownShown, linksShown] = [0, 0];
  while (changes.length < limit) {
    const [change, ofLink] = [own[ownShown], links.rows[linksShown]];
    if (ofLink && (!change || ofLink.at > change.at)) {
      const { at, by, what } = ofLink;
      changes.push({ revision: null, at, by, what });
      linksShown += 1;
    } else if (change) {
      changes.push(change);
      ownShown += 1;
    } else break;
  }
  const isMore = ownShown < own.length || linksShown < links.rows.length || links.nextCursor !== null;
  const last = links.rows[linksShown - 1];
  const places = [own[ownShown - 1]?.revision ?? below ?? all?.length ?? 0];
  const ofLinks = last ? writeCursor(last.at, last.eventId) : linkCursor;
  return { changes, nextCursor: isMore ? [...places, ...(ofLinks ? [ofLinks] : [])].join('.') : null };
}

interface Row {
  readonly event_id: string;
  readonly changed_at: Instant;
  readonly changed_by: string;
  readonly closed: boolean;
  readonly title: string | null;
  readonly amount: string | null;
}

/** Newest first. A refusal when the cursor is none of ours. @throws Unavailable */
export async function listLinkChanges(sql: Sql, appId: string, page: Asked): Promise<PageOf<LinkChange> | Refusal> {
  const query = build('link_changes').where('app_id', appId);
  const found = await newestFirst<Row>(sql, query, { at: 'changed_at', id: 'event_id' }, page);
  return isRefusal(found) ? found : { ...found, rows: found.rows.map(changeOf) };
}

function changeOf({ event_id: eventId, changed_at: at, changed_by: by, closed, title, amount }: Row): LinkChange {
  const sum = amount === null ? 'of an amount that the payer chooses' : `of ${decimalText(amount)} dollars`;
  const what = `${closed ? 'closed' : 'made'} a reusable link ${sum}${title === null ? '' : `: "${title}"`}`;
  return { eventId, at, by, what };
}
