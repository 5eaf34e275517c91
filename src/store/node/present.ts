import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { decodeRecord, peekRecord, type RecordedEvent } from './log.ts';
import { structuredUuid, uuidText } from './messages.ts';
import { firstVisible } from './metadata.ts';
import type { ReplyStream } from './outflow.ts';
import { type RecordFilter, streamState } from './reader.ts';
import { bytesOf } from './replies.ts';
import type { Storage } from './storage.ts';
import type { Bell } from './writer.ts';

/** Converts a record, which is a reply already, into the form that its reader requested. */
export type Present = (record: Buffer) => Buffer;

const linkType = '$>';

/** Records are sent unchanged, unless links must be followed or ids structured. */
export function presenter(
  storage: Storage,
  { resolveLinks, structuredIds }: { resolveLinks: boolean; structuredIds: boolean },
): Present {
  if (!resolveLinks && !structuredIds) return (record) => record;
  return (record) => {
    const isLink = resolveLinks && peekRecord(record, 'type') === linkType;
    if (!isLink && !structuredIds) return record;
    const original = decodeRecord(record);
    const target = isLink ? linkTarget(storage, original) : 'malformed';
    const event = new streams.ReadResp.ReadEvent().setCommitPosition(original.getCommitPosition());
    if (target === 'malformed') event.setEvent(original);
    else {
      event.setLink(original);
      if (target) event.setEvent(target);
    }
    if (structuredIds) for (const each of [event.getEvent(), event.getLink()]) structureId(each);
    return bytesOf(new streams.ReadResp().setEvent(event));
  };
}

/** A link's data is `<revision>@<stream>`; null if that event cannot be read any more. */
function linkTarget(storage: Storage, link: RecordedEvent): RecordedEvent | null | 'malformed' {
  const text = Buffer.from(link.getData_asU8()).toString('utf8');
  const at = text.indexOf('@');
  const revision = Number(text.slice(0, at));
  if (at < 1 || !Number.isSafeInteger(revision)) return 'malformed';
  const stream = text.slice(at + 1);
  const head = storage.head(stream);
  if (!head || streamState(storage, stream) !== 'there') return null;
  if (revision < firstVisible(stream, head.last, head.metadata ?? {}) || revision > head.last) return null;
  return decodeRecord(storage.recordAt(head.id, revision));
}

function structureId(event: RecordedEvent | undefined): void {
  const id = event?.getId();
  if (event && id instanceof shared.UUID) event.setId(structuredUuid(uuidText(id)));
}

/** Context of one reading call. */
export interface ReadingCall {
  readonly storage: Storage;
  /** Signals that the log has grown. */
  readonly grown: Bell;
  readonly out: ReplyStream;
  readonly present: Present;
  /** Null to read everything. */
  readonly filter: RecordFilter | null;
}
