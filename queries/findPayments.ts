/**
 * Searches of an app's people over its payments: by the beginnings of words, by groups of states, sorted, counted and
 * summed up. Each statement reads a bounded number of rows, for any search and any number of payments.
 */
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { formatAmount, parseAmount } from '../domain/money.ts';
import type { PaymentStatus, PaymentView } from '../domain/payment/view.ts';
import { amountWord, type PaymentRow, searchWord, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { paymentIdIn } from './payments.ts';
import { decimalText, readCursor, writeCursor } from './sql.ts';

/** Payments that a search finds at most; more of them are found by a longer text. */
export const foundMax = 1_000;
/** The newest payments that are sorted by amount and summed up. */
export const windowMax = 5_000;

export const paymentGroups = ['waiting', 'paid', 'needs', 'expired', 'refunded'] as const;
export type PaymentGroup = (typeof paymentGroups)[number];

/** `needs` depends on held and missing money, not on the state. */
const statusesOf: Readonly<Record<Exclude<PaymentGroup, 'needs'>, readonly PaymentStatus[]>> = {
  waiting: ['payment_unpaid', 'payment_started'],
  paid: [
    'payment_payin_completed',
    'payment_bridging',
    'payment_payout_started',
    'payment_payout_completed',
    'payment_completed',
  ],
  expired: ['payment_expired'],
  refunded: ['payment_refunded'],
};

export const sortings = ['newest', 'oldest', 'largest', 'smallest'] as const;
export type Sorting = (typeof sortings)[number];

export interface FindFilter {
  readonly appId: string;
  /** The beginning of an id, an order, a title's word, an address or a transaction; a whole amount; `#` and the beginning of a tag. */
  readonly search?: string;
  readonly group?: PaymentGroup;
  readonly status?: PaymentStatus;
  /** ISO 8601; not included. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  /** Default: newest. */
  readonly sort?: Sorting;
}

export interface FoundRange {
  /** Rows of a page, from 1 on. */
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface FoundPage {
  readonly payments: readonly PaymentView[];
  /** Null when there is no further page. */
  readonly nextCursor: string | null;
}

export interface FoundCounts {
  readonly all: number;
  readonly groups: Readonly<Record<PaymentGroup, number>>;
  /** Counted up to `foundMax`. */
  readonly needsCapped: boolean;
}

/** Sums of the newest payments of the filter. */
export interface FoundSums {
  readonly count: number;
  /** There may be more than were summed up. */
  readonly capped: boolean;
  readonly tokens: readonly { readonly tokenSymbol: string; readonly due: string; readonly came: string }[];
}

export interface FoundPayments extends FoundPage {
  readonly counts: FoundCounts;
  readonly sums: FoundSums;
  /** True if the search has more than `foundMax` hits, and omits some. */
  readonly searchCapped: boolean;
}

/** A refusal for a foreign cursor. @throws Unavailable */
export async function findPayments(sql: Sql, filter: FindFilter, page: FoundRange): Promise<FoundPayments | Refusal> {
  const hits = await hitsOf(sql, filter);
  const [found, counts, sums] = await Promise.all([
    pageOf(sql, filter, hits, page),
    countsOf(sql, filter, hits),
    sumsOf(sql, filter, hits),
  ]);
  if (isRefusal(found)) return found;
  return { ...found, counts, sums, searchCapped: hits?.capped ?? false };
}

/** A page without counts and sums. A refusal for a foreign cursor. @throws Unavailable */
export async function pageOfIds(sql: Sql, filter: FindFilter, page: FoundRange): Promise<FoundPage | Refusal> {
  return pageOf(sql, filter, await hitsOf(sql, filter), page);
}

interface Hits {
  readonly ids: readonly string[];
  readonly capped: boolean;
}

/** Null where nothing is searched for. */
async function hitsOf(sql: Sql, { appId, search }: FindFilter): Promise<Hits | null> {
  const word = searchWord(search ?? '');
  if (word === '') return null;
  const ranges = rangesOf(word);
  const statements = ranges.map(
    (_, place) =>
      `(SELECT payment_id FROM payment_words WHERE app_id = $1 AND word >= $${2 * place + 2} AND word <= $${2 * place + 3}
         ORDER BY app_id, word, payment_id LIMIT ${foundMax + 1})`,
  );
  const rows = await sql.query<{ payment_id: string }>(statements.join(' UNION ALL '), [appId, ...ranges.flat()]);
  const ids = [...new Set(rows.map(({ payment_id }) => payment_id))];
  return { ids: ids.slice(0, foundMax), capped: ids.length > foundMax };
}

/** Behind every character in the order of code points. */
const last = '\u{10ffff}';

function rangesOf(word: string): readonly (readonly [from: string, to: string])[] {
  const amount = /^\$?(\d{1,30}(?:,\d{3})*(?:\.\d{1,18})?)(?: ?usd[ct]?)?$/.exec(word)?.[1]?.replaceAll(',', '');
  const id = paymentIdIn(word);
  return [
    [word, word + last],
    // People leave the mark of hexadecimal away.
    ...(/^[0-9a-f]{6,64}$/.test(word) ? [[`0x${word}`, `0x${word}${last}`] as const] : []),
    ...(amount === undefined ? [] : [[amountWord(amount), amountWord(amount)] as const]),
    ...(id === undefined || id === word ? [] : [[id, id] as const]),
  ];
}

/** Conditions of one statement and their values, which are numbered as they are added. */
function conditions(filter: FindFilter, hits: Hits | null) {
  const values: unknown[] = [filter.appId];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const { createdAfter, createdBefore } = filter;
  const parts = ['app_id = $1'];
  // Materialized, so that no plan searches the hits by reading all payments of the app in order.
  const prelude = hits
    ? `WITH hits AS MATERIALIZED (SELECT * FROM payments WHERE app_id = $1 AND payment_id = ANY(${value(hits.ids)})) `
    : '';
  const from = hits ? 'hits' : 'payments';
  if (createdAfter !== undefined) parts.push(`created_at > ${value(createdAfter)}`);
  if (createdBefore !== undefined) parts.push(`created_at < ${value(createdBefore)}`);
  return { parts, values, value, prelude, from };
}

type Conditions = ReturnType<typeof conditions>;

const needsSomebody = '(held IS NOT NULL OR missing IS NOT NULL)';

/**
 * The newest or oldest payments of the filter. One index scan for each state, each cut at the limit, so that no filter reads past the
 * payments of other states.
 */
function selection(
  { group, status }: FindFilter,
  { parts, value, from }: Pick<Conditions, 'parts' | 'value' | 'from'>,
  { columns, limit, direction = 'DESC' }: { columns: string; limit: number; direction?: 'DESC' | 'ASC' },
): string {
  const order = `ORDER BY created_at ${direction}, payment_id ${direction} LIMIT ${limit}`;
  const given = status === undefined ? [] : [status];
  const wanted = group === undefined || group === 'needs' ? given : statusesOf[group];
  const shared = group === 'needs' ? [...parts, needsSomebody] : parts;
  const scan = (own: readonly string[]) =>
    `(SELECT ${columns} FROM ${from} WHERE ${[...shared, ...own].join(' AND ')} ${order})`;
  const scans = wanted.length === 0 ? [scan([])] : wanted.map((each) => scan([`status = ${value(each)}`]));
  return `SELECT * FROM (${scans.join(' UNION ALL ')}) AS selected ${order}`;
}

async function pageOf(
  sql: Sql,
  filter: FindFilter,
  hits: Hits | null,
  { limit, cursor }: FoundRange,
): Promise<FoundPage | Refusal> {
  const { sort = 'newest' } = filter;
  const byAmount = sort === 'largest' || sort === 'smallest';
  const place = cursor === undefined ? null : byAmount ? readAmountCursor(cursor) : readCursor(cursor);
  if (isRefusal(place)) return place;
  const asked = conditions(filter, hits);
  const { parts, values, value, prelude } = asked;
  const direction = sort === 'newest' || sort === 'largest' ? 'DESC' : 'ASC';
  const beyond = direction === 'DESC' ? '<' : '>';
  const times = (): string => {
    if (place) parts.push(`(created_at, payment_id) ${beyond} (${value(place[0])}, ${value(place[1])})`);
    return selection(filter, asked, { columns: '*', limit: limit + 1, direction });
  };

  const amounts = (): string => {
    const newest = selection(filter, asked, { columns: '*', limit: windowMax });
    const after = place
      ? `WHERE (sorted_amount, payment_id) ${beyond} (${value(place[0])}::numeric, ${value(place[1])})`
      : '';
    return `SELECT priced.*, sorted_amount::text AS sorted_by
              FROM (SELECT newest.*, coalesce(source_amount, amount_came) AS sorted_amount FROM (${newest}) AS newest) AS priced
             ${after} ORDER BY sorted_amount ${direction}, payment_id ${direction} LIMIT ${limit + 1}`;
  };

  const rows = await sql.query<PaymentRow & { readonly sorted_by?: string; readonly sorted_amount?: string }>(
    `${prelude}${byAmount ? amounts() : times()}`,
    values,
  );
  const shown = rows.slice(0, limit);
  const end = shown.at(-1);
  const nextCursor = end && rows.length > limit ? writeCursor(end.sorted_by ?? end.created_at, end.payment_id) : null;
  return { payments: shown.map(({ sorted_by: _, sorted_amount: __, ...row }) => viewOfRow(row)), nextCursor };
}

function readAmountCursor(cursor: string): readonly [amount: string, id: string] | Refusal {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, amount, id] = /^(\d{1,60}(?:\.\d{1,30})?) ([\w-]{36})$/.exec(text) ?? [];
  if (amount !== undefined && id !== undefined) return [amount, id];
  return refuse('invalidRequest', 'this cursor is none that a list answered: begin without one', '/cursor');
}

/** Number of payments in each group, independent of the open group. */
async function countsOf(sql: Sql, filter: FindFilter, hits: Hits | null): Promise<FoundCounts> {
  const [byStatus, needs] = await Promise.all([
    hits ? countedHits(sql, filter, hits) : rolledUp(sql, filter),
    countedNeeds(sql, filter, hits),
  ]);
  const of = (statuses: readonly PaymentStatus[]) =>
    statuses.reduce((sum, status) => sum + Number(byStatus[status] ?? 0), 0);
  const groups = {
    waiting: of(statusesOf.waiting),
    paid: of(statusesOf.paid),
    needs: Math.min(needs, foundMax),
    expired: of(statusesOf.expired),
    refunded: of(statusesOf.refunded),
  };
  const all = Object.values(byStatus).reduce<number>((sum, count) => sum + Number(count ?? 0), 0);
  return { all, groups, needsCapped: needs > foundMax };
}

type ByStatus = Readonly<Partial<Record<PaymentStatus, string | number | null>>>;

async function countedHits(sql: Sql, filter: FindFilter, hits: Hits): Promise<ByStatus> {
  const { parts, values, prelude } = conditions(filter, hits);
  const rows = await sql.query<{ status: PaymentStatus; count: string }>(
    `${prelude}SELECT status, count(*) AS count FROM hits WHERE ${parts.join(' AND ')} GROUP BY status`,
    values,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}

/** Days begin and end with hours, so sums of hours suffice. */
async function rolledUp(sql: Sql, { appId, createdAfter, createdBefore }: FindFilter): Promise<ByStatus> {
  const [sums] = await sql.query<ByStatus>(
    `SELECT sum(unpaid) AS payment_unpaid, sum(started) AS payment_started, sum(payin_completed) AS payment_payin_completed,
            sum(bridging) AS payment_bridging, sum(payout_started) AS payment_payout_started,
            sum(payout_completed) AS payment_payout_completed, sum(completed) AS payment_completed,
            sum(bounced) AS payment_bounced, sum(expired) AS payment_expired, sum(refunded) AS payment_refunded
       FROM hourly_payments
      WHERE app_id = $1 AND ($2::timestamptz IS NULL OR hour > $2) AND ($3::timestamptz IS NULL OR hour < $3)`,
    [appId, createdAfter ?? null, createdBefore ?? null],
  );
  return sums ?? {};
}

async function countedNeeds(sql: Sql, filter: FindFilter, hits: Hits | null): Promise<number> {
  const { parts, values, prelude, from } = conditions(filter, hits);
  const [counted] = await sql.query<{ count: string }>(
    `${prelude}SELECT count(*) AS count FROM (SELECT 1 FROM ${from} WHERE ${parts.join(' AND ')} AND ${needsSomebody}
       ORDER BY created_at DESC LIMIT ${foundMax + 1}) AS needing`,
    values,
  );
  return Number(counted?.count ?? 0);
}

async function sumsOf(sql: Sql, filter: FindFilter, hits: Hits | null): Promise<FoundSums> {
  const asked = conditions(filter, hits);
  const columns = 'created_at, payment_id, source_token_symbol, source_amount, amount_came';
  const rows = await sql.query<{ token: string; count: string; due: string | null; came: string | null }>(
    `${asked.prelude}SELECT source_token_symbol AS token, count(*) AS count, sum(source_amount) AS due, sum(amount_came) AS came
       FROM (${selection(filter, asked, { columns, limit: windowMax })}) AS newest GROUP BY 1 ORDER BY 1`,
    asked.values,
  );
  const count = rows.reduce((sum, row) => sum + Number(row.count), 0);
  const tokens = rows.map(({ token, due, came }) => ({
    tokenSymbol: token,
    due: decimalText(due ?? '0'),
    came: decimalText(came ?? '0'),
  }));
  return { count, capped: count >= windowMax, tokens };
}

/** Payments that need an action of the app's people. */
export interface PaymentsInNeed {
  /** Payments that hold money, counted up to `foundMax`, and what they hold by token. */
  readonly holding: {
    readonly count: number;
    readonly sums: readonly { readonly tokenSymbol: string; readonly amount: string }[];
  };
  /** Open payments that received too little; the earliest expiry first. */
  readonly underpaid: readonly PaymentView[];
  /** There are more than were read. */
  readonly capped: boolean;
}

/** @throws Unavailable */
export async function paymentsInNeed(sql: Sql, appId: string): Promise<PaymentsInNeed> {
  const rows = await sql.query<PaymentRow>(
    `SELECT * FROM payments WHERE app_id = $1 AND ${needsSomebody} ORDER BY created_at DESC, payment_id DESC LIMIT ${foundMax}`,
    [appId],
  );
  const views = rows.map(viewOfRow);
  const holding = views.filter(({ held }) => held !== null);
  const sums = new Map<string, bigint>();
  for (const { tokenSymbol, amount } of holding.flatMap(({ held }) => held ?? [])) {
    const units = parseAmount(amount, finest);
    if (typeof units === 'bigint') sums.set(tokenSymbol, (sums.get(tokenSymbol) ?? 0n) + units);
  }
  return {
    holding: {
      count: holding.length,
      sums: [...sums].map(([tokenSymbol, units]) => ({ tokenSymbol, amount: formatAmount(units, finest) })),
    },
    underpaid: views.filter(({ missing }) => missing !== null).sort((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1)),
    capped: rows.length >= foundMax,
  };
}

/** Decimals of a sum over tokens of different chains. */
const finest = 18;
