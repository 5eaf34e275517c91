import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventCodec } from '../../commands/codec.ts';
import { openEventStore } from '../../src/eventstore/client.ts';
import { spawnEmbeddedNode } from '../../src/eventstore/node/spawn.ts';
import { withSeals } from '../../src/eventstore/sealed.ts';
import { writeConnections } from '../../src/runtime/connections.ts';
import { randomIds, systemClock } from '../../src/runtime/system.ts';
import { parseMasterKey } from '../../src/security/secretBox.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const program = fileURLToPath(new URL('../../src/cli/rotateMasterKey.ts', import.meta.url));
const run = promisify(execFile);
const old = '0123456789abcdef'.repeat(4);
const masterKey = 'fedcba9876543210'.repeat(4);
const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };

describe('npm run rotate-master-key', () => {
  it('puts a new key in the place of the old one, while nothing else runs on the log', async () => {
    const dataDir = temporaryDirectory();
    const oldFile = join(dataDir, 'old-key');
    writeFileSync(oldFile, `${old}\n`);
    const { url: databaseUrl } = await freshDatabase();
    const { DATABASE_URL: _, EVENTSTORE_URL: __, ...env } = process.env;
    const rotate = async () => {
      const keys = { MASTER_KEY: masterKey, MASTER_KEY_OLD_FILE: oldFile };
      const { stdout } = await run(process.execPath, [program, '--data', dataDir], { env: { ...env, ...keys } });
      return stdout;
    };
    const started = async (key: string, meanwhile = async () => {}) => {
      const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
      await writeConnections(dataDir, { databaseUrl, eventStoreUrl: node.url });
      const log = openEventStore({ url: node.url });
      try {
        await withSeals(log, { masterKey: parseMasterKey(key), tell: () => {}, deciding }).sealed();
        await meanwhile();
      } finally {
        await log.close();
        await node.stop();
      }
    };

    await started(old, () => assert.rejects(rotate(), /already|in use|uses/i));
    assert.match(await rotate(), /^Done/);
    assert.match(await rotate(), /changed before/);
    await started(masterKey);
    await assert.rejects(started(old), /seal of key/);
  });
});
