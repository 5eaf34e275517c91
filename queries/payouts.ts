/** What was paid out and what is still owed. */
import { type ChainId, chainOf, tokenAt } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import type { Sql } from '../projections/sql.ts';
import type { PaymentKey } from './work.ts';

/**
 * What is owed on a chain in a token: to payments whose money has been seen, all of it, and whose payout is not settled; to refunds and to
 * withdrawals that are not done.
 */
export interface Obligation {
  readonly chainId: number;
  readonly tokenAddress: string;
  /** Smallest units. */
  readonly amount: bigint;
}

/** What open payments will be paid out once they are paid. */
export interface Promised extends Obligation {
  /** Whose key created them; null for all that were created without one. */
  readonly appId: string | null;
}

/** Seen on its chain, if not final: all that was agreed. */
const seenInFull = `status = 'payment_started' AND amount_received >= source_amount`;

/** Payouts, what goes back to payers, what operators are to be sent, and burns of rebalances. @param but an operation, or the reference of a burn, that is not counted. @throws Unavailable */
export async function openObligations(sql: Sql, but = ''): Promise<readonly Obligation[]> {
  const sums = await sql.query<Sum>(
    `SELECT "chainId", "tokenAddress", sum(amount) AS amount FROM (
       SELECT destination_chain_id AS "chainId", destination_token_address AS "tokenAddress", destination_amount AS amount
         FROM payments
        WHERE status IN ('payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started')
          AND destination_amount IS NOT NULL
          AND (status <> 'payment_started' OR ${seenInFull})
       UNION ALL
       SELECT chain_id, token_address, amount FROM transfers WHERE kind IN ('refund', 'burn') AND step <> 'done' AND reference <> $1
       UNION ALL
       SELECT chain_id, token_address, amount FROM operations
        WHERE standing IN ('waitsForApproval', 'ordered', 'signed')
          AND kind IN ('withdrawal', 'rebalance') AND token_address <> 'coin' AND operation_id <> $1
     ) owed GROUP BY 1, 2`,
    [but],
  );
  return sums.map(inUnits);
}

/** What is not owed yet, because its money has not been seen. @throws Unavailable */
export async function openPromises(sql: Sql): Promise<readonly Promised[]> {
  const sums = await sql.query<Sum & { readonly appId: string | null }>(
    `SELECT destination_chain_id AS "chainId", destination_token_address AS "tokenAddress",
            CASE WHEN keyless THEN NULL ELSE app_id END AS "appId", sum(destination_amount) AS amount
       FROM payments
      WHERE status IN ('payment_unpaid', 'payment_started') AND destination_amount IS NOT NULL AND NOT (${seenInFull})
      GROUP BY 1, 2, 3`,
  );
  return sums.map((sum) => ({ ...inUnits(sum), appId: sum.appId }));
}

interface Sum {
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  readonly amount: string;
}

function inUnits({ chainId, tokenAddress, amount }: Sum): Obligation {
  const token = tokenAt(chainOf(chainId), tokenAddress);
  const parsed = token && parseAmount(amount, token.decimals);
  if (typeof parsed !== 'bigint') throw new Error(`${amount} of ${tokenAddress} on chain ${chainId} is no amount`);
  return { chainId, tokenAddress, amount: parsed };
}

/** Payments that are funded and whose payout is not settled, the oldest first. @throws Unavailable */
export const openPayouts = (sql: Sql, max: number): Promise<readonly PaymentKey[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId" FROM payments
      WHERE status IN ('payment_payin_completed', 'payment_bridging', 'payment_payout_started')
      ORDER BY payin_confirmed_at LIMIT $1`,
    [max],
  );
