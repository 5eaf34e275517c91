import type { Answer, AnswerRow } from './ask.ts';
import type { Part } from './part.ts';
import { type BarMark, barsPlot, type Tone } from './plots.ts';
import { money, totalIn } from './table.ts';

const reasons: Readonly<Record<string, string>> = {
  excess: 'Paid too much',
  surplus: 'Paid again',
  late: 'Came late',
  latePayin: 'Came late',
  wrongToken: 'Another token',
  wrongChain: 'Another chain',
  otherSender: 'Another sender',
  amountTooLow: 'Paid too little',
  amountTooHigh: 'More than is taken',
  payoutImpossible: 'Payout impossible',
  unmatched: 'Of no payment',
};

const ages = [
  ['under_a_day', 'under a day', 'age1'],
  ['under_a_week', '1 to 7 days', 'age2'],
  ['under_30_days', '7 to 30 days', 'age3'],
  ['older', 'longer', 'age4'],
] as const satisfies readonly (readonly [string, string, Tone])[];

/** What came and can neither be paid out nor is on its way back. */
export function heldPart(answer: Answer): Part {
  const { rows } = answer;
  return {
    id: 'held',
    title: 'Held money',
    note: 'What came up to the month’s end and is held now: by reason, and since when.',
    answer,
    total: true,
    none: 'No money is held.',
    plot:
      rows.length === 0
        ? null
        : barsPlot({
            spoken: `${money(totalIn(rows, 'amount'))} dollars are held. The table below has every reason.`,
            bars: rows.map(barOf),
            legend: ages.map(([, text, tone]) => [tone, text]),
          }),
    columns: [
      { name: 'reason', head: 'Reason', reads: 'text', words: reasons },
      { name: 'payments', head: 'Number', reads: 'count' },
      ...ages.map(([name, text]) => ({
        name,
        head: `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
        reads: 'money' as const,
      })),
      { name: 'amount', head: 'Together', reads: 'money' },
    ],
  };
}

function barOf(row: AnswerRow): BarMark {
  const name = reasons[row['reason'] ?? ''] ?? String(row['reason']);
  const parts = ages.map(([column, text, tone]) => {
    const value = row[column] ?? '0';
    return { tone, value: Number(value), title: `${name}, ${text}: ${money(value)}` };
  });
  return {
    name,
    lines: [{ parts, text: money(row['amount'] ?? '0') }],
  };
}
