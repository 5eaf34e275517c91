/** Readings as they are asked for over the wire. */
import { type WireWriter, wireWriter } from './wire.ts';

export interface Wanted {
  /** Null for the whole log. */
  readonly stream: string | null;
  /** Of a stream, the revision it begins with; left out, its first or, backwards, its last. The whole log is read from its ends alone. */
  readonly from?: bigint | undefined;
  readonly backwards: boolean;
  readonly max: number;
}

/** All but the stream's name takes less than this. */
const overhead_bytes = 64;

/**
 * A `ReadReq` (event_store.client.streams) that asks for ids as text and no links, with the fields of its last byte first.
 * @see https://github.com/kurrent-io/KurrentDB/blob/master/proto/Grpc/streams.proto
 */
export function readRequest({ stream, from, backwards, max }: Wanted): Buffer {
  const wire = wireWriter(overhead_bytes + 3 * (stream?.length ?? 0));
  const options = wire.mark();
  const ids = wire.mark();
  empty(wire, 2); // string
  wire.message(9, ids);
  empty(wire, 8); // no_filter
  wire.uint64(5, max);
  if (backwards) wire.uint64(3, 1);
  const where = wire.mark();
  if (stream === null) {
    empty(wire, backwards ? 3 : 2);
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

const empty = (wire: WireWriter, field: number): void => wire.message(field, wire.mark());
