/** Appends as they go over the wire. */
import type { SealedEvent } from '../../commands/ports.ts';
import { type WireWriter, wireWriter } from './wire.ts';

export interface Append {
  readonly stream: string;
  readonly expected: bigint | 'no_stream';
  readonly events: readonly SealedEvent[];
}

/** Ids, tags, lengths and numbers take less than this, per request and per event. */
const overhead_bytes = 256;

/**
 * One whole append as a `BatchAppendReq` (event_store.client.streams), with the fields of its last byte first.
 * @param correlationId a UUID, under which the answer comes
 * @param deadline_s seconds since 1970; the server drops an append that it has not begun by then
 */
export function appendRequest(correlationId: string, { stream, expected, events }: Append, deadline_s: number): Buffer {
  const written = events.map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  }));
  const wire = wireWriter(written.reduce((sum, event) => sum + sizeOf(event), overhead_bytes + 3 * stream.length));
  wire.uint64(4, 1); // is_final
  for (const event of written.reverse()) proposed(wire, event);
  const options = wire.mark();
  const deadline = wire.mark();
  wire.uint64(1, deadline_s);
  wire.message(6, deadline);
  if (expected === 'no_stream') wire.message(3, wire.mark());
  else wire.uint64(2, expected);
  const identifier = wire.mark();
  wire.text(3, stream);
  wire.message(1, identifier);
  wire.message(2, options);
  uuid(wire, correlationId);
  return wire.done();
}

interface Written {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

const sizeOf = ({ type, data, metadata }: Written): number =>
  overhead_bytes + 3 * type.length + Buffer.byteLength(data) + Buffer.byteLength(metadata);

function proposed(wire: WireWriter, event: Written): void {
  const message = wire.mark();
  wire.text(4, event.data);
  wire.text(3, event.metadata);
  property(wire, 'content-type', 'application/json');
  property(wire, 'type', event.type);
  uuid(wire, event.id);
  wire.message(3, message);
}

function property(wire: WireWriter, key: string, value: string): void {
  const entry = wire.mark();
  wire.text(2, value);
  wire.text(1, key);
  wire.message(2, entry);
}

function uuid(wire: WireWriter, text: string): void {
  const message = wire.mark();
  wire.text(2, text);
  wire.message(1, message);
}
