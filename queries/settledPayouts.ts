import type { Instant } from '../domain/time.ts';
import type { Sql } from './sql.ts';

/** Payments whose payout on a chain was confirmed after `since`, oldest first. @throws Unavailable */
export const settledPayouts = (
  sql: Sql,
  { chainId, since, max }: { readonly chainId: number; readonly since: Instant; readonly max: number },
): Promise<readonly { readonly paymentId: string }[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId" FROM payments
      WHERE destination_chain_id = $1 AND payout_confirmed_at > $2 ORDER BY payout_confirmed_at LIMIT $3`,
    [chainId, since, max],
  );
