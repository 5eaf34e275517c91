/** Treasury transactions that the log knows, and transfers that are not done. */
import type { ChainId } from '../domain/chains.ts';
import type { Instant } from '../domain/time.ts';
import { keyOf, type TransferKey } from '../domain/transfer/shapes.ts';
import type { Sql } from '../projections/sql.ts';

export interface Candidates {
  readonly chainId: ChainId;
  readonly hashes: readonly string[];
  /** Time at which the oldest of them landed, or earlier. */
  readonly since: Instant;
}

/** Hashes of landed or pending payouts, and of operations. @throws Unavailable */
export async function recordedHashes(sql: Sql, { chainId, hashes, since }: Candidates): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ hash: string }>(
    `SELECT payout_tx_hash AS hash FROM payments
      WHERE destination_chain_id = $1 AND payout_confirmed_at > $3 AND payout_tx_hash = ANY ($2)
     UNION
     SELECT payout_tx_hash FROM payments
      WHERE destination_chain_id = $1 AND status = 'payment_payout_started' AND payout_tx_hash = ANY ($2)
     UNION
     SELECT hash FROM operations, json_array_elements_text(tx_hashes) AS hash WHERE chain_id = $1 AND hash = ANY ($2)`,
    [chainId, hashes, since],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Transfers with hashes missing in the rows: pending payouts, and other signed transfers not settled before. @throws Unavailable */
export async function transfersToAsk(
  sql: Sql,
  { chainId, since }: Omit<Candidates, 'hashes'>,
): Promise<readonly TransferKey[]> {
  const rows = await sql.query<{ reference: string }>(
    `SELECT reference FROM transfers
      WHERE chain_id = $1 AND signed AND ((settled_at IS NULL AND step <> 'done') OR (settled_at > $2 AND kind = 'refund'))
      LIMIT 10000`,
    [chainId, since],
  );
  return rows.map(({ reference }) => keyOf(reference));
}

/** Unfinished transfers of an asset. @param amount in whole tokens. @throws Unavailable */
export async function openTransfersOf(
  sql: Sql,
  { chainId, asset, amount }: { readonly chainId: ChainId; readonly asset: string; readonly amount: string },
): Promise<readonly TransferKey[]> {
  const rows = await sql.query<{ reference: string }>(
    `SELECT reference FROM transfers
      WHERE chain_id = $1 AND token_address = $2 AND amount = $3 AND settled_at IS NULL AND step <> 'done' LIMIT 1000`,
    [chainId, asset, amount],
  );
  return rows.map(({ reference }) => keyOf(reference));
}
