import { counted } from '../../web/parts/cells.ts';
import { dayText } from '../../web/parts/time.ts';
import type { Answer } from './ask.ts';
import { columnsPlot } from './columns.ts';
import type { Part } from './part.ts';
import { money, totalIn } from './table.ts';

/** What was paid out each day. */
export function volumePart(answer: Answer): Part {
  const { rows } = answer;
  const all = totalIn(rows, 'volume');
  return {
    id: 'volume',
    title: 'Volume',
    note: 'What customers paid, by the day of the payout.',
    answer,
    total: true,
    none: 'Nothing was paid out in this month.',
    plot:
      Number(totalIn(rows, 'payments')) === 0
        ? null
        : columnsPlot({
            spoken: `Volume: ${money(all)} dollars in ${rows.length} days. The table below has every day.`,
            least: 0,
            labels: 'sevenths',
            columns: rows.map(({ day, volume, payments }) => ({
              label: dayText(day ?? ''),
              value: Number(volume),
              title: `${dayText(day ?? '')}: ${money(volume ?? '0')} in ${counted(Number(payments), 'payment')}`,
            })),
          }),
    columns: [
      { name: 'day', head: 'Day', reads: 'day' },
      { name: 'payments', head: 'Payments', reads: 'count' },
      { name: 'volume', head: 'Volume', reads: 'money' },
      { name: 'paid_out', head: 'Paid out', reads: 'money' },
      { name: 'refunded', head: 'Refunded', reads: 'money' },
    ],
  };
}
