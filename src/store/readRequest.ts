/** Encodes read requests for the wire. */
import { type WireWriter, wireWriter } from './wire.ts';

export interface Wanted {
  /** Null for the whole log. */
  readonly stream: string | null;
  /** First revision of a stream, or position of an event of the log (forwards: inclusive). Default: the end that the direction starts at. */
  readonly from?: bigint | undefined;
  readonly backwards: boolean;
  readonly max: number;
  /** Of the whole log: only events of streams whose names begin with one of these. Default: all events. */
  readonly prefixes?: readonly string[];
}

/** Size of a request without names, upper bound. */
const overhead_bytes = 128;

/** Records that the server looks at in one step of a filtered read. */
const filterWindow = 4_096;

/**
 * A `ReadReq` (event_store.client.streams) that asks for ids as text and no links, with the fields of its last byte first.
 * @see https://github.com/kurrent-io/KurrentDB/blob/master/proto/Grpc/streams.proto
 */
export function readRequest({ stream, from, backwards, max, prefixes }: Wanted): Buffer {
  const names = [stream ?? '', ...(prefixes ?? [])];
  const wire = wireWriter(overhead_bytes + names.reduce((bytes, name) => bytes + name_bytes(name), 0));
  const options = wire.mark();
  const ids = wire.mark();
  empty(wire, 2); // string
  wire.message(9, ids);
  if (prefixes === undefined)
    empty(wire, 8); // no_filter
  else filter(wire, prefixes);
  wire.uint64(5, max);
  if (backwards) wire.uint64(3, 1);
  const where = wire.mark();
  if (stream === null) {
    if (from === undefined) empty(wire, backwards ? 3 : 2);
    else position(wire, from);
    wire.message(2, where);
  } else {
    if (from !== undefined) wire.uint64(2, from);
    else empty(wire, backwards ? 4 : 3);
    const identifier = wire.mark();
    wire.text(3, stream);
    wire.message(1, identifier);
    wire.message(1, where);
  }
  wire.message(1, options);
  return wire.done();
}

/** A name as UTF-8 with its tag and length, upper bound. */
const name_bytes = (name: string): number => 3 * name.length + 8;

function filter(wire: WireWriter, prefixes: readonly string[]): void {
  const filter = wire.mark();
  wire.uint64(5, 1); // checkpointIntervalMultiplier: of subscriptions, but it must not be 0
  wire.uint64(3, filterWindow); // max
  const names = wire.mark();
  for (const prefix of prefixes.toReversed()) wire.text(2, prefix);
  wire.message(1, names); // stream_identifier
  wire.message(7, filter);
}

function position(wire: WireWriter, at: bigint): void {
  const mark = wire.mark();
  wire.uint64(2, at); // prepare_position
  wire.uint64(1, at); // commit_position
  wire.message(1, mark);
}

const empty = (wire: WireWriter, field: number): void => wire.message(field, wire.mark());
