/** Changes of an app, newest first, page by page: its own stream, which is read whole, plus its links and refunds from other streams. */
import { type ChainId, chainOf } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { type AppAuditDeps, type AppChange, listChanges } from './merchantAudit.ts';
import { newestFirst, type PageOf, writeCursor } from './pages.ts';
import { build, decimalText } from './sql.ts';

/** `revision` is null for a change of a link or a refund, which is not an event of the app's stream. */
export type ListedChange = Omit<AppChange, 'revision'> & { readonly revision: number | null };

export interface ChangesPage {
  readonly changes: readonly ListedChange[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface Asked {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A created or closed link, or an ordered or called-off refund. */
export interface OtherChange extends Omit<AppChange, 'revision'> {
  readonly eventId: string;
}

export interface HistoryDeps extends AppAuditDeps {
  readonly otherChanges: (appId: string, page: Asked) => Promise<PageOf<OtherChange> | Refusal>;
}

/** Revision in the app's own stream below which a page begins, then the cursor in the list of other changes, empty at its start. */
export const historyCursorPattern = '^[0-9]{1,9}(\\.[A-Za-z0-9_-]{1,100})?$';

/**
 * @param cursor `nextCursor` of the previous page, of the pattern above
 * @returns a refusal for an invalid cursor. @throws Unavailable
 */
export async function changesPage(
  deps: HistoryDeps,
  appId: string,
  { limit, cursor }: Asked,
): Promise<ChangesPage | Refusal> {
  const [below, otherCursor] = cursor?.split('.', 2) ?? [];
  const [all, others] = await Promise.all([
    listChanges(deps, appId),
    deps.otherChanges(appId, { limit, cursor: otherCursor }),
  ]);
  if (isRefusal(others)) return others;
  const own = (all ?? []).filter(({ revision }) => below === undefined || revision < Number(below)).reverse();
  const changes: ListedChange[] = [];
  let [ownShown, othersShown] = [0, 0];
  while (changes.length < limit) {
    const [change, other] = [own[ownShown], others.rows[othersShown]];
    if (other && (!change || other.at > change.at)) {
      const { at, by, what } = other;
      changes.push({ revision: null, at, by, what });
      othersShown += 1;
    } else if (change) {
      changes.push(change);
      ownShown += 1;
    } else break;
  }
  const isMore = ownShown < own.length || othersShown < others.rows.length || others.nextCursor !== null;
  const last = others.rows[othersShown - 1];
  const places = [own[ownShown - 1]?.revision ?? below ?? all?.length ?? 0];
  const ofOthers = last ? writeCursor(last.at, last.eventId) : otherCursor;
  return { changes, nextCursor: isMore ? [...places, ...(ofOthers ? [ofOthers] : [])].join('.') : null };
}

interface Row {
  readonly event_id: string;
  readonly changed_at: Instant;
  readonly changed_by: string;
  readonly kind: string;
  readonly title: string | null;
  readonly amount: string | null;
  readonly token_symbol: string | null;
  readonly chain_id: ChainId | null;
  readonly payment_id: string | null;
  readonly receiver: string | null;
}

/** Newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listOtherChanges(sql: Sql, appId: string, page: Asked): Promise<PageOf<OtherChange> | Refusal> {
  const query = build('app_changes').where('app_id', appId);
  const found = await newestFirst<Row>(sql, query, { at: 'changed_at', id: 'event_id' }, page);
  return isRefusal(found) ? found : { ...found, rows: found.rows.map(changeOf) };
}

const changeOf = (row: Row): OtherChange => ({
  eventId: row.event_id,
  at: row.changed_at,
  by: row.changed_by,
  what: row.kind.startsWith('refund') ? refundText(row) : linkText(row),
});

function linkText({ kind, title, amount }: Row): string {
  const sum = amount === null ? 'of an amount that the payer chooses' : `of ${decimalText(amount)} dollars`;
  return `${kind === 'linkClosed' ? 'closed' : 'made'} a reusable link ${sum}${title === null ? '' : `: "${title}"`}`;
}

function refundText({ kind, amount, token_symbol, chain_id, payment_id, receiver }: Row): string {
  const chain = chain_id === null ? '' : ` on ${chainOf(chain_id).name}`;
  const sum = `${decimalText(amount ?? '0')} ${token_symbol}${chain} of payment ${payment_id} to ${receiver}`;
  return `${kind === 'refundOrdered' ? 'ordered a refund' : 'called off the refund'} of ${sum}`;
}
