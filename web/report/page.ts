/** The report as one self-contained page: no script, no request. Everything on it is in the answers. */

import type { VNode } from 'preact';
import {
  type About,
  type Answers,
  exactSum,
  type Month,
  type QuestionAnswer,
  roundedTo,
} from '../../queries/monthlyReport.ts';
import { dateIn, grouped, percentText } from '../parts/cells.ts';
import { type Content, documentOf, html } from '../parts/html.ts';
import { directionMarks } from '../parts/language.ts';
import { isRightToLeft, pageLanguage, pageLocale, sayContent, sayCount, sayText } from '../parts/say.ts';
import {
  answerTable,
  appFeesPart,
  capitalized,
  durationsPart,
  feesPart,
  funnelPart,
  heldPart,
  money,
  numberPart,
  type ReportPart,
  totalIn,
  volumePart,
  withinMinute,
} from './sections.ts';

export interface ReportFact {
  readonly id: string;
  readonly term: string;
  readonly value: string;
  readonly note: Content;
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
      term: sayText('reportVolume'),
      value: money(totalIn(volume.rows, 'volume')),
      note: sayCount('reportPaidOutCount', payments),
    },
    {
      id: 'funnel',
      term: sayText('reportPaidOfCreated'),
      value: percentOrNone(stage('funded')?.['percent']),
      note: sayCount('reportCreatedCount', Number(stage('created')?.['payments'] ?? 0)),
    },
    {
      id: 'durations',
      term: sayText('reportWithinMinute'),
      value: percentOrNone(within),
      note: sayContent(within === null ? 'reportNothingPaidOut' : 'reportTransferToPayout'),
    },
    {
      id: 'fees',
      term: sayText('reportFeesLessCosts'),
      value: plain(exactSum([earned, negated(spent)])),
      note: sayContent('reportEarnedSpent', { earned: plain(earned), spent: plain(spent) }),
    },
    {
      id: 'held',
      term: sayText('reportHeldNow'),
      value: money(totalIn(held.rows, 'amount')),
      note: sayCount('reportCases', Number(totalIn(held.rows, 'payments'))),
    },
  ];
}

/** The same, with the app's fees instead of the operator's profit. */
const appFactsOf = (answers: Answers): readonly ReportFact[] =>
  factsOf(answers).map((fact) =>
    fact.id === 'fees'
      ? {
          ...fact,
          term: sayText('reportFees'),
          value: plain(totalIn(answers.fees.rows, 'fees')),
          note: sayContent('reportCharged'),
        }
      : fact,
  );

export type ReportReader = 'operator' | 'app';

const percentOrNone = (percent: string | null | undefined): string => (percent ? percentText(percent) : '–');

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
  const named = monthText(month);
  const title = sayText('reportTitle', { month: named, scope: appId ?? sayText('reportAllApps') });
  const parts = [
    volumePart(answers.volume),
    funnelPart(answers.funnel),
    durationsPart(answers.durations),
    reader === 'app' ? appFeesPart(answers.fees) : feesPart(answers.fees, about),
    heldPart(answers.held),
  ];
  return documentOf(html`<html lang=${pageLanguage()} dir=${isRightToLeft() ? 'rtl' : undefined}>
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
          <p class="small muted">${sayContent('reportKicker')}</p>
          <h1>${named}</h1>
          <p class="muted">${sayContent(now < month.to ? 'reportCoverEarly' : 'reportCover', { scope: scopePart(appId), time: stamp(now) })}</p>
        </header>
        <dl class="facts card">${(reader === 'app' ? appFactsOf(answers) : factsOf(answers)).map(
          ({ id, term, value, note }) =>
            html`<div><dt>${term}</dt><dd class="value" data-fact=${id}>${numberPart(value)}</dd><dd class="small muted">${note}</dd></div>`,
        )}</dl>
        ${parts.map((part) => section(part, reader))}
        ${reader === 'operator' && html`<footer class="small muted"><p>${sayContent('reportAnswered')}</p></footer>`}
      </main>
    </body>
  </html>`);
}

const scopePart = (appId: string | null): Content =>
  appId === null
    ? sayContent('reportEveryApp')
    : html`<span>${sayContent('reportOneApp', { app: html`<bdi><strong>${appId}</strong></bdi>` })}</span>`;

/** `November 2026` */
const monthText = ({ title, from }: Month): string =>
  pageLanguage() === 'en' ? title : capitalized(dateIn({ month: 'long', year: 'numeric' }, from));

const stamp = (at: string): VNode =>
  html`<time datetime=${at}>${pageLanguage() === 'en' ? `${at.slice(0, 10)} ${at.slice(11, 16)}` : momentText(at)}</time>`;

const momentText = (at: string): string =>
  new Intl.DateTimeFormat(pageLocale(), {
    ...({ dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23', timeZone: 'UTC' } as const),
  })
    .format(new Date(at))
    .replaceAll(directionMarks, '');

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
  html`<details class="sql"><summary>${sayContent('reportSql')}</summary>
    <pre tabindex="0"><code>${sql}</code></pre>
    <ol class="small">${parameters.map(
      (value, place) =>
        html`<li><span class="mono">$${place + 1}</span> <code data-parameter=${place + 1}>${value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`}</code></li>`,
    )}</ol>
  </details>`;
