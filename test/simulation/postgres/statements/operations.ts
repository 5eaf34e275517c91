/** State of workers outside the read models: cursors, failures, waits, unreadable transactions, stocks. */

import { day_ms } from '../../../../domain/time.ts';
import type { Row, View } from '../server.ts';
import type { Statements } from '../statement.ts';
import { by, compare } from '../values.ts';

const time = (at_ms: number): string => new Date(at_ms).toISOString();
const later = (at: string, wait_ms: number): string => time(Date.parse(at) + wait_ms);

function failed(view: View, values: readonly unknown[]): readonly Row[] {
  const [worker, key, counts, error, at, next, first_ms, most_ms, attemptsMost] = values as [
    string,
    string,
    number,
    string,
    string,
    string,
    number,
    number,
    number,
  ];
  const noted = view.get('ops.work_failures', [worker, key]);
  const attempts = (noted?.['attempts'] ?? 0) + counts;
  const wait_ms = Math.min(first_ms * 2 ** Math.min(noted?.['attempts'] ?? 0, 30), most_ms);
  const row = {
    worker,
    key,
    attempts,
    last_error: error,
    failed_at: at,
    next_attempt_at: noted && counts > 0 ? later(at, wait_ms) : next,
    parked_at: attempts >= attemptsMost ? (noted?.['parked_at'] ?? at) : null,
  };
  view.put('ops.work_failures', row);
  return [{ due: row.parked_at === null ? row.next_attempt_at : null }];
}

const dueFailures = (view: View, worker: string, now: string, max: number): readonly Row[] =>
  view
    .rows('ops.work_failures')
    .filter((row) => row['worker'] === worker && row['parked_at'] === null && row['next_attempt_at'] <= now)
    .sort(by('next_attempt_at'))
    .slice(0, max);

function saveCursor(view: View, [chain_id, pass, block_number, block_hash, chain_time]: readonly unknown[]): Row[] {
  view.put('ops.chain_cursors', { chain_id, pass, block_number: String(block_number), block_hash, chain_time });
  return [{}];
}

export const operationStatements: Statements = [
  [
    'SELECT block_number, block_hash, chain_time FROM ops.chain_cursors',
    (view, [chainId, pass]) => [view.get('ops.chain_cursors', [chainId, pass]) ?? []].flat(),
  ],
  [
    'UPDATE ops.chain_cursors SET',
    (view, values) => {
      const held = view.get('ops.chain_cursors', [values[0], values[1]]);
      const isSame = held?.['block_number'] === String(values[5]) && held['block_hash'] === values[6];
      return isSame ? saveCursor(view, values) : [];
    },
  ],
  [
    'INSERT INTO ops.chain_cursors',
    (view, values) => (view.get('ops.chain_cursors', [values[0], values[1]]) ? [] : saveCursor(view, values)),
  ],
  [
    'SELECT count(*) AS passes, min(chain_time) AS slowest FROM ops.chain_cursors',
    (view, [chainId, passes]) => {
      const times = (passes as string[]).flatMap(
        (pass) => view.get('ops.chain_cursors', [chainId, pass])?.['chain_time'] ?? [],
      );
      return [{ passes: BigInt(times.length), slowest: times.sort(compare)[0] ?? null }];
    },
  ],
  ['INSERT INTO ops.work_failures AS f', failed],
  [
    'INSERT INTO ops.work_failures (worker',
    (view, [worker, key, last_error, failed_at, next_attempt_at]) => {
      if (view.get('ops.work_failures', [worker, key])) return [];
      const row = { worker, key, attempts: 0, last_error, failed_at, next_attempt_at, parked_at: null };
      view.put('ops.work_failures', row);
      return [];
    },
  ],
  [
    'DELETE FROM ops.work_failures WHERE worker = $1 AND key = $2',
    (view, [worker, key]) => {
      view.remove('ops.work_failures', { worker, key });
      // Its note goes with it: ON DELETE CASCADE.
      if (view.get('ops.unreadable_transactions', [worker, key]))
        view.remove('ops.unreadable_transactions', { worker, key });
      return [];
    },
  ],
  [
    'SELECT key FROM ops.work_failures WHERE worker = $1 AND parked_at IS NULL',
    (view, [worker, now, max]) => dueFailures(view, worker, now, max),
  ],
  [
    "SELECT f.key, coalesce(u.addresses, '{}') AS addresses",
    (view, [worker, now, max]) =>
      dueFailures(view, worker, now, max).map((row) => ({
        key: row['key'],
        addresses: view.get('ops.unreadable_transactions', [worker, row['key']])?.['addresses'] ?? [],
      })),
  ],
  [
    'SELECT key, addresses FROM ops.unreadable_transactions',
    (view, [worker]) => view.rows('ops.unreadable_transactions').filter((row) => row['worker'] === worker),
  ],
  [
    'INSERT INTO ops.unreadable_transactions',
    (view, [worker, key, block_number, addresses, evidence, seen_at]) => {
      if (view.get('ops.unreadable_transactions', [worker, key])) return [];
      const row = { worker, key, block_number: String(block_number), addresses, evidence, seen_at };
      view.put('ops.unreadable_transactions', row);
      return [];
    },
  ],
  [
    'UPDATE ops.unreadable_transactions SET addresses',
    (view, [worker, key, more, found, most]) => {
      const row = view.get('ops.unreadable_transactions', [worker, key]);
      if (!row) return [];
      const evidence = `${row['evidence']}\n${found}`.slice(0, most);
      view.put('ops.unreadable_transactions', { ...row, addresses: [...row['addresses'], ...more], evidence });
      return [];
    },
  ],
  [
    'DELETE FROM ops.unread_blocks',
    (view, [chainId, from, to, before]) => {
      const row = view.get('ops.unread_blocks', [chainId]);
      const isRead =
        row &&
        BigInt(row['from_block']) >= BigInt(from) &&
        BigInt(row['to_block']) <= BigInt(to) &&
        row['noted_at'] < before;
      if (isRead) view.remove('ops.unread_blocks', row);
      return [];
    },
  ],
  [
    'INSERT INTO ops.payout_waits AS w',
    (view, [payment_id, chain_id, reason, message, at]) => {
      // ops.payout_waited, which only people read, is not kept.
      for (const row of view.rows('ops.payout_waits'))
        if (row['noted_at'] < later(at, -day_ms) && row['payment_id'] !== payment_id)
          view.remove('ops.payout_waits', row);
      const held = view.get('ops.payout_waits', [payment_id]);
      const since = held?.['reason'] === reason ? held?.['since'] : at;
      view.put('ops.payout_waits', { payment_id, chain_id, reason, message, since, noted_at: at });
      return [];
    },
  ],
  [
    'SELECT count(*) AS count FROM ops.deposit_owners',
    (view) => [{ count: BigInt(view.rows('ops.deposit_owners').length) }],
  ],
  [
    'INSERT INTO ops.deposit_owners',
    (view, [addresses, schemes, salts]) => {
      for (const [at, address] of addresses.entries()) {
        if (!view.get('ops.deposit_owners', [address]))
          view.put('ops.deposit_owners', { address, scheme: schemes[at], salt: salts[at] });
      }
      return [];
    },
  ],
  [
    'WITH taken AS ( DELETE FROM ops.deposit_owners',
    (view, [max, channel]) => {
      const taken = view.rows('ops.deposit_owners').slice(0, max);
      for (const row of taken) view.remove('ops.deposit_owners', row);
      view.notify(channel, '');
      return taken;
    },
  ],
  [
    'SELECT chain_id FROM ops.payouts_to_pause',
    (view, [chainId]) => [view.get('ops.payouts_to_pause', [chainId]) ?? []].flat(),
  ],
  [
    'DELETE FROM ops.payouts_to_pause',
    (view, [chainId]) => {
      const row = view.get('ops.payouts_to_pause', [chainId]);
      if (row) view.remove('ops.payouts_to_pause', row);
      return [];
    },
  ],
  [
    'SELECT identity FROM ops.chain_identities',
    (view, [chainId]) => [view.get('ops.chain_identities', [chainId]) ?? []].flat(),
  ],
  [
    'INSERT INTO ops.chain_identities',
    (view, [chain_id, identity, noted_at]) => {
      if (!view.get('ops.chain_identities', [chain_id]))
        view.put('ops.chain_identities', { chain_id, identity, noted_at });
      return [];
    },
  ],
];
