/**
 * Epochs: the real server appends an event to the stream `$epoch-information` at each start and after each election. A read of that
 * stream returns the events. Reads of the whole log and subscriptions to it never do, although the records have positions there.
 */
import { randomUUID } from 'node:crypto';
import type { Change } from './changes.ts';
import { peekRecord } from './record.ts';
import type { Storage } from './storage.ts';
import type { Writer } from './writer.ts';

const epochStream = '$epoch-information';

/** True for a record that no reader of the whole log gets. Such a record counts for checkpoints and is a position to continue from. */
export const isHidden = (record: Buffer): boolean => peekRecord(record, 'stream') === epochStream;

/**
 * Appends the epoch of one start. Resolves when it is on disk.
 * @throws CannotWrite, Damaged: nothing was written
 */
export async function writeEpoch(storage: Storage, writer: Writer): Promise<void> {
  await writer.submit(epochChange(storage));
}

function epochChange(storage: Storage): Change {
  const head = storage.head(epochStream);
  const last = head?.last ?? -1;
  const epoch = {
    epochPosition: storage.ends().position,
    epochNumber: last + 1,
    epochId: randomUUID(),
    prevEpochPosition: (head && storage.positionAt(head.id, last)) ?? -1,
    timeStamp: new Date().toISOString(),
    leaderInstanceId: randomUUID(),
  };
  return {
    kind: 'append',
    stream: epochStream,
    expected: 'any',
    events: [
      {
        id: randomUUID(),
        type: epochStream,
        json: true,
        data: Buffer.from(JSON.stringify(epoch)),
        metadata: new Uint8Array(),
      },
    ],
  };
}
