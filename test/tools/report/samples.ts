/** Answers in Postgres's form: of a month without payments, of one payment, of ten thousand payments on many routes. */
import { instant } from '../../../domain/time.ts';
import {
  type About,
  type AnswerRow,
  type Answers,
  monthNamed,
  type QuestionAnswer,
  questions,
} from '../../../tools/report/questions.ts';

const month = monthNamed('2026-11');
if (!month) throw new Error('2026-11 is a month');

export const about: About = {
  month,
  appId: null,
  prices: {
    1: { decimals: 18, usd: '4000.00' },
    8453: { decimals: 18, usd: '4000.00' },
    501: { decimals: 9, usd: '200.00' },
    1500: { decimals: 7, usd: '0.40' },
  },
  now: instant(Date.UTC(2026, 11, 1, 6, 30)),
};

type Row = Readonly<Record<string, string | number | null>>;
const rowsOf = (rows: readonly Row[]): readonly AnswerRow[] =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
  );

interface Sketch {
  readonly days: (day: number) => readonly [payments: number, volume: string];
  readonly stages: readonly number[];
  readonly ranges: readonly number[];
  readonly fees: readonly Row[];
  readonly held: readonly Row[];
}

const limits = [null, 5, 10, 20, 30, 60, 120, 300, 900, 3600, null] as const;
const stageNames = ['created', 'seen', 'funded', 'paid_out', 'expired', 'bounced'];

function answersOf({ days, stages, ranges, fees, held }: Sketch): Answers {
  const volume = Array.from({ length: 30 }, (_, index) => {
    const [payments, amount] = days(index + 1);
    const day = `2026-11-${String(index + 1).padStart(2, '0')}`;
    return { day, payments, volume: amount, paid_out: amount, refunded: '0' };
  });
  const created = stages[0] ?? 0;
  const percent = (n: number, of: number) => (of === 0 ? null : ((100 * n) / of).toFixed(1));
  const all = ranges.reduce((sum, n) => sum + n, 0);
  const rows = {
    volume,
    funnel: stageNames.map((stage, place) => ({
      stage,
      payments: stages[place] ?? 0,
      percent: percent(stages[place] ?? 0, created),
    })),
    durations: ranges.map((payments, place) => ({
      above_s: limits[place] ?? null,
      up_to_s: limits[place + 1] ?? null,
      payments,
      within_percent: percent(
        ranges.slice(0, place + 1).reduce((sum, n) => sum + n, 0),
        all,
      ),
    })),
    fees,
    held,
  };
  const answer = (id: keyof typeof rows): QuestionAnswer => ({
    sql: questions[id].sql,
    parameters: [about.month.from, about.month.to, null],
    rows: rowsOf(rows[id]),
  });
  return {
    volume: answer('volume'),
    funnel: answer('funnel'),
    durations: answer('durations'),
    fees: answer('fees'),
    held: answer('held'),
  };
}

const route = (from: number, to: number, payments: number, volume: string, fees: string, cost: string): Row => ({
  ...{ what: 'route', source_chain_id: from, destination_chain_id: to, payments, volume, fees, cost },
  profit: (Number(fees) - Number(cost)).toFixed(6),
});
const other = (what: string, chain: number, payments: number, cost: string): Row => ({
  ...{
    what,
    source_chain_id: chain,
    destination_chain_id: null,
    payments,
    volume: 0,
    fees: 0,
    cost,
    profit: `-${cost}`,
  },
});
const heldFor = (reason: string, payments: number, ages: readonly string[], amount: string): Row => ({
  ...{ reason, payments, under_a_day: ages[0] ?? '0', under_a_week: ages[1] ?? '0', under_30_days: ages[2] ?? '0' },
  ...{ older: ages[3] ?? '0', amount },
});

const nothing = Array.from({ length: 10 }, () => 0);

export const samples: Readonly<Record<'empty' | 'one' | 'many', Answers>> = {
  empty: answersOf({ days: () => [0, '0'], stages: [0, 0, 0, 0, 0, 0], ranges: nothing, fees: [], held: [] }),
  one: answersOf({
    days: (day) => (day === 21 ? [1, '10.01'] : [0, '0']),
    stages: [1, 1, 1, 1, 0, 0],
    ranges: nothing.map((_, place) => (place === 4 ? 1 : 0)),
    fees: [route(8453, 1, 1, '10.01', '0.01', '0.168400')],
    held: [],
  }),
  many: answersOf({
    days: (day) => [300 + ((day * 37) % 90), `${12_000 + ((day * day * 977) % 9_000)}.${((day * 13) % 90) + 10}`],
    stages: [12_480, 10_760, 10_644, 10_201, 1_655, 61],
    ranges: [312, 2_940, 4_102, 1_533, 820, 301, 120, 51, 17, 5],
    fees: [
      route(8453, 1, 4_120, '212040.18', '4120.400000', '2301.118210'),
      route(8453, 8453, 2_904, '98114.00', '872.120000', '41.202010'),
      route(501, 8453, 1_620, '51077.25', '810.330000', '22.991020'),
      route(1500, 1, 811, '40123.90', '730.180000', '455.310200'),
      route(42161, 501, 402, '18011.11', '201.400000', '96.551000'),
      route(137, 56, 344, '9021.75', '120.010000', '61.002000'),
      other('sweep', 8453, 212, '61.402100'),
      other('sweep', 501, 98, '4.120000'),
      other('refund', 8453, 41, '3.008000'),
      other('payout', 1, 3, '1.900100'),
    ],
    held: [
      heldFor('amountTooLow', 31, ['41.20', '120.55', '310.02', '98.10'], '569.87'),
      heldFor('late', 14, ['0', '220.10', '41.00', '0'], '261.10'),
      heldFor('excess', 22, ['12.01', '40.18', '0', '61.44'], '113.63'),
      heldFor('wrongToken', 2, ['0', '0', '0', '99.90'], '99.90'),
    ],
  }),
};
