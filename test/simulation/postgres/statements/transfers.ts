/** Transfers that the treasury owes or has made. */
import type { Row, View } from '../server.ts';
import type { Statements } from '../statement.ts';
import { by, decimalSum, inUnits, notWaiting } from '../values.ts';

const isDue = (row: Row): boolean => ['order', 'sign', 'broadcast', 'tell', 'batched'].includes(row['step']);
const onChain = (view: View, chainId: number): readonly Row[] =>
  view.rows('transfers').filter((row) => row['chain_id'] === chainId);
const referred = ({ reference, app_id }: Row): Row => ({ reference, appId: app_id });

/** Payouts that could still be put together. */
const isUnsigned = (row: Row): boolean =>
  row['kind'] === 'payout' && ['order', 'sign'].includes(row['step']) && !row['signed'];

export const transferStatements: Statements = [
  [
    'SELECT reference AS "paymentId", token_address AS "tokenAddress", due_at AS "dueAt" FROM transfers',
    (view, [worker, now, chainId, max]) =>
      onChain(view, chainId)
        .filter((row) => isUnsigned(row) && row['due_at'] <= now && notWaiting(view, worker, row['reference'], now))
        .sort(by('due_at', 'reference'))
        .slice(0, max)
        .map((row) => ({ paymentId: row['reference'], tokenAddress: row['token_address'], dueAt: row['due_at'] })),
  ],
  [
    'WITH RECURSIVE owing AS',
    (view, [worker, now, chainId, max, since, but, relays]) => {
      const isHeldBack = (row: Row) =>
        since !== null && isUnsigned(row) && row['due_at'] > since && !but.includes(row['reference']);
      const due = onChain(view, chainId)
        .filter(
          (row) =>
            isDue(row) &&
            (row['kind'] === 'relay') === relays &&
            !isHeldBack(row) &&
            row['due_at'] <= now &&
            notWaiting(view, worker, row['reference'], now),
        )
        .sort(by('due_at', 'reference'));
      const counts = new Map<string, number>();
      return due
        .map((row) => {
          const nth = (counts.get(row['app_id']) ?? 0) + 1;
          counts.set(row['app_id'], nth);
          return { ...referred(row), nth, due_at: row['due_at'] };
        })
        .sort(by('nth', 'due_at'))
        .slice(0, max);
    },
  ],
  [
    'FROM transfers WHERE ((signed AND settled_at IS NULL',
    (view, [since, max]) =>
      view
        .rows('transfers')
        .filter((row) =>
          row['settled_at'] === null ? row['signed'] && row['step'] !== 'done' : row['settled_at'] > since,
        )
        .filter(({ kind }) => kind !== 'batch' && kind !== 'relay')
        .sort((a, b) => by('-settled_at')(a, b))
        .slice(0, max)
        .map((row) => ({
          ...referred(row),
          kind: row['kind'],
          chainId: row['chain_id'],
          tokenAddress: row['token_address'],
          amount: row['amount'],
          settledAt: row['settled_at'],
        })),
  ],
  [
    "AND token_address = $2 AND step = 'broadcast' AND reference <> ALL ($3)",
    (view, [chainId, token, but, kinds]) => [
      {
        amount: decimalSum(
          onChain(view, chainId)
            .filter((row) => row['token_address'] === token && row['step'] === 'broadcast')
            .filter((row) => !but.includes(row['reference']) && kinds.includes(row['kind']))
            .map(({ amount }) => amount),
        ),
      },
    ],
  ],
  [
    'FROM transfers WHERE chain_id = $1 AND settled_at > $2 ORDER BY settled_at LIMIT $3',
    (view, [chainId, since, max]) =>
      onChain(view, chainId)
        .filter((row) => row['settled_at'] !== null && row['settled_at'] > since)
        .sort(by('settled_at'))
        .slice(0, max)
        .map(referred),
  ],
  [
    'SELECT payout_tx_hash AS hash FROM payments',
    (view, [chainId, hashes, since]) => {
      const ofPayments = view
        .rows('payments')
        .filter((row) => row['destination_chain_id'] === chainId && hashes.includes(row['payout_tx_hash']))
        .filter(
          (row) =>
            row['status'] === 'payment_payout_started' ||
            (row['payout_confirmed_at'] !== null && row['payout_confirmed_at'] > since),
        )
        .map((row) => row['payout_tx_hash']);
      const ofOperations = view
        .rows('operations')
        .filter((row) => row['chain_id'] === chainId)
        .flatMap((row) => row['tx_hashes'] as string[])
        .filter((hash) => hashes.includes(hash));
      // UNION removes duplicates.
      return [...new Set([...ofPayments, ...ofOperations])].map((hash) => ({ hash }));
    },
  ],
  [
    'FROM transfers WHERE chain_id = $1 AND signed AND',
    (view, [chainId, since]) =>
      onChain(view, chainId).filter(
        (row) =>
          row['signed'] &&
          ((row['settled_at'] === null && row['step'] !== 'done') ||
            (row['settled_at'] !== null &&
              row['settled_at'] > since &&
              ['refund', 'burn', 'mint'].includes(row['kind'] as string))),
      ),
  ],
  [
    'AND token_address = $2 AND amount = $3 AND settled_at IS NULL',
    (view, [chainId, asset, amount]) =>
      onChain(view, chainId).filter(
        (row) =>
          row['token_address'] === asset &&
          inUnits(row['amount']) === inUnits(amount) &&
          row['settled_at'] === null &&
          row['step'] !== 'done',
      ),
  ],
];
