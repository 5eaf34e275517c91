import type { PaymentTransaction } from '../domain/payment/view.ts';
import type { Sql } from './sql.ts';

/** Transfers of a payment on its chains, oldest first. @throws Unavailable */
export async function listTransactions(sql: Sql, paymentId: string): Promise<readonly PaymentTransaction[]> {
  const rows = await sql.query<Omit<PaymentTransaction, 'index'> & { readonly index: bigint }>(
    `SELECT kind, chain_id AS "chainId", tx_hash AS "txHash", index, status, standing, token_symbol AS "tokenSymbol",
            token_address AS "tokenAddress", amount, from_address AS "fromAddress", to_address AS "toAddress",
            block_number AS "blockNumber", block_hash AS "blockHash", at
       FROM transactions WHERE payment_id = $1
      ORDER BY kind, at, chain_id, tx_hash, index`,
    [paymentId],
  );
  return rows.map((row) => ({ ...row, index: Number(row.index) }));
}
