import streams from '@eventstore/db-client/generated/streams_pb.js';
import { prefixesMost } from './bounds.ts';
import { streamName } from './messages.ts';
import { handlerThrew, invalidArgument } from './problems.ts';

const { ReadDirection } = streams.ReadReq.Options;
const uint64Max = 0xffff_ffff_ffff_ffffn;

export interface ReadRequest {
  /** Null for the whole log. */
  readonly stream: string | null;
  /** A revision, or for the whole log a position. */
  readonly from: number | 'start' | 'end';
  readonly backwards: boolean;
  readonly subscribe: boolean;
  readonly max: number;
  readonly filter: LogFilter | null;
  readonly resolveLinks: boolean;
  readonly structuredIds: boolean;
}

export function readRequest(request: streams.ReadReq): ReadRequest {
  const options = request.getOptions();
  if (!options) throw handlerThrew();
  const [stream, all, filter] = [options.getStream(), options.getAll(), options.getFilter()];
  const backwards = options.getReadDirection() === ReadDirection.BACKWARDS;
  const subscribe = options.hasSubscription();
  if (!options.getUuidOption()) throw invalidArgument('The uuid option is missing.');
  if (!stream === !all || (stream && filter) || (subscribe && backwards) || (!subscribe && !options.hasCount())) {
    throw invalidArgument('The combination of stream, direction, count and filter options is invalid.');
  }
  if (filter && subscribe && filter.getCheckpointintervalmultiplier() === 0) throw handlerThrew();
  return {
    stream: stream ? streamName(stream.getStreamIdentifier()) : null,
    from: stream ? startOfStream(stream) : startOfLog(all as streams.ReadReq.Options.AllOptions),
    backwards,
    subscribe,
    max: Number(options.getCount()),
    filter: filter ? logFilter(filter) : null,
    resolveLinks: options.getResolveLinks(),
    structuredIds: options.getUuidOption()?.hasStructured() === true,
  };
}

/** Numbers beyond 2^53 only ever compare as "past the end": rounding them does no harm. */
const numberOrEnd = (text: string): number | 'end' => (BigInt(text) === uint64Max ? 'end' : Number(text));

function startOfStream(options: streams.ReadReq.Options.StreamOptions): ReadRequest['from'] {
  if (options.hasRevision()) return numberOrEnd(options.getRevision());
  return options.hasEnd() ? 'end' : 'start';
}

function startOfLog(options: streams.ReadReq.Options.AllOptions): ReadRequest['from'] {
  const position = options.getPosition();
  if (!position) return options.hasEnd() ? 'end' : 'start';
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())];
  if (commit < prepare) throw handlerThrew();
  return numberOrEnd(commit.toString());
}

/** What of the log a reader wants to see. */
export interface LogFilter {
  readonly subject: 'stream' | 'type';
  /** Empty for none; else it wins over the prefixes. */
  readonly expression: string;
  readonly prefixes: readonly string[];
  /** A subscriber is told its position whenever so many records were looked at. */
  readonly checkpointInterval: number;
}

const defaultWindow = 32;

export function logFilter(options: streams.ReadReq.Options.FilterOptions): LogFilter {
  const wanted = options.getStreamIdentifier() ?? options.getEventType();
  if (!wanted) throw invalidArgument('The filter is missing.');
  if (!options.hasMax() && !options.hasCount()) throw invalidArgument("The filter's window is missing.");
  const prefixes = wanted.getPrefixList();
  if (prefixes.length > prefixesMost) throw invalidArgument(`A filter has at most ${prefixesMost} prefixes.`);
  const window = options.hasMax() ? options.getMax() : defaultWindow;
  return {
    subject: options.hasStreamIdentifier() ? 'stream' : 'type',
    expression: wanted.getRegex(),
    prefixes,
    checkpointInterval: Math.max(1, window) * options.getCheckpointintervalmultiplier(),
  };
}
