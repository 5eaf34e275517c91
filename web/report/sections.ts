/** Parts of a monthly report: each turns one answer into a table and a plot. */
import type { VNode } from 'preact';
import { type ChainId, chainIds, chainOf } from '../../domain/chains.ts';
import {
  type About,
  type AnswerRow,
  exactSum,
  type Question,
  type QuestionAnswer,
  roundedTo,
} from '../../queries/monthlyReport.ts';
import { decimalText } from '../../queries/sql.ts';
import { dayText, grouped, lengthIn, percentText } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import { isRightToLeft, type PlainName, pageLanguage, sayContent, sayCount, sayText } from '../parts/say.ts';
import { type BarMark, barsPlot, columnsPlot, type Tone } from './plots.ts';

/** One plot with its table and the SQL of both. */
export interface ReportPart {
  readonly id: Question['id'];
  readonly title: string;
  readonly note: Content;
  /** Null if there is no data: then `none` says so. */
  readonly plot: VNode | null;
  readonly none: string;
  readonly answer: QuestionAnswer;
  readonly columns: readonly TableColumn[];
  /** True if the table ends with the sums of its columns. */
  readonly total: boolean;
}

/** The value itself if it has no text. */
const wordFor = (words: Readonly<Record<string, PlainName>>, value: string): string => {
  const name = words[value];
  return name === undefined ? value : sayText(name);
};

/** From the customer's payment to the merchant's payout. */
export function durationsPart(answer: QuestionAnswer): ReportPart {
  const { rows } = answer;
  const all = totalIn(rows, 'payments');
  return {
    id: 'durations',
    title: sayText('reportDurations'),
    note: sayContent('reportDurationsNote'),
    answer,
    total: false,
    none: sayText('reportNonePaidOut'),
    plot:
      all === '0'
        ? null
        : columnsPlot({
            spoken: sayText('reportDurationsSpoken', {
              payments: sayCount('paymentCount', Number(all)),
              percent: grouped(withinMinute(rows) ?? '0'),
            }),
            least: 4,
            labels: 'each',
            columns: rows.map((row) => ({
              label: rangeText(row),
              value: Number(row['payments']),
              title: sayCount('reportRangeBar', Number(row['payments']), {
                range: row['up_to_s'] ? sayText('reportRangeUpTo', { time: rangeText(row) }) : rangeText(row),
              }),
            })),
          }),
    columns: [
      { name: 'above_s', head: sayText('reportLongerThan'), reads: 'seconds' },
      { name: 'up_to_s', head: sayText('reportUpTo'), reads: 'seconds' },
      { name: 'payments', head: sayText('reportPayments'), reads: 'count' },
      { name: 'within_percent', head: sayText('reportSoFar'), reads: 'percent' },
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

const kinds: Readonly<Record<string, PlainName>> = {
  route: 'spendingRoute',
  payout: 'spendingPayout',
  refund: 'spendingRefund',
  sweep: 'spendingSweep',
  flush: 'spendingSweep',
  deployment: 'spendingDeployment',
  withdrawal: 'spendingWithdrawal',
  rebalance: 'spendingRebalance',
  anchor: 'spendingAnchor',
  cancel: 'spendingCancel',
  adopted: 'spendingAdopted',
};

/** Volumes of routes, and the costs of their transactions. */
export function feesPart(answer: QuestionAnswer, { prices }: Pick<About, 'prices'>): ReportPart {
  const { rows } = answer;
  const used = new Set(rows.flatMap((row) => [row['source_chain_id'], row['destination_chain_id']]));
  const said = Object.entries(prices)
    .filter(([chain]) => used.has(chain))
    .map(([chain, { usd }]) => `${chainText(chain)} ${pageLanguage() === 'en' ? usd : grouped(usd)}`);
  return {
    id: 'fees',
    title: sayText('reportFeesAndCosts'),
    note:
      said.length > 0
        ? sayContent('reportFeesAndCostsPriced', { prices: said.join(', ') })
        : sayContent('reportFeesAndCostsNote'),
    answer,
    total: true,
    none: sayText('reportNothingEarned'),
    plot:
      rows.length === 0
        ? null
        : barsPlot({
            spoken: sayText('reportCostsSpoken', {
              fees: money(totalIn(rows, 'fees')),
              cost: money(totalIn(rows, 'cost')),
            }),
            bars: rows.slice(0, drawnMost).map(barOf),
            legend: [
              ['first', sayText('reportFees')],
              ['second', sayText('reportCost')],
            ],
          }),
    columns: [
      { name: 'what', head: sayText('reportFor'), reads: 'text', words: kinds },
      { name: 'source_chain_id', head: sayText('reportFromOrOn'), reads: 'chain' },
      { name: 'destination_chain_id', head: sayText('reportTo'), reads: 'chain' },
      { name: 'payments', head: sayText('reportNumber'), reads: 'count', unsummed: true },
      { name: 'volume', head: sayText('reportVolume'), reads: 'money' },
      { name: 'fees', head: sayText('reportFees'), reads: 'fine' },
      { name: 'cost', head: sayText('reportCost'), reads: 'fine' },
      { name: 'profit', head: sayText('reportLeft'), reads: 'fine' },
    ],
  };
}

/** Fees of an app's payments by route, without the operator's costs. */
export const appFeesPart = (answer: QuestionAnswer): ReportPart => ({
  id: 'fees',
  title: sayText('reportFees'),
  note: sayContent('reportFeesNote'),
  answer,
  total: true,
  none: sayText('reportNoFee'),
  plot:
    answer.rows.length === 0
      ? null
      : barsPlot({
          spoken: sayText('reportFeesSpoken', { fees: money(totalIn(answer.rows, 'fees')) }),
          bars: answer.rows.slice(0, drawnMost).map((row) => {
            const { name, lines } = barOf(row);
            return { name, lines: lines.slice(0, 1) };
          }),
        }),
  columns: [
    { name: 'source_chain_id', head: sayText('reportFrom'), reads: 'chain' },
    { name: 'destination_chain_id', head: sayText('reportTo'), reads: 'chain' },
    { name: 'payments', head: sayText('reportPayments'), reads: 'count' },
    { name: 'volume', head: sayText('reportVolume'), reads: 'money' },
    { name: 'fees', head: sayText('reportFees'), reads: 'fine' },
  ],
});

function barOf(row: AnswerRow): BarMark {
  const [fees, cost] = [row['fees'] ?? '0', row['cost'] ?? '0'];
  const what = row['what'] ?? '';
  const from = chainText(row['source_chain_id'] ?? '');
  const name =
    what === 'route'
      ? `${from} → ${chainText(row['destination_chain_id'] ?? '')}`
      : sayText('spendingOn', { kind: wordFor(kinds, what), chain: from });
  const line = (tone: 'first' | 'second', value: string, title: 'reportFeesBar' | 'reportCostBar') => ({
    text: fineAmount(value),
    parts: [{ tone, value: Number(value), title: sayText(title, { route: name, amount: fineAmount(value) }) }],
  });
  const spent = line('second', cost, 'reportCostBar');
  return { name, lines: what === 'route' ? [line('first', fees, 'reportFeesBar'), spent] : [spent] };
}

const stages: Readonly<Record<string, PlainName>> = {
  created: 'stageCreated',
  seen: 'stageSeen',
  funded: 'stageFunded',
  paid_out: 'reportPaidOut',
  expired: 'stageExpired',
  bounced: 'stageBounced',
};
const ends: ReadonlySet<string> = new Set(['expired', 'bounced']);

/** Progress of the month's payments. */
export function funnelPart(answer: QuestionAnswer): ReportPart {
  const { rows } = answer;
  const of = (stage: string): string => rows.find((row) => row['stage'] === stage)?.['payments'] ?? '0';
  return {
    id: 'funnel',
    title: sayText('reportFunnel'),
    note: sayContent('reportFunnelNote'),
    answer,
    total: false,
    none: sayText('reportNoneCreated'),
    plot:
      of('created') === '0'
        ? null
        : barsPlot({
            spoken: sayText('reportFunnelSpoken', {
              created: grouped(of('created')),
              paid: grouped(of('funded')),
              paidOut: grouped(of('paid_out')),
            }),
            bars: rows.map(({ stage, payments, percent }) => {
              const name = wordFor(stages, stage ?? '');
              const text = `${grouped(payments ?? '0')}  ${percentText(percent ?? '0')}`;
              const tone = ends.has(stage ?? '') ? 'rest' : 'first';
              return { name, lines: [{ text, parts: [{ tone, value: Number(payments), title: `${name}: ${text}` }] }] };
            }),
          }),
    columns: [
      { name: 'stage', head: sayText('reportStage'), reads: 'text', words: stages },
      { name: 'payments', head: sayText('reportPayments'), reads: 'count' },
      { name: 'percent', head: sayText('reportOfCreated'), reads: 'percent' },
    ],
  };
}

const reasons: Readonly<Record<string, PlainName>> = {
  excess: 'heldForExcess',
  surplus: 'heldForSurplus',
  late: 'heldForLate',
  latePayin: 'heldForLate',
  wrongToken: 'heldForToken',
  wrongChain: 'heldForChain',
  otherSender: 'heldForSender',
  amountTooLow: 'heldForTooLittle',
  amountTooHigh: 'heldForTooMuch',
  payoutImpossible: 'heldForNoPayout',
  unmatched: 'heldForNoPayment',
};

const ages = [
  ['under_a_day', 'ageDay', 'age1'],
  ['under_a_week', 'ageWeek', 'age2'],
  ['under_30_days', 'ageMonth', 'age3'],
  ['older', 'ageOlder', 'age4'],
] as const satisfies readonly (readonly [string, PlainName, Tone])[];

/** Held money that is not being refunded. */
export function heldPart(answer: QuestionAnswer): ReportPart {
  const { rows } = answer;
  return {
    id: 'held',
    title: sayText('reportHeld'),
    note: sayContent('reportHeldNote'),
    answer,
    total: true,
    none: sayText('reportNoneHeld'),
    plot:
      rows.length === 0
        ? null
        : barsPlot({
            spoken: sayText('reportHeldSpoken', { amount: money(totalIn(rows, 'amount')) }),
            bars: rows.map(heldBarOf),
            legend: ages.map(([, age, tone]) => [tone, sayText(age)]),
          }),
    columns: [
      { name: 'reason', head: sayText('reportReason'), reads: 'text', words: reasons },
      { name: 'payments', head: sayText('reportNumber'), reads: 'count' },
      ...ages.map(([name, age]) => ({
        name,
        head: capitalized(sayText(age)),
        reads: 'money' as const,
      })),
      { name: 'amount', head: sayText('reportTogether'), reads: 'money' },
    ],
  };
}

function heldBarOf(row: AnswerRow): BarMark {
  const reason = wordFor(reasons, row['reason'] ?? '');
  const parts = ages.map(([column, age, tone]) => {
    const value = row[column] ?? '0';
    return {
      tone,
      value: Number(value),
      title: sayText('reportHeldBar', { reason, age: sayText(age), amount: money(value) }),
    };
  });
  return {
    name: reason,
    lines: [{ parts, text: money(row['amount'] ?? '0') }],
  };
}

/** Amounts paid out per day. */
export function volumePart(answer: QuestionAnswer): ReportPart {
  const { rows } = answer;
  const all = totalIn(rows, 'volume');
  return {
    id: 'volume',
    title: sayText('reportVolume'),
    note: sayContent('reportVolumeNote'),
    answer,
    total: true,
    none: sayText('reportNonePaidOut'),
    plot:
      Number(totalIn(rows, 'payments')) === 0
        ? null
        : columnsPlot({
            spoken: sayText('reportVolumeSpoken', { amount: money(all), days: String(rows.length) }),
            least: 0,
            labels: 'sevenths',
            columns: rows.map(({ day, volume, payments }) => ({
              label: dayText(day ?? ''),
              value: Number(volume),
              title: sayCount('reportDayBar', Number(payments), {
                day: dayText(day ?? ''),
                amount: money(volume ?? '0'),
              }),
            })),
          }),
    columns: [
      { name: 'day', head: sayText('reportDay'), reads: 'day' },
      { name: 'payments', head: sayText('reportPayments'), reads: 'count' },
      { name: 'volume', head: sayText('reportVolume'), reads: 'money' },
      { name: 'paid_out', head: sayText('reportPaidOut'), reads: 'money' },
      { name: 'refunded', head: sayText('reportRefunded'), reads: 'money' },
    ],
  };
}

// The table below a plot: Postgres's answer, row by row.

/** Display format of a value. */
export type ValueFormat = 'text' | 'day' | 'count' | 'money' | 'fine' | 'percent' | 'chain' | 'seconds';

interface TableColumn {
  readonly name: string;
  readonly head: string;
  readonly reads: ValueFormat;
  /** Its rows count different subjects. */
  readonly unsummed?: true;
  /** Texts of some values. */
  readonly words?: Readonly<Record<string, PlainName>>;
}

const summed: ReadonlySet<ValueFormat> = new Set(['count', 'money', 'fine']);

export const answerTable = (
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly AnswerRow[],
  total: boolean,
): VNode =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${sayText('reportAsTable', { caption })}><table>
    <caption class="visually-hidden">${caption}</caption>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${classOf(column)}>${column.head}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (row) => html`<tr>${columns.map((column) => cellOf(column, row[column.name] ?? null))}</tr>`,
    )}</tbody>
    ${total && rows.length > 1 && html`<tfoot><tr>${columns.map((column, place) => totalOf(column, place, rows))}</tr></tfoot>`}
  </table></div>`;

const words: ReadonlySet<ValueFormat> = new Set(['text', 'day', 'chain', 'seconds']);
const classOf = ({ reads }: TableColumn): string | undefined => (words.has(reads) ? undefined : 'number');

/** `value` is Postgres's text. */
const cellOf = (column: TableColumn, value: string | null): VNode =>
  html`<td class=${classOf(column)}><data value=${value ?? ''}>${value === null ? '–' : displayOf(column, value)}</data></td>`;

const displayOf = (column: TableColumn, value: string): Content =>
  classOf(column) === undefined ? cellText(column, value) : numberPart(cellText(column, value));

function totalOf(column: TableColumn, place: number, rows: readonly AnswerRow[]): VNode {
  if (place === 0) return html`<th scope="row">${sayContent('reportTogether')}</th>`;
  if (!summed.has(column.reads) || column.unsummed) return html`<td></td>`;
  return html`<td class="number">${numberPart(cellText(column, totalIn(rows, column.name)))}</td>`;
}

/** A number with its own direction, so that a minus stays on its left. */
export const numberPart = (text: string): Content => (isRightToLeft() ? html`<span dir="ltr">${text}</span>` : text);

/** Exact sum of a column. */
export const totalIn = (rows: readonly AnswerRow[], name: string): string =>
  exactSum(rows.map((row) => row[name] ?? '0'));

export function cellText({ reads, words: own = {} }: Pick<TableColumn, 'reads' | 'words'>, value: string): string {
  const word = own[value];
  if (word !== undefined) return sayText(word);
  switch (reads) {
    case 'count':
      return grouped(value);
    case 'money':
      return money(value);
    case 'fine':
      return fineAmount(value);
    case 'day':
      return dayText(value);
    case 'percent':
      return percentText(value);
    case 'chain':
      return chainText(value);
    case 'seconds':
      return durationText(Number(value));
    default:
      return value;
  }
}

/** For a text at the start of a sentence or a column. */
export const capitalized = (text: string): string =>
  `${text.charAt(0).toLocaleUpperCase(pageLanguage())}${text.slice(1)}`;

/** All its places, at least two. */
export const money = (value: string): string => grouped(decimalText(value));

/** For gas: a transaction may cost a tenth of a cent. */
const fineAmount = (value: string): string => grouped(roundedTo(value, 4));

function chainText(id: string): string {
  const chainId = Number(id) as ChainId;
  return chainIds.includes(chainId) ? chainOf(chainId).name : sayText('reportUnknownChain', { id });
}

function durationText(seconds: number): string {
  if (seconds < 60) return lengthIn(seconds, 'second', 's');
  return seconds < 3_600 ? lengthIn(seconds / 60, 'minute', 'min') : lengthIn(seconds / 3_600, 'hour', 'h');
}
