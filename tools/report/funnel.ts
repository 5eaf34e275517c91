import { grouped } from '../../web/parts/cells.ts';
import type { Answer } from './ask.ts';
import type { Part } from './part.ts';
import { barsPlot } from './plots.ts';

const stages: Readonly<Record<string, string>> = {
  created: 'Created',
  seen: 'Money seen',
  funded: 'Paid',
  paid_out: 'Paid out',
  expired: 'Expired unpaid',
  bounced: 'Bounced or refunded',
};
const ends: ReadonlySet<string> = new Set(['expired', 'bounced']);

/** How far the payments of the month have come. */
export function funnelPart(answer: Answer): Part {
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
