import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { handlerThrew, invalidArgument } from './problems.ts';
import type { Filter } from './reader.ts';
import { type Peekable, peekRecord } from './record.ts';

export interface LogFilter {
  readonly matches: Filter;
  /** A subscriber is told its position whenever so many records were looked at. */
  readonly checkpointInterval: number;
}

const defaultWindow = 32;

/** A non-empty regular expression wins over the prefixes; no prefix at all matches nothing. */
export function logFilter(options: streams.ReadReq.Options.FilterOptions): LogFilter {
  const expression = options.getStreamIdentifier() ?? options.getEventType();
  if (!expression) throw invalidArgument('The filter is missing.');
  if (!options.hasMax() && !options.hasCount()) throw invalidArgument("The filter's window is missing.");
  const window = options.hasMax() ? options.getMax() : defaultWindow;
  const subject = options.hasStreamIdentifier() ? 'stream' : 'type';
  return {
    matches: matcher(subject, expression.getRegex(), expression.getPrefixList()),
    checkpointInterval: Math.max(1, window) * options.getCheckpointintervalmultiplier(),
  };
}

function matcher(subject: Peekable, regex: string, prefixes: readonly string[]): Filter {
  if (regex === '') {
    return (record) => {
      const text = peekRecord(record, subject);
      return prefixes.some((prefix) => text.startsWith(prefix));
    };
  }
  try {
    const pattern = new RegExp(regex);
    return (record) => pattern.test(peekRecord(record, subject));
  } catch {
    throw handlerThrew();
  }
}
