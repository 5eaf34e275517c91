import type { About, Answer, AnswerRow } from './ask.ts';
import type { Part } from './part.ts';
import { type BarMark, barsPlot } from './plots.ts';
import { chainText, fine, money, totalIn } from './table.ts';

/** Routes beyond these are in the table alone. */
const drawnMost = 12;

const kinds: Readonly<Record<string, string>> = {
  route: 'Payouts',
  payout: 'Payouts that failed',
  refund: 'Refunds',
  sweep: 'Sweeps',
  flush: 'Sweeps',
  deployment: 'Deployments',
  withdrawal: 'Withdrawals',
  rebalance: 'Rebalances',
  anchor: 'Anchors',
  cancel: 'Cancels',
  adopted: 'By hand',
};

/** What routes brought, and what their transactions cost. */
export function feesPart(answer: Answer, { prices }: About): Part {
  const { rows } = answer;
  const used = new Set(rows.flatMap((row) => [row['source_chain_id'], row['destination_chain_id']]));
  const said = Object.entries(prices)
    .filter(([chain]) => used.has(chain))
    .map(([chain, { usd }]) => `${chainText(chain)} ${usd}`);
  return {
    id: 'fees',
    title: 'Fees and costs',
    note: `Fees of the payments paid out in the month, and gas and rent of their payouts; below them what else was spent on transactions. In dollars, at the configured prices of a coin${said.length > 0 ? ` (${said.join(', ')})` : ''}.`,
    answer,
    total: true,
    none: 'Nothing was earned and nothing spent in this month.',
    plot:
      rows.length === 0
        ? null
        : barsPlot({
            spoken: `Fees of ${money(totalIn(rows, 'fees'))} dollars against costs of ${money(totalIn(rows, 'cost'))}. The table below has every route.`,
            bars: rows.slice(0, drawnMost).map(barOf),
            legend: [
              ['first', 'Fees'],
              ['second', 'Cost'],
            ],
          }),
    columns: [
      { name: 'what', head: 'For', reads: 'text', words: kinds },
      { name: 'source_chain_id', head: 'From or on', reads: 'chain' },
      { name: 'destination_chain_id', head: 'To', reads: 'chain' },
      { name: 'payments', head: 'Number', reads: 'count', unsummed: true },
      { name: 'volume', head: 'Volume', reads: 'money' },
      { name: 'fees', head: 'Fees', reads: 'fine' },
      { name: 'cost', head: 'Cost', reads: 'fine' },
      { name: 'profit', head: 'Left', reads: 'fine' },
    ],
  };
}

function barOf(row: AnswerRow): BarMark {
  const [fees, cost] = [row['fees'] ?? '0', row['cost'] ?? '0'];
  const what = row['what'] ?? '';
  const from = chainText(row['source_chain_id'] ?? '');
  const name =
    what === 'route'
      ? `${from} → ${chainText(row['destination_chain_id'] ?? '')}`
      : `${kinds[what] ?? what} on ${from}`;
  const line = (tone: 'first' | 'second', value: string, word: string) => ({
    text: fine(value),
    parts: [{ tone, value: Number(value), title: `${name}: ${word} ${fine(value)}` }],
  });
  const spent = line('second', cost, 'cost');
  return { name, lines: what === 'route' ? [line('first', fees, 'fees'), spent] : [spent] };
}
