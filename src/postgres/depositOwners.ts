import type { Sql } from '../../projections/sql.ts';

export interface DepositOwner {
  readonly address: string;
  readonly scheme: string;
  readonly salt: string;
}

export interface DepositOwners {
  count(): Promise<number>;
  /** Those that are there already stay as they are. */
  add(owners: readonly DepositOwner[]): Promise<void>;
  /** Nobody else gets these any more; what a crash forgets is nobody's for ever. Fewer when there are not so many. */
  take(max: number): Promise<readonly DepositOwner[]>;
}

/** Addresses in stock, in Postgres: filled by whoever has the seed, taken by whoever answers requests. @throws Unavailable */
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
      sql.query<DepositOwner>(
        `DELETE FROM ops.deposit_owners WHERE address IN
           (SELECT address FROM ops.deposit_owners LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING address, scheme, salt`,
        [max],
      ),
  };
}
