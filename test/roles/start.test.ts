import assert from 'node:assert/strict';
import { generatePrivateKey } from 'viem/accounts';
import type { Clock } from '../../commands/ports.ts';
import { readConfig } from '../../src/config.ts';
import { openCore } from '../../src/roles/core.ts';
import { systemClock } from '../../src/runtime/system.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const nobody = 'http://127.0.0.1:9';

describe('a start', () => {
  function given(more: Record<string, string>) {
    const config = readConfig({
      MODE: 'sandbox',
      LOG_LEVEL: 'silent',
      MASTER_KEY: 'ab'.repeat(32),
      TREASURY_PRIVATE_KEY: generatePrivateKey(),
      RPC_URLS_8453: nobody,
      DATA_DIR: temporaryDirectory(),
      ...more,
    });
    const naps: number[] = [];
    const clock: Clock = { ...systemClock, sleep: async (duration_ms) => void naps.push(duration_ms) };
    return { config, naps, clock };
  }

  it('waits for a Postgres that does not answer, then gives up and leaves nothing open', async () => {
    const { config, naps, clock } = given({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/payments' });
    await assert.rejects(openCore(config, clock), { name: 'Unavailable', message: /^Postgres cannot answer now/ });
    assert.equal(naps.length, 7);
    const { url } = await freshDatabase();
    const core = await openCore({ ...config, databaseUrl: url }, systemClock);
    await core.close();
  });
});
