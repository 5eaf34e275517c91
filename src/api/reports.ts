/** Reports of one app for its people: the month as a page, and accounting files. Few run at a time. */
import type { Clock } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';
import { type AccountingForm, accountingCsv, accountingLines } from '../../queries/accounting.ts';
import { type About, type Answers, askForApp, type Month } from '../../queries/monthlyReport.ts';
import { accountingParquet, parquetLinesMax } from './accountingParquet.ts';
import { ApiError } from './errors.ts';
import { begun, createExportSlots } from './exports.ts';
import type { GetFiatRates } from './fiatRates.ts';
import type { Answer } from './router.ts';
import type { Streamed } from './stream.ts';

export interface AskedAccounting {
  readonly appId: string;
  readonly month: Month;
  readonly form: AccountingForm | 'parquet';
  /** Null for dollars alone. */
  readonly currency: string | null;
}

/** @param over aborts when the answer ends in any way, which releases its slot */
export interface AppReports {
  /** @throws ApiError, Unavailable */
  month(appId: string, month: Month, over: AbortSignal): Promise<{ readonly about: About; readonly answers: Answers }>;
  /** @throws ApiError, Unavailable */
  accounting(asked: AskedAccounting, over: AbortSignal): Promise<Streamed | Answer>;
  /** Currencies of the operator's rates; empty without rates. @throws Unavailable */
  currencies(): Promise<readonly string[]>;
}

export interface AppReportsDeps {
  /** With the timeouts of requests. */
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly fiatRates: GetFiatRates;
}

export function createAppReports({ sql, clock, fiatRates }: AppReportsDeps): AppReports {
  const take = createExportSlots();

  return {
    async month(appId, month, over) {
      take(appId, over);
      const about = { month, appId, prices: {}, now: clock.now() };
      return { about, answers: await askForApp(sql, about) };
    },

    async accounting({ appId, month, form, currency }, over) {
      const rates = currency === null ? null : await fiatRates();
      if (currency !== null && !rates?.currencies.includes(currency))
        throw new ApiError('invalidRequest', 'The operator has no rates of this currency: choose another.');
      take(appId, over);
      const lines = accountingLines(sql, { appId, from: month.from, to: month.to });
      const name = `accounting-${appId}-${month.name}${form === 'full' || form === 'parquet' ? '' : `-${form}`}`;
      if (form !== 'parquet') {
        const fiat = currency !== null && rates ? { currency, rates } : null;
        const headers = { 'Content-Disposition': `attachment; filename="${name}.csv"` };
        const type = 'text/csv; charset=utf-8; header=present';
        return { pieces: await begun(accountingCsv(lines, { form, fiat })), type, headers };
      }
      const body = await accountingParquet(lines);
      if (body === null)
        throw new ApiError('invalidRequest', `The month has more than ${parquetLinesMax} lines: use CSV.`);
      const headers = { 'Content-Disposition': `attachment; filename="${name}.parquet"` };
      return { status: 200, body, type: 'application/vnd.apache.parquet', headers };
    },

    currencies: async () => (await fiatRates())?.currencies ?? [],
  };
}
