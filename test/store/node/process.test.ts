import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EventStore } from '../../../commands/ports.ts';
import { openEventStore } from '../../../src/store/client.ts';
import { type EmbeddedNode, type Loss, spawnEmbeddedNode } from '../../../src/store/node/spawn.ts';
import { patience_ms } from '../../support/patience.ts';
import { isFull } from '../../support/suite.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { whenAvailable } from '../../support/whenAvailable.ts';
import { event, events, idsOf } from '../events.ts';

/** Repetitions of a race: a signal to a process group, and a kill during many appends. */
const rounds = isFull ? { signal: 3, flood: 4 } : { signal: 1, flood: 2 };
/** Bounds of the random number of acknowledged appends before a kill. */
const flooded = isFull ? { least: 200, most: 2_200 } : { least: 100, most: 600 };

const program = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** A child process that leads its own process group; collects its output. */
function run(...args: string[]): { child: ChildProcess; output: () => string; line: Promise<string> } {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let text = '';
  const line = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk;
        if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
      });
    }
  });
  return { child, output: () => text, line };
}

describe('the node as a process', () => {
  let node: EmbeddedNode | undefined;
  let dataDir: string;
  beforeEach(async () => {
    dataDir = temporaryDirectory();
  });
  afterEach(async () => {
    await node?.stop();
    node = undefined;
  });

  /** On a busy machine a node can be silent for that long, and killed, before it is frozen. */
  function freeze(pid: number): void {
    try {
      process.kill(pid, 'SIGSTOP');
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    }
  }

  async function withStore<T>(url: string, use: (store: EventStore) => Promise<T>): Promise<T> {
    const store = openEventStore({ url });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  it('keeps its events over a restart', async () => {
    const written = events(3);
    node = await spawnEmbeddedNode({ dataDir });
    const first = await withStore(node.url, (store) => store.append('kept-1', 'no_stream', written));
    await node.stop();
    node = await spawnEmbeddedNode({ dataDir });
    await withStore(node.url, async (store) => {
      assert.deepEqual(idsOf(await store.read('kept-1')), idsOf(written));
      assert.deepEqual(await store.append('kept-1', 'no_stream', written), first, 'still recognised');
      const { position } = await store.append('kept-1', 2n, [event()]);
      assert.ok(position > first.position);
    });
  });

  it('refuses a second process on the same data, and states the next step', async () => {
    node = await spawnEmbeddedNode({ dataDir });
    await assert.rejects(spawnEmbeddedNode({ dataDir, patience_ms: 0 }), (error) => {
      const { code, message } = error as { code?: string; message: string };
      assert.equal(code, 'directoryInUse');
      assert.match(message, new RegExp(`${dataDir} is in use by process ${node?.pid}`));
      return true;
    });
    const alone = run(program('tools/eventstore.ts'), '--data', dataDir, '--port', '0');
    const [code] = await once(alone.child, 'close');
    assert.equal(code, 75);
    assert.match(alone.output(), /is in use by process \d+: stop that process, or choose another directory/);
  });

  it('is never locked out by a process that was killed', async () => {
    const alone = run(program('tools/eventstore.ts'), '--data', dataDir, '--port', '0');
    assert.match(await alone.line, /^Event store at esdb:\/\/127\.0\.0\.1:\d+\?tls=false/);
    alone.child.kill('SIGKILL');
    await once(alone.child, 'close');
    node = await spawnEmbeddedNode({ dataDir, patience_ms: 0 });
    await withStore(node.url, (store) => store.append('after-1', 'no_stream', [event()]));
  });

  it('runs alone until it is interrupted', async () => {
    const alone = run(program('tools/eventstore.ts'), '--data', dataDir, '--port', '0');
    const [, url] = /at (\S+),/.exec(await alone.line) ?? [];
    await withStore(url!, (store) => store.append('alone-1', 'no_stream', [event()]));
    alone.child.kill('SIGINT');
    const [code] = await once(alone.child, 'close');
    assert.equal(code, 0);
  });

  it('ends when its parent is killed, and the next parent gets the data', async () => {
    const script = `
      import { spawnEmbeddedNode } from ${JSON.stringify(program('src/store/node/spawn.ts'))};
      const node = await spawnEmbeddedNode({ dataDir: ${JSON.stringify(dataDir)} });
      console.log(node.url);
      setInterval(() => {}, 1000);`;
    const parent = run('--input-type=module', '-e', script);
    const orphanUrl = await parent.line;
    await withStore(orphanUrl, (store) => store.append('orphan-1', 'no_stream', [event()]));
    parent.child.kill('SIGKILL');
    await once(parent.child, 'close');
    node = await spawnEmbeddedNode({ dataDir });
    await withStore(node.url, async (store) => assert.equal((await store.read('orphan-1')).length, 1));
    assert.equal(node.url, orphanUrl, 'at the same address');
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`is not lost by ${signal} to its parent’s whole process group: its parent ends it, in its own time`, async () => {
      const script = `
        import { spawnEmbeddedNode } from ${JSON.stringify(program('src/store/node/spawn.ts'))};
        import { openEventStore } from ${JSON.stringify(program('src/store/client.ts'))};
        process.on('${signal}', async () => {
          const store = openEventStore({ url: node.url });
          for (let round = 0; round < 200; round++) await store.tail();
          await store.close();
          await node.stop();
          console.log('stopped');
          process.exit();
        });
        const dataDir = ${JSON.stringify(dataDir)};
        const node = await spawnEmbeddedNode({ dataDir, onLost: () => console.log('lost') });
        console.log('ready');`;
      for (let round = 0; round < rounds.signal; round++) {
        const parent = run('--input-type=module', '-e', script);
        assert.equal(await parent.line, 'ready');
        process.kill(-(parent.child.pid ?? 0), signal);
        await once(parent.child, 'close');
        assert.equal(parent.output(), 'ready\nstopped\n');
      }
    });
  }

  it('is restarted at the same address when it was killed, and clients continue', async () => {
    const lost = Promise.withResolvers<string | null>();
    node = await spawnEmbeddedNode({ dataDir, onLost: ({ signal }) => lost.resolve(signal) });
    await withStore(node.url, async (store) => {
      await store.append('again-1', 'no_stream', [event()]);
      process.kill(node!.pid, 'SIGKILL');
      assert.equal(await lost.promise, 'SIGKILL');
      let revision = 0n;
      while (revision < 3n) {
        await nextTurn();
        // Appends are refused while the node is down; the outcome of each sent append becomes known.
        revision = await store.append('again-1', revision, [event()]).then(
          (appended) => appended.revision,
          (error) => {
            assert.equal(error.name, 'Unavailable');
            return revision;
          },
        );
      }
      assert.equal((await store.read('again-1')).length, 4);
    });
  });

  it('is killed and restarted when it does not answer any more, and clients continue', async () => {
    const lost = Promise.withResolvers<Loss>();
    node = await spawnEmbeddedNode({ dataDir, silence_ms: 1_000, onLost: lost.resolve });
    const { pid } = node;
    await withStore(node.url, async (store) => {
      const [first, second] = [event(), event()];
      await whenAvailable(() => store.append('silent-1', 'no_stream', [first]));
      freeze(pid);
      assert.deepEqual(await lost.promise, { code: null, signal: 'SIGKILL', silent: true });
      const { revision } = await whenAvailable(() => store.append('silent-1', 0n, [second]));
      assert.equal(revision, 1n);
    });
    assert.notEqual(node.pid, pid);
  });

  it('keeps every acknowledged append, and every other one whole or not at all, when it is killed during many appends', async () => {
    const acknowledged = new Map<string, readonly string[]>();
    const attempted = new Map<string, readonly string[]>();
    for (let round = 0; round < rounds.flood; round++) {
      const running = await spawnEmbeddedNode({ dataDir });
      const store = openEventStore({ url: running.url, attempt_ms: patience_ms, append_ms: 1 });
      const enough = randomInt(flooded.least, flooded.most);
      let killed = false;
      const flood = Array.from({ length: 80 }, async () => {
        while (!killed) {
          const stream = `flood-${randomUUID()}`;
          const written = events(1 + randomInt(5));
          attempted.set(stream, idsOf(written));
          await store.append(stream, 'no_stream', written).then(
            () => acknowledged.set(stream, idsOf(written)),
            () => {},
          );
          if (acknowledged.size >= (round + 1) * enough && !killed) {
            killed = true;
            process.kill(running.pid, 'SIGKILL');
          }
        }
      });
      await Promise.all(flood);
      await store.close();
      await running.stop();
    }

    node = await spawnEmbeddedNode({ dataDir });
    const found = new Map<string, string[]>();
    await withStore(node.url, async (store) => {
      const leave = new AbortController();
      for await (const batch of store.all({ after: null, prefixes: ['flood-'], signal: leave.signal })) {
        for (const { stream, id, revision } of batch.events) {
          const ids = found.get(stream) ?? [];
          assert.equal(revision, BigInt(ids.length));
          found.set(stream, [...ids, id]);
        }
        if (batch.live) leave.abort();
      }
      for (const [stream, ids] of acknowledged) assert.deepEqual(found.get(stream), ids);
      for (const [stream, ids] of found) {
        assert.deepEqual(ids, attempted.get(stream), 'whole');
        assert.deepEqual(idsOf(await store.read(stream)), ids, 'log and index agree');
      }
    });
    assert.ok(acknowledged.size >= rounds.flood * flooded.least && attempted.size > acknowledged.size);
  });
});
