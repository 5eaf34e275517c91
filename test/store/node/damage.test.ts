import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openEventStore } from '../../../src/store/client.ts';
import { bareRecord, encodeRecord } from '../../../src/store/node/log.ts';
import { startNode } from '../../../src/store/node/node.ts';
import { spawnEmbeddedNode } from '../../../src/store/node/spawn.ts';
import type { Trouble } from '../../../src/store/node/trouble.ts';
import { patience_ms } from '../../support/patience.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { event, events, idsOf } from '../events.ts';

const wayBack = /restore the last backup in its place; before payouts continue, read docs\/operate\/backup\.md$/;
const fileOf = (dataDir: string): string => join(dataDir, 'events', 'data.mdb');

async function withNode<T>(
  dataDir: string,
  use: (store: ReturnType<typeof openEventStore>, troubles: readonly Trouble[]) => Promise<T>,
): Promise<T> {
  const troubles: Trouble[] = [];
  const node = await startNode({ dataDir, tell: (trouble) => troubles.push(trouble) });
  const store = openEventStore({ url: node.url, append_ms: 2_000 });
  try {
    return await use(store, troubles);
  } finally {
    await store.close();
    await node.close();
  }
}

async function usedDirectory(): Promise<string> {
  const dataDir = temporaryDirectory();
  await withNode(dataDir, async (store) => {
    for (let n = 0; n < 40; n++) await store.append(`used-${n}`, 'no_stream', events(3));
  });
  return dataDir;
}

/** Changes each occurrence of the text in the file; older pages may contain it too. */
function flip(file: string, text: string): number {
  const bytes = readFileSync(file);
  const handle = openSync(file, 'r+');
  let count = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    writeSync(handle, Buffer.from([bytes[at]! ^ 1]), 0, 1, at);
    count++;
  }
  closeSync(handle);
  return count;
}

describe('a damaged data directory', () => {
  const size = (file: string): number => statSync(file).size;
  const damages: readonly [what: string, cause: RegExp, damage: (file: string) => void][] = [
    ['a missing file', /data\.mdb is missing, and there was a log in it/, (file) => rmSync(file)],
    ['an emptied file', /data\.mdb is empty, and there was a log in it/, (file) => truncateSync(file)],
    ['a truncated file', /data\.mdb has \d+ bytes of at least \d+/, (file) => truncateSync(file, size(file) - 4096)],
    ['half a file', /data\.mdb has \d+ bytes of at least \d+/, (file) => truncateSync(file, size(file) / 2)],
    ['a few bytes', /does not begin as a data file does/, (file) => truncateSync(file, 100)],
    ['a zeroed file', /does not begin as a data file does/, (file) => writeFileSync(file, Buffer.alloc(size(file)))],
    [
      'zeroed pages',
      /cannot be read|not as it was written|should end at/,
      (file) => {
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.fill(0, 8192));
      },
    ],
  ];
  for (const [what, cause, damage] of damages) {
    it(`is refused with its cause and the remedy: ${what}`, async () => {
      const dataDir = await usedDirectory();
      damage(fileOf(dataDir));
      await assert.rejects(spawnEmbeddedNode({ dataDir }), (error) => {
        const { code, message } = error as { code?: string; message: string };
        assert.equal(code, 'damaged');
        assert.ok(message.startsWith(`the event store's data in ${dataDir}`), message);
        assert.match(message, cause);
        assert.match(message, wayBack);
        return true;
      });
    });
  }

  it('is not recreated from an earlier version either', async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'lock'), '');
    writeFileSync(join(dataDir, 'holder.json'), '{"pid":1}');
    await assert.rejects(startNode({ dataDir }), { name: 'Damaged' });
  });

  it('without a log begins with an empty one, also when a first start was interrupted', async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'lock'), '');
    await withNode(dataDir, async (store) => assert.equal(await store.tail(), 0n));
  });

  it('restored from a copy continues', async () => {
    const dataDir = await usedDirectory();
    const copy = join(temporaryDirectory(), 'copy.mdb');
    copyFileSync(fileOf(dataDir), copy);
    truncateSync(fileOf(dataDir));
    await assert.rejects(startNode({ dataDir }), { name: 'Damaged' });
    copyFileSync(copy, fileOf(dataDir));
    await withNode(dataDir, async (store) => assert.equal((await store.read('used-7')).length, 3));
  });
});

describe('flipped bytes', () => {
  it('in an event are not served and not built upon, reported once, and nothing else is held up', async () => {
    const dataDir = temporaryDirectory();
    const marked = { ...event(), type: 'MarkedForDamage' };
    await withNode(dataDir, async (store) => {
      await store.append('good-1', 'no_stream', [event()]);
      await store.append('bad-1', 'no_stream', [marked]);
      await store.append('good-2', 'no_stream', [event()]);
    });
    assert.ok(flip(fileOf(dataDir), marked.type) > 0);
    await withNode(dataDir, async (store, troubles) => {
      for (let n = 0; n < 2; n++) await assert.rejects(store.read('bad-1'), { name: 'Unavailable', message: wayBack });
      assert.equal((await store.read('good-1')).length, 1);
      const [again, ...others] = await Promise.allSettled([
        store.append('bad-1', 'no_stream', [marked]),
        ...['good-1', 'good-2'].map((stream) => store.append(stream, 0n, [event()])),
      ]);
      assert.equal(again.status, 'rejected');
      assert.deepEqual(
        others.map(({ status }) => status),
        ['fulfilled', 'fulfilled'],
      );
      assert.deepEqual(
        troubles.map(({ kind }) => kind),
        ['damaged'],
      );
      const seen: string[] = [];
      await assert.rejects(async () => {
        for await (const { events: read, live } of store.all({
          after: null,
          prefixes: ['good-', 'bad-'],
          signal: AbortSignal.timeout(patience_ms),
        })) {
          seen.push(...read.map(({ stream }) => stream));
          if (live) return;
        }
      }, /the record at \d+ is not as it was written/);
      assert.deepEqual(seen, ['good-1'], 'up to the damage');
    });
  });

  it('in the data of a stream are found', async () => {
    const dataDir = temporaryDirectory();
    await withNode(dataDir, (store) => store.append('known-1', 'no_stream', events(4)));
    assert.ok(flip(fileOf(dataDir), '3,"sum":') > 0);
    await withNode(dataDir, async (store) => {
      await assert.rejects(store.read('known-1'), /what is known of stream known-1 is not as it was written/);
      await assert.rejects(store.append('known-1', 3n, [event()]), { name: 'Unavailable' });
    });
  });

  it('in the data of the epochs are reported to the parent of a node, which starts nevertheless', async () => {
    const dataDir = temporaryDirectory();
    await withNode(dataDir, async () => {});
    assert.ok(flip(fileOf(dataDir), '"last":0,"sum":') > 0);
    const troubles: Trouble[] = [];
    const node = await spawnEmbeddedNode({ dataDir, onTrouble: (trouble) => troubles.push(trouble) });
    const store = openEventStore({ url: node.url });
    try {
      assert.equal((await store.append('other-1', 'no_stream', [event()])).revision, 0n);
      assert.deepEqual(
        troubles.map(({ kind }) => kind),
        ['damaged'],
      );
    } finally {
      await store.close();
      await node.stop();
    }
  });

  it('in the end of the log are found at the start', async () => {
    const dataDir = await usedDirectory();
    assert.ok(flip(fileOf(dataDir), '"checkedFrom"') > 0);
    await assert.rejects(startNode({ dataDir }), /the end of its log is not as it was written/);
  });
});

describe('a log of the older format, without checksums', () => {
  it('is read, and continues with them', async () => {
    const dataDir = temporaryDirectory();
    const written = { ...event(), type: 'Happened' };
    const record = bareRecord(
      encodeRecord({
        stream: 'old-1',
        revision: 0,
        position: 64,
        id: written.id,
        type: written.type,
        json: true,
        created_ms: 5,
        data: Buffer.from('{}'),
        metadata: Buffer.from('{}'),
      }),
    );
    const env = open({ path: join(dataDir, 'events'), overlappingSync: false, maxDbs: 4, cache: false });
    const table = (name: string, encoding: 'binary' | 'ordered-binary' | 'json') => env.openDB({ name, encoding });
    await table('log', 'binary').put(64, record);
    await table('index', 'ordered-binary').put([1, 0], 64);
    await table('heads', 'json').put('old-1', { id: 1, last: 0 });
    await table('ends', 'json').put('ends', { format: 1, position: 64 + record.length, stream: 2 });
    await env.close();

    const second = event();
    await withNode(dataDir, async (store) => {
      assert.deepEqual(idsOf(await store.read('old-1')), [written.id]);
      await store.append('old-1', 0n, [second]);
    });
    await withNode(dataDir, async (store) => {
      assert.deepEqual(idsOf(await store.read('old-1')), [written.id, second.id]);
      assert.equal((await store.append('new-1', 'no_stream', [event()])).revision, 0n);
    });
  });
});
