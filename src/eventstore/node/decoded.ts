/** Records taken apart by the generated messages: for the few readers that need more than the bytes. */
import streams from '@eventstore/db-client/generated/streams_pb.js';

export type RecordedEvent = streams.ReadResp.ReadEvent.RecordedEvent;

export function decodeRecord(record: Buffer): RecordedEvent {
  const event = streams.ReadResp.deserializeBinary(record).getEvent()?.getEvent();
  if (!event) throw new Error('the log holds a record that is not an event: the data is damaged');
  return event;
}

export const isJson = (event: RecordedEvent): boolean =>
  event.getMetadataMap().get('content-type') === 'application/json';

/** Milliseconds since 1970. */
export const createdMs = (event: RecordedEvent): number => Number(event.getMetadataMap().get('created')) / 10_000;
