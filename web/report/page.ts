/** The report as one self-contained page: no script, no request. Everything on it is in the answers. */

import type { VNode } from 'preact';
import { type About, type Answers, exactSum, type QuestionAnswer, roundedTo } from '../../queries/monthlyReport.ts';
import { countWords, grouped } from '../parts/cells.ts';
import { documentOf, html } from '../parts/html.ts';
import {
  appFeesPart,
  durationsPart,
  feesPart,
  funnelPart,
  heldPart,
  type ReportPart,
  volumePart,
  withinMinute,
} from './sections.ts';
import { answerTable, money, totalIn } from './table.ts';

export interface ReportFact {
  readonly id: string;
  readonly term: string;
  readonly value: string;
  readonly note: string;
}

/** Summarises the month in a few numbers: each is a sum of a column below or one of its cells. */
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
      note: `${countWords(payments, 'payment')} paid out`,
    },
    {
      id: 'funnel',
      term: 'Paid of created',
      value: percentText(stage('funded')?.['percent']),
      note: `${countWords(Number(stage('created')?.['payments'] ?? 0), 'payment')} created`,
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
      value: plain(exactSum([earned, negated(spent)])),
      note: `${plain(earned)} earned, ${plain(spent)} spent`,
    },
    {
      id: 'held',
      term: 'Held now',
      value: money(totalIn(held.rows, 'amount')),
      note: `in ${countWords(Number(totalIn(held.rows, 'payments')), 'case')}`,
    },
  ];
}

/** The same, with the app's fees instead of the operator's profit. */
const appFactsOf = (answers: Answers): readonly ReportFact[] =>
  factsOf(answers).map((fact) =>
    fact.id === 'fees'
      ? { ...fact, term: 'Fees', value: plain(totalIn(answers.fees.rows, 'fees')), note: 'charged in the month' }
      : fact,
  );

export type ReportReader = 'operator' | 'app';

const percentText = (percent: string | null | undefined): string => (percent ? `${grouped(percent)} %` : '–');

/** To the cent, or to a hundredth of a cent below one dollar. */
const plain = (text: string): string => grouped(roundedTo(text, /^-?0*(\.|$)/.test(text) ? 4 : 2));

const negated = (text: string): string => (text.startsWith('-') ? text.slice(1) : `-${text}`);

/**
 * @param css of the whole page
 * @param reader people of an app read neither the operator's costs nor the SQL
 * @returns a complete document
 */
export function reportPage(about: About, answers: Answers, css: string, reader: ReportReader = 'operator'): string {
  const { month, appId, now } = about;
  const title = `${month.title}: ${appId ?? 'all apps'}`;
  const parts = [
    volumePart(answers.volume),
    funnelPart(answers.funnel),
    durationsPart(answers.durations),
    reader === 'app' ? appFeesPart(answers.fees) : feesPart(answers.fees, about),
    heldPart(answers.held),
  ];
  return documentOf(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
      <meta name="color-scheme" content="light dark" />
      <title>${title}</title>
      <style dangerouslySetInnerHTML=${{ __html: css }}></style>
    </head>
    <body>
      <main class="report">
        <header class="cover">
          <p class="small muted">Payment Intents, monthly report</p>
          <h1>${month.title}</h1>
          <p class="muted">${appId === null ? 'All apps' : html`<span>App <bdi><strong>${appId}</strong></bdi></span>`}. Days and times are in UTC; tokens count as dollars. As of ${stamp(now)}${
            now < month.to ? ', before the month is over' : ''
          }.</p>
        </header>
        <dl class="facts card">${(reader === 'app' ? appFactsOf(answers) : factsOf(answers)).map(
          ({ id, term, value, note }) =>
            html`<div><dt>${term}</dt><dd class="value" data-fact=${id}>${value}</dd><dd class="small muted">${note}</dd></div>`,
        )}</dl>
        ${parts.map((part) => section(part, reader))}
        ${reader === 'operator' && html`<footer class="small muted"><p>Every number above is what Postgres answered to the SQL beside its plot, all of it at one moment.</p></footer>`}
      </main>
    </body>
  </html>`);
}

const stamp = (at: string): VNode => html`<time datetime=${at}>${at.slice(0, 10)} ${at.slice(11, 16)}</time>`;

const section = ({ id, title, note, plot, none, answer, columns, total }: ReportPart, reader: ReportReader): VNode =>
  html`<section class="card" id=${id} aria-labelledby=${`${id}-title`}>
    <header><h2 id=${`${id}-title`}>${title}</h2><p class="small muted">${note}</p></header>
    <div class="inside">
      ${plot ?? html`<p class="none muted">${none}</p>`}
      ${plot && answerTable(title, columns, answer.rows, total)}
      ${reader === 'operator' && sqlOf(answer)}
    </div>
  </section>`;

/** As it was run, with its parameters filled in. */
const sqlOf = ({ sql, parameters }: QuestionAnswer): VNode =>
  html`<details class="sql"><summary>The SQL of these numbers</summary>
    <pre tabindex="0"><code>${sql}</code></pre>
    <ol class="small">${parameters.map(
      (value, place) =>
        html`<li><span class="mono">$${place + 1}</span> <code data-parameter=${place + 1}>${value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`}</code></li>`,
    )}</ol>
  </details>`;
