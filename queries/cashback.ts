/** Credit of buyers: unpaid shares of buyers, unrecorded payments of merchants, and recorded ones. */
import type { ChainId } from '../domain/chains.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { notWaiting } from './work.ts';

export interface DueCredit {
  readonly paymentId: string;
  readonly account: string;
  readonly appId: string;
  readonly chainId: ChainId;
  readonly basisPoints: number;
  readonly cents: bigint;
}

export interface Due {
  /** Worker whose failures make an item wait. */
  readonly worker: string;
  readonly max: number;
  readonly now: Instant;
}

/** Shares of completed payments that are not in their payers' accounts yet. Oldest first. @throws Unavailable */
export const dueCredits = (sql: Sql, { worker, max, now }: Due): Promise<readonly DueCredit[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId", account, app_id AS "appId", chain_id AS "chainId",
            basis_points AS "basisPoints", cents
       FROM todo_credits WHERE ${notWaiting(`payment_id || ':' || account`)}
      ORDER BY due_at LIMIT $3`,
    [worker, now, max],
  );

/** Merchants whose accounts lack payments by credit; longest wait first. @throws Unavailable */
export const dueCashback = (sql: Sql, { worker, max, now }: Due): Promise<readonly { readonly appId: string }[]> =>
  sql.query(
    `SELECT app_id AS "appId" FROM todo_cashback WHERE ${notWaiting('app_id')}
      GROUP BY app_id ORDER BY min(due_at) LIMIT $3`,
    [worker, now, max],
  );

/** Withdrawals without a payment after a crash. Oldest first. @throws Unavailable */
export const dueWithdrawals = (
  sql: Sql,
  { worker, max, now }: Due,
): Promise<readonly { readonly appId: string; readonly paymentId: string }[]> =>
  sql.query(
    `SELECT app_id AS "appId", payment_id AS "paymentId" FROM todo_withdrawals
      WHERE ${notWaiting('payment_id')} ORDER BY due_at LIMIT $3`,
    [worker, now, max],
  );

export interface CashbackPayment {
  readonly ordinal: bigint;
  readonly account: string;
  readonly digest: string;
  readonly cents: bigint;
  /** A decimal, in `currencyLocal`. */
  readonly amountLocal: string | null;
  readonly currencyLocal: string | null;
  readonly orderId: string | null;
  readonly about: string | null;
  readonly spentAt: Instant;
}

const columns = `ordinal, account, digest, cents, amount_local AS "amountLocal", currency_local AS "currencyLocal",
                 order_id AS "orderId", about, spent_at AS "spentAt"`;

/** A merchant's payments by credit after the given number, in order. @throws Unavailable */
export const cashbackAfter = (
  sql: Sql,
  appId: string,
  { after, max }: { readonly after: number; readonly max: number },
): Promise<readonly CashbackPayment[]> =>
  sql.query(`SELECT ${columns} FROM cashback_payments WHERE app_id = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3`, [
    appId,
    after,
    max,
  ]);

/** In US cents. */
export interface Cashback {
  readonly balance_cents: number;
  readonly received_cents: number;
  readonly withdrawn_cents: number;
  readonly received: number;
  /** Newest first. */
  readonly payments: readonly CashbackPayment[];
}

/** Credit payments that a merchant received. @throws Unavailable */
export async function getCashback(sql: Sql, appId: string, limit: number): Promise<Cashback> {
  const [[account], payments] = await Promise.all([
    sql.query<{ balance: bigint; sum: bigint; withdrawn: bigint; received: bigint }>(
      'SELECT balance_cents AS balance, received_cents AS sum, withdrawn_cents AS withdrawn, received FROM cashback_accounts WHERE app_id = $1',
      [appId],
    ),
    sql.query<CashbackPayment>(
      `SELECT ${columns} FROM cashback_payments WHERE app_id = $1 ORDER BY ordinal DESC LIMIT $2`,
      [appId, limit],
    ),
  ]);
  return {
    balance_cents: Number(account?.balance ?? 0n),
    received_cents: Number(account?.sum ?? 0n),
    withdrawn_cents: Number(account?.withdrawn ?? 0n),
    received: Number(account?.received ?? 0n),
    payments,
  };
}

/** A credit or debit of a merchant's account. */
export interface CashbackMovement {
  readonly at: Instant;
  readonly cents: bigint;
  /** Payment of a withdrawal; null for a buyer's payment. */
  readonly paymentId: string | null;
  /** Buyer's account; null for a withdrawal. The other fields are as the buyer sent them. */
  readonly account: string | null;
  readonly amountLocal: string | null;
  readonly currencyLocal: string | null;
  readonly orderId: string | null;
  readonly about: string | null;
}

/** Movements of a merchant's account, newest first. @throws Unavailable */
export const cashbackMovements = (sql: Sql, appId: string, limit: number): Promise<readonly CashbackMovement[]> =>
  sql.query(
    `SELECT * FROM (
       (SELECT spent_at AS at, cents, NULL AS "paymentId", account, amount_local AS "amountLocal",
               currency_local AS "currencyLocal", order_id AS "orderId", about
          FROM cashback_payments WHERE app_id = $1 ORDER BY ordinal DESC LIMIT $2)
       UNION ALL
       (SELECT withdrawn_at, cents, payment_id, NULL, NULL, NULL, NULL, NULL
          FROM cashback_withdrawals WHERE app_id = $1 ORDER BY withdrawn_at DESC LIMIT $2)
     ) AS movements ORDER BY at DESC LIMIT $2`,
    [appId, limit],
  );
