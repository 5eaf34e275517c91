import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEventStore } from '../../../src/store/client.ts';
import { startNode } from '../../../src/store/node/node.ts';
import { CannotWrite, createRoom } from '../../../src/store/node/room.ts';
import { openStorage, type Storage } from '../../../src/store/node/storage.ts';
import type { Trouble } from '../../../src/store/node/trouble.ts';
import { createBell, createWriter } from '../../../src/store/node/writer.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { event } from '../events.ts';

const plenty_bytes = 1024 ** 3;

describe('the room on a disk', () => {
  function disk() {
    const told: (string | null)[] = [];
    const state = { free_bytes: plenty_bytes, now_ms: 0 };
    const room = createRoom({
      directory: '/data/eventstore',
      onChange: (trouble) => told.push(trouble?.message ?? null),
      freeBytes: () => state.free_bytes,
      now: () => state.now_ms,
    });
    return { room, state, told };
  }

  it('is refused before the disk is full, reported once, and reported again as available after a write', () => {
    const { room, state, told } = disk();
    room.mustBeThere();
    state.free_bytes = 1_000_000;
    state.now_ms = 200;
    for (const at_ms of [200, 250, 400]) {
      state.now_ms = at_ms;
      assert.throws(
        () => room.mustBeThere(),
        /cannot write to \/data\/eventstore: the disk is full \(1000000 bytes are free/,
      );
    }
    assert.equal(told.length, 1);
    state.free_bytes = plenty_bytes;
    state.now_ms = 600;
    room.mustBeThere();
    room.written();
    assert.equal(told.at(-1), null);
  });

  it('is tried again after a while when a write failed for a reason that the disk does not state', () => {
    const { room, state, told } = disk();
    const failure = room.failed(new Error('Disk quota exceeded'));
    assert.ok(failure instanceof CannotWrite);
    assert.match(failure.message, /cannot write to \/data\/eventstore: Disk quota exceeded/);
    assert.throws(() => room.mustBeThere(), CannotWrite);
    state.now_ms = 600;
    room.mustBeThere();
    room.written();
    assert.deepEqual(told.length, 2);
  });
});

describe('the room on a disk without writers', () => {
  it('is reported as gone, and as available again', () => {
    const told: boolean[] = [];
    const state = { free_bytes: plenty_bytes, now_ms: 0 };
    const room = createRoom({
      directory: '/data',
      onChange: (trouble) => told.push(trouble === null),
      freeBytes: () => state.free_bytes,
      now: () => state.now_ms,
    });
    room.look();
    state.free_bytes = 0;
    for (const _ of [1, 2]) room.look();
    state.free_bytes = plenty_bytes;
    for (const _ of [1, 2]) room.look();
    assert.deepEqual(told, [false, true]);
    room.failed(new Error('Input/output error'));
    state.now_ms = 29_000;
    room.look();
    assert.deepEqual(told.slice(2), [false]);
    state.now_ms = 31_000;
    room.look();
    assert.deepEqual(told.slice(2), [false, true]);
  });
});

describe('a commit that failed', () => {
  /** Storage whose commit fails; afterwards its end is unchanged, or it is unreadable. */
  async function failing(isReadable: boolean) {
    const real = await openStorage(join(temporaryDirectory(), 'events'));
    let hasFailed = false;
    const storage: Storage = {
      ...real,
      ends() {
        if (hasFailed && !isReadable) throw new Error('MDB_PANIC');
        return real.ends();
      },
      async commit() {
        hasFailed = true;
        throw new Error('Input/output error');
      },
    };
    const told: Trouble[] = [];
    const room = createRoom({ directory: '/data', onChange: () => {}, freeBytes: () => plenty_bytes });
    const writer = createWriter(storage, createBell(), { room, tell: (trouble) => told.push(trouble) });
    const proposal = {
      id: randomUUID(),
      type: 'Happened',
      json: true,
      data: Buffer.from('{}'),
      metadata: Buffer.alloc(0),
    };
    const submitted = writer.submit({ kind: 'append', stream: 'a-1', expected: 'any', events: [proposal] });
    const failure = await submitted.catch((error: Error) => error);
    await real.close();
    return { failure, told: told.map(({ kind }) => kind) };
  }

  it('is answered as not written when the log’s end is unchanged', async () => {
    const { failure, told } = await failing(true);
    assert.ok(failure instanceof CannotWrite);
    assert.match(failure.message, /cannot write to \/data: Input\/output error\. Nothing was written/);
    assert.deepEqual(told, []);
  });

  it('is answered as unknown when the log is unreadable, and the node must be restarted', async () => {
    const { failure, told } = await failing(false);
    assert.ok(failure instanceof Error && !(failure instanceof CannotWrite));
    assert.deepEqual(told, ['broken']);
  });
});

describe('a node whose disk is full', () => {
  it('stays up, reads, refuses appends by name, and writes when there is room', async () => {
    const troubles: Trouble[] = [];
    let free_bytes = plenty_bytes;
    const dataDir = temporaryDirectory();
    const node = await startNode({ dataDir, tell: (trouble) => troubles.push(trouble), freeBytes: () => free_bytes });
    const store = openEventStore({ url: node.url });
    try {
      await store.append('full-1', 'no_stream', [event()]);
      free_bytes = 0;
      await sleep(150);
      await assert.rejects(store.append('full-1', 0n, [event()]), (error) => {
        assert.equal((error as Error).name, 'Unavailable');
        assert.match((error as Error).message, /^nothing was appended: .* the disk is full/);
        return true;
      });
      assert.equal((await store.read('full-1')).length, 1);
      assert.deepEqual(
        troubles.map((trouble) => [trouble.kind, 'directory' in trouble && trouble.directory]),
        [['cannotWrite', dataDir]],
      );
      free_bytes = plenty_bytes;
      await sleep(150);
      assert.equal((await store.append('full-1', 0n, [event()])).revision, 1n);
      assert.equal(troubles.at(-1)?.kind, 'writesAgain');
    } finally {
      await store.close();
      await node.close();
    }
  });
});
