/** Reusable payment links for their app's owner. */
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { Link, LinkType } from '../domain/link.ts';
import { formatAmount, microUsdDecimals } from '../domain/money.ts';
import type { PaymentView } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { build, decimalText, newestFirst } from './sql.ts';

export interface ListedLink {
  readonly linkId: string;
  readonly type: LinkType;
  /** In dollars; null if the payer chooses, from `minAmount` to `maxAmount`. */
  readonly amount: string | null;
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
  readonly title: string | null;
  readonly description: string | null;
  /** Null if the payer chooses. */
  readonly source: { readonly chainId: number; readonly tokenSymbol: string } | null;
  readonly createdAt: Instant;
  /** Null while it is open. */
  readonly closedAt: Instant | null;
}

export interface LinkPage {
  readonly links: readonly ListedLink[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface Row {
  readonly link_id: string;
  readonly type: LinkType;
  readonly amount: string | null;
  readonly min_amount: string | null;
  readonly max_amount: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly source_chain_id: number | null;
  readonly source_token_symbol: string;
  readonly created_at: Instant;
  readonly closed_at: Instant | null;
}

/** An app's links, newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listLinks(
  sql: Sql,
  appId: string,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<LinkPage | Refusal> {
  const found = await newestFirst<Row>(
    sql,
    build('links').where('app_id', appId),
    { at: 'created_at', id: 'link_id' },
    page,
  );
  return isRefusal(found) ? found : { links: found.rows.map(linkOf), nextCursor: found.nextCursor };
}

/** Payments of an app that are read to find those of a link. */
export const linkWindow = 5_000;

/** The newest payments of a link, among the newest `linkWindow` payments of its app. @throws Unavailable */
export async function paymentsOfLink(
  sql: Sql,
  appId: string,
  linkId: string,
  limit: number,
): Promise<readonly PaymentView[]> {
  // Materialized, so that the limit of the outer statement starts no longer scan.
  const rows = await sql.query<PaymentRow>(
    `WITH newest AS MATERIALIZED (SELECT * FROM payments WHERE app_id = $1 ORDER BY created_at DESC, payment_id DESC LIMIT ${linkWindow})
     SELECT * FROM newest WHERE metadata ->> 'linkId' = $2 ORDER BY created_at DESC, payment_id DESC LIMIT ${limit}`,
    [appId, linkId],
  );
  return rows.map(viewOfRow);
}

const linkOf = (row: Row): ListedLink => ({
  linkId: row.link_id,
  type: row.type,
  amount: row.amount && decimalText(row.amount),
  minAmount: row.min_amount && decimalText(row.min_amount),
  maxAmount: row.max_amount && decimalText(row.max_amount),
  title: row.title,
  description: row.description,
  source: row.source_chain_id === null ? null : { chainId: row.source_chain_id, tokenSymbol: row.source_token_symbol },
  createdAt: row.created_at,
  closedAt: row.closed_at,
});

/** Same fields for a link read from the log, which is ahead of the list. */
export function listedOf({ amount_microUsd, limits_microUsd, appId: _, ...link }: Link): ListedLink {
  const dollars = (amount: string | undefined | null) =>
    amount ? formatAmount(BigInt(amount), microUsdDecimals) : null;
  const limits = { minAmount: dollars(limits_microUsd?.min), maxAmount: dollars(limits_microUsd?.max) };
  return { ...link, amount: dollars(amount_microUsd), ...limits };
}

/** Counts the app's open links, up to `max`. @throws Unavailable */
export async function countOpenLinks(sql: Sql, appId: string, max: number): Promise<number> {
  const [counted] = await sql.query<{ open: bigint }>(
    `SELECT count(*) AS open FROM (SELECT FROM links WHERE app_id = $1 AND closed_at IS NULL LIMIT $2) AS those`,
    [appId, max],
  );
  return Number(counted?.open ?? 0n);
}
