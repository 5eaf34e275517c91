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
    const chain = () => openChildren(join(dataDir, 'processes.json')).alive('chain-8453')?.pid;
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
    const replacedAfter = async (former: number) => {
      const copy = `${source}~`;
      copyFileSync(source, copy);
      renameSync(copy, source);
      return await ready(former);
    };

    const first = await ready();
    const node = chain();
    assert.ok(node);
    const second = await replacedAfter(first);
    await replacedAfter(second);
    assert.equal(chain(), node);

    dev.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    assert.equal(chain(), undefined);
  });
});
