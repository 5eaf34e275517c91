/** Apps, and lists of rooms that a run does not fill: buyers' credit, withdrawals. What is in them would be noticed. */
import type { Row, View } from '../server.ts';
import type { Statements, Values } from '../statement.ts';
import { decimalSum, isOneOf } from '../values.ts';

const empty =
  (table: string) =>
  (view: View): readonly Row[] => {
    if (view.rows(table).length > 0) throw new Error(`the model of Postgres does not read ${table} yet`);
    return [];
  };

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
    (view, values) => moved(view, values).map(({ tx_hash }) => ({ hash: tx_hash })),
  ],
  ['FROM todo_credits', empty('todo_credits')],
  ['FROM todo_cashback', empty('todo_cashback')],
  ['FROM todo_withdrawals', empty('todo_withdrawals')],
];
