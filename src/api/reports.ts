/** Reports of one app for its people: the month as a page, and accounting files. Few run at a time. */
import { readFile, stat } from 'node:fs/promises';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import { epochMs } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import {
  type AccountingForm,
  type AccountingLine,
  accountingCsv,
  accountingLines,
  type FiatRates,
  fiatLimits,
  readFiatRates,
} from '../../queries/accounting.ts';
import { type About, type Answers, askForApp, type Month } from '../../queries/monthlyReport.ts';
import type { CsvFilter } from '../../queries/paymentsCsv.ts';
import { ApiError, unavailable } from './errors.ts';
import { type Kind, parquetTypes, parquetValue } from './parquetTypes.ts';
import { rateLimited } from './rateLimits.ts';
import type { Answer, Streamed } from './router.ts';

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

// Accounting lines as Parquet, for spreadsheets and warehouses that read it.

/** A file of this size is built in memory. */
const parquetLinesMax = 50_000;

const columns: readonly (readonly [name: string, kind: Kind, of: (line: AccountingLine) => string | null])[] = [
  ['at', 'time', ({ at }) => at],
  ['kind', 'text', ({ kind }) => kind],
  ['payment_id', 'text', ({ paymentId }) => paymentId],
  ['refund_of', 'text', ({ refundOf }) => refundOf],
  ['order_id', 'text', ({ orderId }) => orderId],
  ['title', 'text', ({ title }) => title],
  ['token', 'text', ({ tokenSymbol }) => tokenSymbol],
  ['chain', 'text', ({ chain }) => chain],
  ['gross_usd', 'decimal', ({ gross }) => gross],
  ['fee_usd', 'decimal', ({ fee }) => fee],
  ['net_usd', 'decimal', ({ net }) => net],
  ['refund_usd', 'decimal', ({ refund }) => refund],
  ['tx_hash', 'text', ({ txHash }) => txHash],
];

/** @returns null if there are more lines than one file may have */
export async function accountingParquet(pages: AsyncIterable<readonly AccountingLine[]>): Promise<Uint8Array | null> {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(([name, kind]) => ({ name, repetition_type: 'OPTIONAL' as const, ...parquetTypes[kind] })),
    ],
    createdBy: 'payment-intents',
  });
  let lines = 0;
  for await (const page of pages) {
    if (page.length === 0) continue;
    lines += page.length;
    if (lines > parquetLinesMax) return null;
    const columnData = columns.map(([name, kind, of]) => ({
      name,
      data: page.map((line) => parquetValue(kind, of(line))),
    }));
    await writer.write({ columnData, rowGroupSize: page.length });
  }
  await writer.finish();
  return bytes.getBytes();
}

// Reads the operator's rates of currencies from a file or URL: at most once per hour, and only when an accounting
// file needs them.

/** Null if the operator has configured none. @throws Unavailable */
type GetFiatRates = () => Promise<FiatRates | null>;

const fresh_ms = 3_600_000;
/** Minimum interval between two reads of a source that failed. */
const again_ms = 30_000;
const answer_ms = 10_000;

export function createFiatRates(
  source: string | null,
  clock: Pick<Clock, 'now'>,
  get: typeof fetch = fetch,
): GetFiatRates {
  let known: { readonly rates: FiatRates; readonly at_ms: number } | null = null;
  let failed: { readonly error: Unavailable; readonly at_ms: number } | null = null;
  let reading: Promise<FiatRates> | null = null;

  async function read(from: string): Promise<FiatRates> {
    const now_ms = epochMs(clock.now());
    try {
      const rates = readFiatRates(await (from.startsWith('https:') ? download(from, get) : load(from)));
      known = { rates, at_ms: now_ms };
      failed = null;
      return rates;
    } catch (error) {
      failed = {
        error: new Unavailable('the rates of currencies cannot be read', again_ms / 1_000, { cause: error }),
        at_ms: now_ms,
      };
      // Yesterday's rates are better than none: each day's rate stays what it was.
      if (known) return known.rates;
      throw failed.error;
    }
  }

  return async () => {
    if (source === null) return null;
    const now_ms = epochMs(clock.now());
    if (known && now_ms - known.at_ms < fresh_ms) return known.rates;
    if (failed && now_ms - failed.at_ms < again_ms) {
      if (known) return known.rates;
      throw failed.error;
    }
    reading ??= read(source).finally(() => {
      reading = null;
    });
    return reading;
  };
}

async function load(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > fiatLimits.bytes) throw new RangeError(`the file has more than ${fiatLimits.bytes} bytes`);
  return readFile(path, 'utf8');
}

async function download(url: string, get: typeof fetch): Promise<string> {
  const answer = await get(url, { signal: AbortSignal.timeout(answer_ms), redirect: 'error' });
  if (!answer.ok || !answer.body) throw new Error(`the source answered ${answer.status}`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body) {
    bytes += piece.byteLength;
    if (bytes > fiatLimits.bytes) throw new RangeError(`the answer has more than ${fiatLimits.bytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

// Exports of payments. An export runs as fast as its reader, so few run concurrently.

/** @param over aborts when the answer ends in any way, which releases the export's slot. @throws ApiError, Unavailable */
export type ExportPayments = (filter: CsvFilter, over: AbortSignal) => Promise<Streamed>;

export interface ExportLimits {
  readonly perApp: number;
  readonly perInstance: number;
}

export const defaultExportLimits: ExportLimits = { perApp: 2, perInstance: 20 };

const fullRetry_s = 10;

/** Limits concurrent exports of an app and of the instance. `over` releases the slot. @throws ApiError */
function createExportSlots(limits: ExportLimits = defaultExportLimits): (appId: string, over: AbortSignal) => void {
  const running: string[] = [];
  return (appId, over) => {
    if (running.filter((other) => other === appId).length >= limits.perApp)
      throw rateLimited('too many exports of this app are running', fullRetry_s);
    if (running.length >= limits.perInstance) throw unavailable('too many exports are running: try again', fullRetry_s);
    running.push(appId);
    const leave = () => void running.splice(running.indexOf(appId), 1);
    if (over.aborted) leave();
    else over.addEventListener('abort', leave, { once: true });
  };
}

export function limitExports(
  lines: (filter: CsvFilter) => AsyncIterable<string>,
  limits: ExportLimits = defaultExportLimits,
): ExportPayments {
  const take = createExportSlots(limits);
  return async (filter, over) => {
    const { appId } = filter;
    take(appId, over);
    return {
      pieces: await begun(lines(filter)),
      type: 'text/csv; charset=utf-8; header=present',
      headers: { 'Content-Disposition': `attachment; filename="payments-${appId}.csv"` },
    };
  };
}

/** Reads the first piece, so an immediate failure can still become an error answer. */
async function begun(pieces: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const source = pieces[Symbol.asyncIterator]();
  const first = await source.next();
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  })();
}
