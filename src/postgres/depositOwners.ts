import type { Sql } from '../../projections/sql.ts';

export interface StockedOwner {
  readonly address: string;
  readonly scheme: string;
  readonly salt: string;
}

/** Notified when the stock has shrunk. */
export const stockChannel = 'deposit_stock';

export interface DepositOwners {
  count(): Promise<number>;
  /** Addresses already in stock stay unchanged. */
  add(owners: readonly StockedOwner[]): Promise<void>;
  /** Removes up to `max` from the stock: no other caller gets them. Addresses lost in a crash are never used. */
  take(max: number): Promise<readonly StockedOwner[]>;
}

/**
 * Stock of deposit addresses in Postgres. Instances with the seed fill it; instances that answer requests take from it. @throws Unavailable
 */
export function createDepositOwners(sql: Sql): DepositOwners {
  return {
    async count() {
      const [row] = await sql.query<{ count: bigint }>('SELECT count(*) AS count FROM ops.deposit_owners');
      return Number(row?.count ?? 0);
    },

    async add(owners) {
      const columns = (['address', 'scheme', 'salt'] as const).map((name) => owners.map((owner) => owner[name]));
      await sql.query(
        `INSERT INTO ops.deposit_owners (address, scheme, salt)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING`,
        columns,
      );
    },

    take: (max) =>
      sql.query<StockedOwner>(
        `WITH taken AS (
           DELETE FROM ops.deposit_owners WHERE address IN
             (SELECT address FROM ops.deposit_owners LIMIT $1 FOR UPDATE SKIP LOCKED)
           RETURNING address, scheme, salt),
         told AS MATERIALIZED (SELECT pg_notify($2, ''))
         SELECT taken.* FROM taken, told`,
        [max, stockChannel],
      ),
  };
}
