/** Apps, movements of the treasury's accounts, credit of buyers, and its withdrawals. */
import type { Row, View } from '../server.ts';
import type { Statements, Values } from '../statement.ts';
import { by, compare, decimalSum, isOneOf, notWaiting } from '../values.ts';

/** Movements of accounts, in blocks behind one and up to another, of events behind a position. */
function moved(view: View, [chainId, accounts, after, upTo, position]: Values): readonly Row[] {
  return view
    .rows('treasury_movements')
    .filter((row) => row['chain_id'] === chainId && accounts.includes(row['account']))
    .filter((row) => BigInt(row['block_number']) > BigInt(after) && BigInt(row['block_number']) <= BigInt(upTo))
    .filter((row) => BigInt(row['position']) > BigInt(position));
}

const ofBooks = isOneOf('opening', 'topUp', 'flush', 'explained', 'networkClosed');

export const accountStatements: Statements = [
  ['FROM apps WHERE app_id = $1', (view, [appId]) => [view.get('apps', [appId]) ?? []].flat()],
  [
    'SELECT asset, sum(amount)::text AS units FROM treasury_movements',
    (view, values) =>
      [
        ...Map.groupBy(
          moved(view, values).filter(({ kind }) => !ofBooks(kind)),
          ({ asset }) => asset,
        ),
      ].map(([asset, rows]) => ({ asset, units: decimalSum(rows.map(({ amount }) => String(amount))) })),
  ],
  [
    'SELECT DISTINCT tx_hash AS hash FROM treasury_movements',
    (view, values) =>
      [...new Set(moved(view, values).map(({ tx_hash }) => tx_hash as string))]
        .filter((hash) => hash !== '')
        .map((hash) => ({ hash })),
  ],
  [
    "FROM treasury_movements AS burned WHERE kind = 'burn'",
    (view, [max]) => {
      const tokens = view.rows('treasury_movements').filter(({ asset }) => asset !== 'coin');
      const minted = new Set(tokens.filter(({ kind }) => kind === 'mint').map(({ reference }) => reference));
      return tokens
        .filter(({ kind, reference }) => kind === 'burn' && reference !== null)
        .filter(({ reference }) => !minted.has(reference.replace(/\/burn$/, '/mint')))
        .sort(by('position'))
        .slice(0, max)
        .map(({ reference }) => ({ id: /^rebalance-(.+)\/burn$/.exec(reference)?.[1] ?? null }));
    },
  ],
  [
    "FROM treasury_movements WHERE kind = 'mint' AND asset <> 'coin'",
    (view, [since, max]) =>
      view
        .rows('treasury_movements')
        .filter(({ kind, asset, at }) => kind === 'mint' && asset !== 'coin' && at > since)
        .sort(by('position'))
        .slice(0, max)
        .map(({ reference }) => ({ id: /^rebalance-(.+)\/mint$/.exec(reference ?? '')?.[1] ?? null })),
  ],
  [
    'FROM todo_credits',
    (view, [worker, now, max]) =>
      view
        .rows('todo_credits')
        .filter((row) => notWaiting(view, worker, `${row['payment_id']}:${row['account']}`, now))
        .sort(by('due_at'))
        .slice(0, max)
        .map((row) => ({
          ...{ paymentId: row['payment_id'], account: row['account'], appId: row['app_id'] },
          ...{ chainId: row['chain_id'], basisPoints: row['basis_points'], cents: row['cents'] },
        })),
  ],
  [
    'FROM todo_cashback',
    (view, [worker, now, max]) =>
      [...Map.groupBy(view.rows('todo_cashback'), (row) => row['app_id'] as string)]
        .filter(([appId]) => notWaiting(view, worker, appId, now))
        .map(([appId, rows]) => ({ appId, due_at: rows.map(({ due_at }) => due_at).sort(compare)[0] }))
        .sort(by('due_at'))
        .slice(0, max),
  ],
  [
    'FROM todo_withdrawals',
    (view, [worker, now, max]) =>
      view
        .rows('todo_withdrawals')
        .filter((row) => notWaiting(view, worker, row['payment_id'], now))
        .sort(by('due_at'))
        .slice(0, max)
        .map((row) => ({ appId: row['app_id'], paymentId: row['payment_id'] })),
  ],
  [
    'FROM cashback_payments WHERE app_id = $1 AND ordinal > $2',
    (view, [appId, after, max]) =>
      view
        .rows('cashback_payments')
        .filter((row) => row['app_id'] === appId && BigInt(row['ordinal']) > BigInt(after))
        .sort(by('ordinal'))
        .slice(0, max)
        .map((row) => ({
          ...{ ordinal: row['ordinal'], account: row['account'], digest: row['digest'], cents: row['cents'] },
          ...{ amountLocal: row['amount_local'], currencyLocal: row['currency_local'] },
          ...{ orderId: row['order_id'], about: row['about'], spentAt: row['spent_at'] },
        })),
  ],
];
