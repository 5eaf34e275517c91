import {
  bucketOf,
  type KeptLeaf,
  type Subtree,
  type TreeChange,
  TreeMoved,
  type TreeProgress,
  type TreeStore,
} from '../../commands/heads/tree.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';

/** Store of the tree of heads in Postgres. */
export const createHeadTree = (database: SqlDatabase): TreeStore => ({
  progress: () => progressIn(database),
  parts: () => partsIn(database),
  leavesIn: (buckets) => leavesIn(database, buckets),
  change: (from, work) =>
    database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('head tree', 0))`);
      if ((await progressIn(tx))?.position !== from?.position) throw new TreeMoved();
      return work(changeIn(tx));
    }),
  clear: () =>
    database.transaction(async (tx) => {
      await tx.query('TRUNCATE ops.head_leaves, ops.head_buckets, ops.head_progress');
    }),
});

const changeIn = (tx: Sql): TreeChange => ({
  leavesIn: (buckets) => leavesIn(tx, buckets),
  async put(leaves, parts) {
    await putLeaves(tx, leaves);
    await putParts(tx, [...parts]);
  },
  async moveTo({ position, until, streams, events }) {
    await tx.query(
      `INSERT INTO ops.head_progress (position, until, streams, events) VALUES ($1, $2, $3, $4)
       ON CONFLICT (one) DO UPDATE SET position = $1, until = $2, streams = $3, events = $4`,
      [position, until, streams, events],
    );
  },
});

async function progressIn(sql: Sql): Promise<TreeProgress | null> {
  const [row] = await sql.query<{ position: bigint; until: Instant; streams: bigint; events: bigint }>(
    'SELECT position, until, streams, events FROM ops.head_progress',
  );
  return row ?? null;
}

async function partsIn(sql: Sql): Promise<ReadonlyMap<number, Subtree>> {
  const rows = await sql.query<{ bucket: number; alone: boolean; hash: Buffer }>(
    'SELECT bucket, alone, hash FROM ops.head_buckets',
  );
  return new Map(rows.map(({ bucket, alone, hash }) => [bucket, { kind: alone ? 'leaf' : 'node', hash }]));
}

async function leavesIn(sql: Sql, buckets: readonly number[]): Promise<readonly KeptLeaf[]> {
  const rows = await sql.query<{ key: Buffer; revision: bigint; link: Buffer }>(
    'SELECT key, revision, link FROM ops.head_leaves WHERE bucket = ANY($1::int[])',
    [buckets],
  );
  return rows.map(({ key, revision, link }) => ({ key, revision, link: link.toString('hex') }));
}

const putLeaves = (tx: Sql, leaves: readonly KeptLeaf[]) =>
  tx.query(
    `INSERT INTO ops.head_leaves (bucket, key, revision, link)
     SELECT * FROM unnest($1::int[], $2::bytea[], $3::bigint[], $4::bytea[])
     ON CONFLICT (bucket, key) DO UPDATE SET revision = excluded.revision, link = excluded.link`,
    [
      leaves.map(({ key }) => bucketOf(key)),
      leaves.map(({ key }) => key),
      leaves.map(({ revision }) => revision),
      leaves.map(({ link }) => Buffer.from(link, 'hex')),
    ],
  );

const putParts = (tx: Sql, parts: readonly (readonly [number, Subtree])[]) =>
  tx.query(
    `INSERT INTO ops.head_buckets (bucket, alone, hash) SELECT * FROM unnest($1::int[], $2::boolean[], $3::bytea[])
     ON CONFLICT (bucket) DO UPDATE SET alone = excluded.alone, hash = excluded.hash`,
    [parts.map(([bucket]) => bucket), parts.map(([, { kind }]) => kind === 'leaf'), parts.map(([, { hash }]) => hash)],
  );
