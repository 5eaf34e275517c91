/** The tree that the signed heads are the roots of. */
import type { Statements } from '../statement.ts';

const leaves = 'ops.head_leaves';
const buckets = 'ops.head_buckets';
const progress = 'ops.head_progress';

export const headStatements: Statements = [
  [
    'TRUNCATE ops.head_leaves, ops.head_buckets, ops.head_progress',
    (view) => {
      for (const table of [leaves, buckets, progress]) for (const row of view.rows(table)) view.remove(table, row);
      return [];
    },
  ],
  [
    'INSERT INTO ops.head_progress',
    (view, [position, until, streams, events]) => {
      const row = { one: true, position: BigInt(position), until, streams: BigInt(streams), events: BigInt(events) };
      view.put(progress, row);
      return [];
    },
  ],
  ['SELECT position, until, streams, events FROM ops.head_progress', (view) => view.rows(progress)],
  ['SELECT bucket, alone, hash FROM ops.head_buckets', (view) => view.rows(buckets)],
  [
    'SELECT key, revision, link FROM ops.head_leaves',
    (view, [wanted]) => view.rows(leaves).filter(({ bucket }) => wanted.includes(bucket)),
  ],
  [
    'INSERT INTO ops.head_leaves',
    (view, [places, keys, revisions, links]) => {
      for (const [at, bucket] of places.entries())
        view.put(leaves, { bucket, key: keys[at], revision: BigInt(revisions[at]), link: links[at] });
      return [];
    },
  ],
  [
    'INSERT INTO ops.head_buckets',
    (view, [places, alone, hashes]) => {
      for (const [at, bucket] of places.entries()) view.put(buckets, { bucket, alone: alone[at], hash: hashes[at] });
      return [];
    },
  ],
];
