/** Parts of a monthly report: each turns one answer into a table and a plot. */

import type { VNode } from 'preact';
import type { About, AnswerRow, Question, QuestionAnswer } from '../../queries/monthlyReport.ts';
import { countWords, dayText, grouped } from '../parts/cells.ts';
import { type BarMark, barsPlot, columnsPlot, type Tone } from './plots.ts';
import { chainText, durationText, fineAmount, money, type TableColumn, totalIn } from './table.ts';

/** One plot with its table and the SQL of both. */
export interface ReportPart {
  readonly id: Question['id'];
  readonly title: string;
  readonly note: string;
  /** Null if there is no data: then `none` says so. */
  readonly plot: VNode | null;
  readonly none: string;
  readonly answer: QuestionAnswer;
  readonly columns: readonly TableColumn[];
  /** True if the table ends with the sums of its columns. */
  readonly total: boolean;
}

/** From the customer's payment to the merchant's payout. */
export function durationsPart(answer: QuestionAnswer): ReportPart {
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
            spoken: `Time to payout of ${countWords(Number(all), 'payment')}: ${withinMinute(rows) ?? '0'} percent within a minute. The table below has every range.`,
            least: 4,
            labels: 'each',
            columns: rows.map((row) => ({
              label: rangeText(row),
              value: Number(row['payments']),
              title: `${row['up_to_s'] ? 'up to ' : ''}${rangeText(row)}: ${countWords(Number(row['payments']), 'payment')}`,
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
  up_to_s ? durationText(Number(up_to_s)) : `> ${durationText(Number(above_s))}`;

/** Share of the payouts within a minute; null without payouts. */
export const withinMinute = (rows: readonly AnswerRow[]): string | null =>
  rows.find((row) => row['up_to_s'] === '60')?.['within_percent'] ?? null;

/** Maximum routes in the plot; the table has all. */
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

/** Volumes of routes, and the costs of their transactions. */
export function feesPart(answer: QuestionAnswer, { prices }: Pick<About, 'prices'>): ReportPart {
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

/** Fees of an app's payments by route, without the operator's costs. */
export const appFeesPart = (answer: QuestionAnswer): ReportPart => ({
  id: 'fees',
  title: 'Fees',
  note: 'Fees of the payments paid out in the month, by route, in dollars.',
  answer,
  total: true,
  none: 'No fee was charged in this month.',
  plot:
    answer.rows.length === 0
      ? null
      : barsPlot({
          spoken: `Fees of ${money(totalIn(answer.rows, 'fees'))} dollars. The table below has every route.`,
          bars: answer.rows.slice(0, drawnMost).map((row) => {
            const { name, lines } = barOf(row);
            return { name, lines: lines.slice(0, 1) };
          }),
        }),
  columns: [
    { name: 'source_chain_id', head: 'From', reads: 'chain' },
    { name: 'destination_chain_id', head: 'To', reads: 'chain' },
    { name: 'payments', head: 'Payments', reads: 'count' },
    { name: 'volume', head: 'Volume', reads: 'money' },
    { name: 'fees', head: 'Fees', reads: 'fine' },
  ],
});

function barOf(row: AnswerRow): BarMark {
  const [fees, cost] = [row['fees'] ?? '0', row['cost'] ?? '0'];
  const what = row['what'] ?? '';
  const from = chainText(row['source_chain_id'] ?? '');
  const name =
    what === 'route'
      ? `${from} → ${chainText(row['destination_chain_id'] ?? '')}`
      : `${kinds[what] ?? what} on ${from}`;
  const line = (tone: 'first' | 'second', value: string, word: string) => ({
    text: fineAmount(value),
    parts: [{ tone, value: Number(value), title: `${name}: ${word} ${fineAmount(value)}` }],
  });
  const spent = line('second', cost, 'cost');
  return { name, lines: what === 'route' ? [line('first', fees, 'fees'), spent] : [spent] };
}

const stages: Readonly<Record<string, string>> = {
  created: 'Created',
  seen: 'Money seen',
  funded: 'Paid',
  paid_out: 'Paid out',
  expired: 'Expired unpaid',
  bounced: 'Bounced or refunded',
};
const ends: ReadonlySet<string> = new Set(['expired', 'bounced']);

/** Progress of the month's payments. */
export function funnelPart(answer: QuestionAnswer): ReportPart {
  const { rows } = answer;
  const of = (stage: string): string => rows.find((row) => row['stage'] === stage)?.['payments'] ?? '0';
  return {
    id: 'funnel',
    title: 'From created to paid out',
    note: 'Of the payments created in the month, as they stand now.',
    answer,
    total: false,
    none: 'No payment was created in this month.',
    plot:
      of('created') === '0'
        ? null
        : barsPlot({
            spoken: `Of ${grouped(of('created'))} payments created, ${grouped(of('funded'))} were paid and ${grouped(of('paid_out'))} paid out.`,
            bars: rows.map(({ stage, payments, percent }) => {
              const name = stages[stage ?? ''] ?? String(stage);
              const text = `${grouped(payments ?? '0')}  ${percent ?? '0'} %`;
              const tone = ends.has(stage ?? '') ? 'rest' : 'first';
              return { name, lines: [{ text, parts: [{ tone, value: Number(payments), title: `${name}: ${text}` }] }] };
            }),
          }),
    columns: [
      { name: 'stage', head: 'Stage', reads: 'text', words: stages },
      { name: 'payments', head: 'Payments', reads: 'count' },
      { name: 'percent', head: 'Of the created', reads: 'percent' },
    ],
  };
}

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

/** Held money that is not being refunded. */
export function heldPart(answer: QuestionAnswer): ReportPart {
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
            bars: rows.map(heldBarOf),
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

function heldBarOf(row: AnswerRow): BarMark {
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

/** Amounts paid out per day. */
export function volumePart(answer: QuestionAnswer): ReportPart {
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
              title: `${dayText(day ?? '')}: ${money(volume ?? '0')} in ${countWords(Number(payments), 'payment')}`,
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
