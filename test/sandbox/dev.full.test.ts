/** `npm run dev`: a change of the service's sources starts the service anew, and its world stays. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChildren } from '../../sandbox/children.ts';
import { readSandboxFile } from '../../sandbox/sandboxFile.ts';
import { onStop } from '../support/hooks.ts';
import { patience_ms } from '../support/patience.ts';
import { poll_ms } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const root = join(import.meta.dirname, '../..');
const source = join(root, 'src/api/app.ts');
const storeSource = join(root, 'src/store/node/node.ts');

describe('npm run dev', () => {
  it('starts the service anew after each change, with the world kept running, and ends both', async () => {
    const dataDir = temporaryDirectory();
    const env = { ...process.env, DATA_DIR: dataDir, PORT: '0', SANDBOX_CHAINS: '8453', LOG_LEVEL: 'warn' };
    const dev = spawn(process.execPath, [join(root, 'sandbox/dev.ts')], { env, stdio: 'ignore' });
    const ended = once(dev, 'exit');
    onStop(async () => {
      dev.kill('SIGTERM');
      await ended;
    });
    const pidOf = (name: string) => openChildren(join(dataDir, 'processes.json')).alive(name)?.pid;
    const world = () => ['chain-8453', 'event-store', 'postgres', 'shop'].map(pidOf);
    /** Waits for a service other than the former one. @returns its pid */
    const ready = async (former?: number) => {
      for (let waited_ms = 0; waited_ms < patience_ms; waited_ms += poll_ms) {
        const pid = readSandboxFile(dataDir)?.pids.service;
        if (pid !== undefined && pid !== former) return pid;
        await sleep(poll_ms);
      }
      return assert.fail('the sandbox has not become ready');
    };

    /** As an editor saves it: by another file in its place. Its content stays, which other specs read. */
    const replacedAfter = async (former: number, file = source) => {
      const copy = `${file}~`;
      copyFileSync(file, copy);
      renameSync(copy, file);
      return await ready(former);
    };

    const first = await ready();
    const before = world();
    assert.ok(before.every((pid) => pid !== undefined));
    const second = await replacedAfter(first);
    const third = await replacedAfter(second);
    assert.deepEqual(world(), before);

    // A part of the world that has ended starts again with the next service.
    process.kill(before[0] as number, 'SIGKILL');
    const fourth = await replacedAfter(third);
    const [chain, store] = world();
    assert.ok(chain !== undefined && chain !== before[0]);
    assert.equal(store, before[1]);

    // The event store runs its own sources.
    await replacedAfter(fourth, storeSource);
    assert.notEqual(pidOf('event-store'), store);

    dev.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual(world(), [undefined, undefined, undefined, undefined]);
  });
});
