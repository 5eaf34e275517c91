import { randomUUID } from 'node:crypto';
import { type Expected, judgeAppend, type StreamView } from './appendRules.ts';
import { type Batch, hasMetadata, isTombstoned, type Proposal } from './batch.ts';
import {
  firstVisible,
  int64Max,
  isMetastream,
  metastreamOf,
  ownerOf,
  softDelete,
  withTruncateBefore,
} from './metadata.ts';
import type { RecentIds } from './recentIds.ts';

/** What a client may ask to be done to a stream. */
export interface Change {
  readonly kind: 'append' | 'delete' | 'tombstone';
  readonly stream: string;
  readonly expected: Expected;
  /** Empty but for an append. */
  readonly events: readonly Proposal[];
}

export type Outcome =
  /** `revision` is the stream's last one, -1 for none; `position` null when that event is no longer there. */
  | { readonly kind: 'done'; readonly revision: number; readonly position: number | null }
  | { readonly kind: 'wrongVersion'; readonly current: number }
  | { readonly kind: 'deleted' };

const noBytes = new Uint8Array();
const systemEvent = (type: string, data: Uint8Array, json: boolean): Proposal => ({
  id: randomUUID(),
  type,
  json,
  data,
  metadata: noBytes,
});
const metadataEvent = (data: Uint8Array): Proposal => systemEvent('$metadata', data, true);

/** Decides one change against the batch so far and adds what it writes. */
export function applyChange(batch: Batch, recent: RecentIds, change: Change): Outcome {
  const { kind, stream, expected, events } = change;
  const view = viewOf(batch, recent, stream);
  // A deletion gets a new id, so it never counts as a repetition of an earlier one.
  const ids = kind === 'append' ? events.map((event) => event.id) : [randomUUID()];
  const verdict = judgeAppend(view, expected, ids);

  if (verdict.kind === 'deleted') return { kind: 'deleted' };
  if (verdict.kind === 'wrongVersion') return { kind: 'wrongVersion', current: view.last };
  if (verdict.kind === 'repeated') {
    return { kind: 'done', revision: verdict.last, position: readablePosition(batch, stream, verdict.last) };
  }
  if (kind === 'delete') {
    if (view.last < 0 && !view.hasMetadata) return { kind: 'wrongVersion', current: -1 };
    return { kind: 'done', ...batch.add(metastreamOf(stream), [metadataEvent(softDelete)]) };
  }
  if (kind === 'tombstone') {
    const position = batch.addTombstone(stream, systemEvent('$streamDeleted', noBytes, false), int64Max);
    return { kind: 'done', revision: view.last, position };
  }
  if (events.length === 0) return { kind: 'done', revision: view.last, position: batch.lastPosition() };
  return { kind: 'done', ...append(batch, stream, view, events) };
}

/** Position of an event that was appended earlier; null when the stream's metadata hides the event from its readers. */
function readablePosition(batch: Batch, stream: string, revision: number): number | null {
  const { last = -1, metadata = {} } = batch.head(stream) ?? {};
  return revision < firstVisible(stream, last, metadata) ? null : batch.positionAt(stream, revision);
}

/** Appends, and brings a soft-deleted stream back: its earlier events stay hidden, its revisions count on. */
function append(batch: Batch, stream: string, view: StreamView, events: readonly Proposal[]) {
  const owner = isMetastream(stream) ? batch.head(ownerOf(stream)) : undefined;
  const placed = batch.add(stream, events);
  if (view.softDeleted) {
    const metadata = withTruncateBefore(batch.lastData(metastreamOf(stream)), view.last + 1);
    batch.add(metastreamOf(stream), [metadataEvent(metadata)]);
  }
  if (owner?.metadata?.softDeleted) {
    batch.add(stream, [metadataEvent(withTruncateBefore(batch.lastData(stream), owner.last + 1))]);
  }
  return placed;
}

function viewOf(batch: Batch, recent: RecentIds, stream: string): StreamView {
  const head = batch.head(stream);
  return {
    last: head?.last ?? -1,
    tombstoned: isTombstoned(batch, stream),
    softDeleted: !isMetastream(stream) && head?.metadata?.softDeleted === true,
    get hasMetadata() {
      return hasMetadata(batch, stream);
    },
    idAt: (revision) => batch.idAt(stream, revision),
    recent: (id) => recent.find(id, stream),
  };
}
