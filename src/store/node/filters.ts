import type { Expressions } from './expressions.ts';
import type { LogFilter } from './readRequest.ts';
import { peekRecord } from './record.ts';

/** Sorts out what one reader of the log does not want to see. */
export interface Filter {
  /** Which of a page's records pass. */
  passing(records: readonly Buffer[]): Promise<readonly boolean[]> | readonly boolean[];
  end(): unknown;
}

/** A non-empty regular expression wins over the prefixes; no prefix at all matches nothing. */
export function createFilter({ subject, expression, prefixes }: LogFilter, expressions: Expressions): Filter {
  const textsOf = (records: readonly Buffer[]): string[] => records.map((record) => peekRecord(record, subject));
  if (expression === '') {
    const hasPrefix = (text: string): boolean => prefixes.some((prefix) => text.startsWith(prefix));
    return { passing: (records) => textsOf(records).map(hasPrefix), end: () => {} };
  }
  const running = expressions(expression);
  return {
    passing: (records) => (records.length === 0 ? [] : running.matches(textsOf(records))),
    end: running.end,
  };
}
