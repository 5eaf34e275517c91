import { counted } from '../../web/parts/cells.ts';
import type { Answer, AnswerRow } from './ask.ts';
import { columnsPlot } from './columns.ts';
import type { Part } from './part.ts';
import { lengthOf, totalIn } from './table.ts';

/** From the customer's money to the merchant's. */
export function durationsPart(answer: Answer): Part {
  const { rows } = answer;
  const all = totalIn(rows, 'payments');
  return {
    id: 'durations',
    title: 'Time to payout',
    note: 'From the block of the customer’s transfer to the confirmed payout; each column is of payments that took up to so long.',
    answer,
    total: false,
    none: 'Nothing was paid out in this month.',
    plot:
      all === '0'
        ? null
        : columnsPlot({
            spoken: `Time to payout of ${counted(Number(all), 'payment')}: ${withinMinute(rows) ?? '0'} percent within a minute. The table below has every range.`,
            least: 4,
            labels: 'each',
            columns: rows.map((row) => ({
              label: rangeText(row),
              value: Number(row['payments']),
              title: `${row['up_to_s'] ? 'up to ' : ''}${rangeText(row)}: ${counted(Number(row['payments']), 'payment')}`,
            })),
          }),
    columns: [
      { name: 'above_s', head: 'Longer than', reads: 'seconds' },
      { name: 'up_to_s', head: 'Up to', reads: 'seconds' },
      { name: 'payments', head: 'Payments', reads: 'count' },
      { name: 'within_percent', head: 'So far', reads: 'percent' },
    ],
  };
}

const rangeText = ({ above_s, up_to_s }: AnswerRow): string =>
  up_to_s ? lengthOf(Number(up_to_s)) : `> ${lengthOf(Number(above_s))}`;

/** Share of the payouts that took no longer; null of none. */
export const withinMinute = (rows: readonly AnswerRow[]): string | null =>
  rows.find((row) => row['up_to_s'] === '60')?.['within_percent'] ?? null;
