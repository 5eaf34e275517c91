/** Reports: the month with its plots, and files for accounting. */
import { readFile } from 'node:fs/promises';
import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import { Unavailable } from '../../commands/ports.ts';
import type { Instant } from '../../domain/time.ts';
import { accountingForms } from '../../queries/accounting.ts';
import { type Month, monthNamed } from '../../queries/monthlyReport.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { AppReports } from '../../src/api/reports.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { card, notice } from '../parts/boxes.ts';
import { emptyForm, selectField, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { reportPage } from '../report/page.ts';
import { fields } from './forms.ts';
import { type AnyPage, type Frames, page } from './page.ts';
import { htmlType } from './router.ts';

export interface ReportsModel extends Frame {
  /** `2026-11`: the last month that is over. */
  readonly month: string;
  /** Empty without rates; null if they cannot be read now. */
  readonly currencies: readonly string[] | null;
}

const formats = () => [
  { value: 'full', label: sayText('formatFull') },
  { value: 'quickbooks', label: sayText('formatQuickBooks') },
  { value: 'xero', label: sayText('formatXero') },
  { value: 'datev', label: sayText('formatDatev') },
  { value: 'parquet', label: 'Parquet' },
];

export function reportsPage(model: ReportsModel): VNode {
  const { app, month, currencies } = model;
  const to = appPaths(app.appId);
  const form = { ...emptyForm, values: { month } };
  const monthField = () =>
    textField({
      form,
      name: 'month',
      label: sayText('month'),
      hint: sayContent('monthHint'),
      pattern: '20[0-9]{2}-(0[1-9]|1[0-2])',
      maxlength: 7,
      mono: true,
    });
  return appPage(
    model,
    { title: sayText('reports'), section: 'reports' },
    html`<div class="stack narrow">
      ${card(
        { title: sayText('monthlyReport'), note: sayContent('monthlyReportNote') },
        html`<form class="inside" method="get" action=${to.monthlyReport}>${monthField()}${submit(sayContent('openReport'))}</form>`,
      )}
      ${card(
        { title: sayText('accounting'), note: sayContent('accountingNote') },
        html`<form class="inside" method="get" action=${to.accounting}>
          ${monthField()}
          ${selectField({ form, name: 'form', label: sayText('format'), options: formats() })}
          ${
            currencies !== null &&
            currencies.length > 0 &&
            selectField({
              form,
              name: 'currency',
              label: sayText('secondCurrency'),
              options: [
                { value: 'none', label: sayText('dollarsOnly') },
                ...currencies.map((each) => ({ value: each, label: each })),
              ],
            })
          }
          ${currencies === null && notice('wait', html`<p>${sayContent('ratesMissing')}</p>`)}
          <p class="small muted">${sayContent('tokenIsDollar')}</p>
          ${submit(sayContent('download'))}
        </form>`,
      )}
    </div>`,
  );
}

/** Needs of the pages of reports. */
export interface ReportPagesDeps {
  readonly reports: AppReports;
  readonly clock: Pick<Clock, 'now'>;
}

const path = '/dashboard/apps/{appId}/reports';
const month = Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$', description: 'a month such as 2026-11' });

/** The report has its styles inside, and nothing else. */
const reportPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function reportPages({ reports, clock }: ReportPagesDeps, frames: Frames): readonly AnyPage[] {
  return [
    page({
      path,
      audience: 'owner',
      async show(visit) {
        const currencies = await reports.currencies().catch((error: unknown) => {
          if (error instanceof Unavailable) return null;
          throw error;
        });
        return { page: reportsPage({ ...(await frames.ofApp(visit)), month: lastMonth(clock.now()), currencies }) };
      },
    }),
    page({
      path: `${path}/month`,
      audience: 'owner',
      query: fields({ month }),
      stays: true,
      async show({ visitor: { appId }, query, gone }) {
        const { about, answers } = await reports.month(appId, named(query.month), gone);
        const body = reportPage(about, answers, await stylesheet(), 'app');
        return { status: 200, body, type: htmlType, headers: { 'Content-Security-Policy': reportPolicy } };
      },
    }),
    page({
      path: `${path}/accounting`,
      audience: 'owner',
      query: fields({
        month,
        form: oneOf([...accountingForms, 'parquet'] as const),
        currency: Type.Optional(Type.String({ pattern: '^([A-Z]{3}|none)$', description: 'a currency such as EUR' })),
      }),
      stays: true,
      show: ({ visitor: { appId }, query: { form, currency = 'none', ...asked }, gone }) =>
        reports.accounting(
          { appId, month: named(asked.month), form, currency: currency === 'none' ? null : currency },
          gone,
        ),
    }),
  ];
}

function named(text: string): Month {
  const found = monthNamed(text);
  if (!found) throw new ApiError('invalidRequest', 'This must be a month, such as 2026-11.');
  return found;
}

const lastMonth = (now: Instant): string => {
  const at = new Date(now);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1)).toISOString().slice(0, 7);
};

let styles: Promise<string> | null = null;
/** Styles of the report, read once. */
function stylesheet(): Promise<string> {
  const files = [new URL('../look.css', import.meta.url), new URL('../report/report.css', import.meta.url)];
  styles ??= Promise.all(files.map((file) => readFile(file, 'utf8'))).then((texts) => texts.join('\n'));
  return styles;
}
