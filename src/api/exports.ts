/** Exports of payments. An export runs as fast as its reader, so few run concurrently. */
import type { CsvFilter } from '../../queries/paymentsCsv.ts';
import { unavailable } from './errors.ts';
import { rateLimited } from './rateLimits.ts';
import type { Streamed } from './router.ts';

/** @param over aborts when the answer ends in any way, which releases the export's slot. @throws ApiError, Unavailable */
export type ExportPayments = (filter: CsvFilter, over: AbortSignal) => Promise<Streamed>;

export interface ExportLimits {
  readonly perApp: number;
  readonly perInstance: number;
}

export const defaultExportLimits: ExportLimits = { perApp: 2, perInstance: 20 };

const fullRetry_s = 10;

/** Limits concurrent exports of an app and of the instance. `over` releases the slot. @throws ApiError */
export function createExportSlots(
  limits: ExportLimits = defaultExportLimits,
): (appId: string, over: AbortSignal) => void {
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
export async function begun(pieces: AsyncIterable<string>): Promise<AsyncIterable<string>> {
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
