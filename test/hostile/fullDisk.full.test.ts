/** The event store's disk is filled to the last byte, under the node alone and under the whole product. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { type EventStoreNode, startNode } from '../../src/store/node/node.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import type { Trouble } from '../../src/store/node/trouble.ts';
import { event } from '../store/events.ts';
import { createSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { mountSmallDisk, type SmallDisk } from './smallDisk.ts';

const size_bytes = 96 * 1024 * 1024;
const large = () => ({ ...event(), data: { text: 'x'.repeat(800_000) } });
const refusal = { name: 'Unavailable', message: /^nothing was appended: the event store cannot write to / };

function smallDiskFor(test: Mocha.Context, directory = temporaryDirectory()): SmallDisk {
  return mountSmallDisk(directory, size_bytes) ?? test.skip();
}

/** Retries until there is room again, like any caller that gets a 503. */
async function appendsAgain(store: OpenEventStore, stream: string): Promise<void> {
  for (;;) {
    const done = await store.append(stream, 'no_stream', [event()]).catch((error: Error) => error);
    if (!(done instanceof Error)) return;
    assert.equal(done.name, 'Unavailable');
    await sleep(100);
  }
}

describe('a full disk', () => {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  function open(node: EmbeddedNode | EventStoreNode | { url: string }): OpenEventStore {
    const store = openEventStore({ url: node.url });
    stops.push(() => store.close());
    return store;
  }

  it('does not end the node: it reads, refuses, is reported, and writes again', async function () {
    const disk = smallDiskFor(this);
    const lost: unknown[] = [];
    const troubles: Trouble[] = [];
    const node = await spawnEmbeddedNode({
      dataDir: disk.directory,
      onLost: (loss) => lost.push(loss),
      onTrouble: (trouble) => troubles.push(trouble),
    });
    stops.push(() => node.stop());
    const store = open(node);
    await store.append('kept-1', 'no_stream', [event()]);
    disk.fill();
    for (let n = 0; n < 20; n++) await assert.rejects(store.append(`refused-${n}`, 'no_stream', [large()]), refusal);
    assert.equal((await store.read('kept-1')).length, 1);
    assert.deepEqual(lost, []);
    assert.deepEqual(
      troubles.map(({ kind }) => kind),
      ['cannotWrite'],
    );
    disk.empty();
    await appendsAgain(store, 'again-1');
    assert.deepEqual(await store.read('refused-1'), []);
    assert.equal(troubles.at(-1)?.kind, 'writesAgain');
  });

  it('does not end a node either whose commit fails in the middle', async function () {
    const disk = smallDiskFor(this);
    const troubles: Trouble[] = [];
    const node = await startNode({
      dataDir: disk.directory,
      tell: (trouble) => troubles.push(trouble),
      freeBytes: () => Number.MAX_SAFE_INTEGER,
    });
    stops.push(() => node.close());
    const store = open(node);
    await store.append('kept-1', 'no_stream', [event()]);
    disk.fill();
    for (let n = 0; n < 5; n++) await assert.rejects(store.append(`refused-${n}`, 'no_stream', [large()]), refusal);
    assert.equal((await store.read('kept-1')).length, 1);
    disk.empty();
    await appendsAgain(store, 'again-1');
    assert.deepEqual(await store.read('refused-1'), []);
    assert.deepEqual(
      troubles.map(({ kind }) => kind),
      ['cannotWrite', 'writesAgain'],
    );
  });

  it('lets a node start that was killed meanwhile, and read', async function () {
    const disk = smallDiskFor(this);
    const first = await spawnEmbeddedNode({ dataDir: disk.directory });
    const kept = open(first);
    await kept.append('kept-1', 'no_stream', [event()]);
    disk.fill();
    await first.stop();
    const node = await spawnEmbeddedNode({ dataDir: disk.directory });
    stops.push(() => node.stop());
    const store = open(node);
    assert.equal((await store.read('kept-1')).length, 1);
    await assert.rejects(store.append('refused-1', 'no_stream', [event()]), refusal);
    disk.empty();
    await appendsAgain(store, 'again-1');
  });

  it('does not end the event store that runs alone', async function () {
    const disk = smallDiskFor(this);
    const { child, output, url } = await alone(disk.directory);
    stops.push(async () => {
      child.kill('SIGINT');
      await once(child, 'close');
    });
    const store = open({ url });
    await store.append('kept-1', 'no_stream', [event()]);
    disk.fill();
    for (let n = 0; n < 5; n++) await assert.rejects(store.append(`refused-${n}`, 'no_stream', [large()]), refusal);
    assert.equal((await store.read('kept-1')).length, 1);
    assert.match(output(), new RegExp(`cannot write to ${disk.directory}: the disk is full`));
    disk.empty();
    await appendsAgain(store, 'again-1');
    assert.equal(child.exitCode, null);
  });

  it('is answered 503 by the service, with an alarm, until there is room', async function () {
    const dataDir = temporaryDirectory();
    const sandbox = createSandbox({ dataDir, chains: [8453] });
    // Resources end in the reverse order of their start: the disk goes before the sandbox removes its data.
    const disk = smallDiskFor(this, join(dataDir, 'eventstore'));
    stops.push(() => sandbox.kill());
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    const order = {
      appId: sandbox.file().wallet.appId,
      type: 'exactOut',
      display: { title: 'Bread' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: `0x${'22'.repeat(20)}` },
    };
    const payment = await sandbox.create(order);
    assert.equal(payment.status, 201, JSON.stringify(payment.body));
    disk.fill();
    const refused = await sandbox.tryToCreate(order);
    assert.deepEqual([refused.status, refused.body.error], [503, 'unavailable']);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await sandbox.read(payment.body.id)).id, payment.body.id);
    const { body: metrics } = await sandbox.operations('/metrics');
    assert.match(String(metrics), /pi_alarms_total\{reason="eventStoreCannotWrite"\} 1/);
    assert.match(sandbox.printed(), new RegExp(`cannot write to ${disk.directory}: the disk is full`));
    disk.empty();
    assert.equal((await sandbox.create(order)).status, 201);
  });
});

/** Starts `npm run eventstore` on a directory. */
async function alone(directory: string): Promise<{ child: ChildProcess; output: () => string; url: string }> {
  const program = fileURLToPath(new URL('../../tools/eventstore.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--data', directory, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
  for (;;) {
    const [, url] = /at (\S+),/.exec(text) ?? [];
    if (url !== undefined) return { child, output: () => text, url };
    await sleep(50);
  }
}
