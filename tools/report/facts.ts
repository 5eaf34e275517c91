/** The month in a few numbers, each a sum of a column below or one of its cells. */
import { counted, grouped } from '../../web/parts/cells.ts';
import type { Answers } from './ask.ts';
import { withinMinute } from './sections.ts';
import { roundedTo, sumOf } from './sums.ts';
import { money, totalIn } from './table.ts';

export interface ReportFact {
  readonly id: string;
  readonly term: string;
  readonly value: string;
  readonly note: string;
}

export function factsOf({ volume, funnel, durations, fees, held }: Answers): readonly ReportFact[] {
  const stage = (name: string) => funnel.rows.find((row) => row['stage'] === name);
  const payments = Number(totalIn(volume.rows, 'payments'));
  const within = withinMinute(durations.rows);
  const [earned, spent] = [totalIn(fees.rows, 'fees'), totalIn(fees.rows, 'cost')];
  return [
    {
      id: 'volume',
      term: 'Volume',
      value: money(totalIn(volume.rows, 'volume')),
      note: `${counted(payments, 'payment')} paid out`,
    },
    {
      id: 'funnel',
      term: 'Paid of created',
      value: percentText(stage('funded')?.['percent']),
      note: `${counted(Number(stage('created')?.['payments'] ?? 0), 'payment')} created`,
    },
    {
      id: 'durations',
      term: 'Within a minute',
      value: percentText(within),
      note: within === null ? 'nothing was paid out' : 'from transfer to payout',
    },
    {
      id: 'fees',
      term: 'Fees less costs',
      value: plain(sumOf([earned, negated(spent)])),
      note: `${plain(earned)} earned, ${plain(spent)} spent`,
    },
    {
      id: 'held',
      term: 'Held now',
      value: money(totalIn(held.rows, 'amount')),
      note: `in ${counted(Number(totalIn(held.rows, 'payments')), 'case')}`,
    },
  ];
}

const percentText = (percent: string | null | undefined): string => (percent ? `${grouped(percent)} %` : '–');

/** To the cent, or to a hundredth of one where there is no dollar. */
const plain = (text: string): string => grouped(roundedTo(text, /^-?0*(\.|$)/.test(text) ? 4 : 2));

const negated = (text: string): string => (text.startsWith('-') ? text.slice(1) : `-${text}`);
