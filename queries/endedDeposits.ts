import type { Sql } from './sql.ts';

/** Whose a deposit is. */
export interface EndedDeposit {
  readonly address: string;
  readonly paymentId: string;
}

/** Deposits of a chain's payments that are over, a page at a time. @param after the last address of the page before @throws Unavailable */
export const endedDeposits = (
  sql: Sql,
  chainId: number,
  { statuses, after, max }: { readonly statuses: readonly string[]; readonly after: string; readonly max: number },
): Promise<readonly EndedDeposit[]> =>
  sql.query(
    `SELECT deposit_address AS address, payment_id AS "paymentId" FROM payments
      WHERE source_chain_id = $1 AND status = ANY ($2) AND deposit_address > $3 ORDER BY deposit_address LIMIT $4`,
    [chainId, statuses, after, max],
  );
