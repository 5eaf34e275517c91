import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventCodec } from '../../commands/codec.ts';
import { writeConnections } from '../../src/lib/connections.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { parseMasterKey } from '../../src/security/masterKey.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { withSeals } from '../../src/store/sealed.ts';
import { runToolIn, succeeded } from '../support/operatorTools.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const old = '0123456789abcdef'.repeat(4);
const masterKey = 'fedcba9876543210'.repeat(4);
const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };

/** A data directory whose log starts with one key and changes to another. */
function installation(databaseUrl: string | null) {
  const dataDir = temporaryDirectory();
  const oldFile = join(dataDir, 'old-key');
  writeFileSync(oldFile, `${old}\n`);
  const { DATABASE_URL: _, EVENTSTORE_URL: __, ...env } = process.env;
  return {
    async rotate(settings: Readonly<Record<string, string>> = {}, ...options: readonly string[]) {
      const keys = { MASTER_KEY: masterKey, MASTER_KEY_OLD_FILE: oldFile };
      const args = [...options, '--data', dataDir];
      return succeeded(await runToolIn({ ...env, ...keys, ...settings }, 'rotateMasterKey', args)).stdout;
    },
    async started(key: string, meanwhile = async () => {}) {
      const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
      if (databaseUrl !== null) await writeConnections(dataDir, { databaseUrl, eventStoreUrl: node.url });
      const log = openEventStore({ url: node.url });
      try {
        await withSeals(log, { masterKey: parseMasterKey(key), tell: () => {}, deciding }).sealed();
        await meanwhile();
      } finally {
        await log.close();
        await node.stop();
      }
    },
  };
}

describe('npm run rotate-master-key', () => {
  it('replaces the old key by a new one, while nothing else runs on the log', async () => {
    const { url } = await freshDatabase();
    const { started, rotate } = installation(url);
    await started(old, () => assert.rejects(rotate(), /already|in use|uses/i));
    assert.match(await rotate(), /^Done/);
    assert.match(await rotate(), /changed before/);
    await started(masterKey);
    await assert.rejects(started(old), /seal of key/);
  });

  it('does the same to a signer’s own log, which has no Postgres, whatever event store the signer reads', async () => {
    const { started, rotate } = installation(null);
    const ofSigner = () => rotate({ EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' }, '--signer');
    await started(old, () => assert.rejects(ofSigner(), /in use/i));
    await assert.rejects(started(masterKey), /seal of key/);
    assert.match(await ofSigner(), /^Done/);
    assert.match(await ofSigner(), /changed before/);
    await started(masterKey);
    await assert.rejects(started(old), /seal of key/);
  });
});
