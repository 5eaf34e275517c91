import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { linkOf } from '../../commands/codec.ts';
import type { EventStore } from '../../commands/ports.ts';
import { categories } from '../../domain/streams.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { append, createWorld } from '../support/histories.ts';
import { done, unpaid } from '../support/payments.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const page = readFileSync(new URL('../../docs/audit/reading-the-log.md', import.meta.url), 'utf8');
const [read = '', links = ''] = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
const first = 'payment-0198f3c2-0000-8000-8000-000000000001';
const other = 'payment-0198f3c2-0000-8000-8000-000000000002';

describe('docs/audit/reading-the-log.md', () => {
  it('reads events with the ordinary client and recomputes their previous hashes, and finds a changed one', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'read.mjs'), read);
    writeFileSync(join(directory, 'links.mjs'), links);
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(directory, 'node_modules'));
    const node = await spawnEmbeddedNode({ dataDir: join(directory, 'store'), port: 0 });
    const store = openEventStore({ url: node.url });
    try {
      await append({ ...createWorld(), store: store as EventStore }, first, done);
      await append({ ...createWorld(), store: store as EventStore }, other, unpaid);
      const printed = async (name: string): Promise<string> =>
        (await promisify(execFile)(process.execPath, ['read.mjs', node.url, name], { cwd: directory })).stdout;
      const [stream, all] = await Promise.all([printed(first), printed('payment-')]);
      assert.equal(all.trim().split('\n').length, done.length + unpaid.length);

      const last = (await store.read(first)).at(-1) ?? assert.fail('no event');
      assert.equal(check(stream), `whole, its newest link is ${linkOf(last)}\n`);
      assert.throws(() => check(stream.replace('"10010000"', '"10010001"')), /broken at 1: PayinDetected/);
      assert.throws(() => check(stream.split('\n').toSpliced(2, 1).join('\n')), /broken at 2/);
    } finally {
      await store.close();
      await node.stop();
    }

    function check(input: string): string {
      return execFileSync(process.execPath, ['links.mjs'], { cwd: directory, input, encoding: 'utf8', stdio: 'pipe' });
    }
  });

  it('names existing streams and commands', () => {
    const named = [...page.matchAll(/`([a-zA-Z]+)-(?:<|log|begun|treasury)/g)].map(([, category = '']) => category);
    assert.ok(named.length >= 10);
    for (const category of named) assert.ok((categories as readonly string[]).includes(category), category);
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const [, name = ''] of page.matchAll(/npm run ([a-z-]+)/g)) assert.ok(name in scripts, name);
  });
});
