import assert from 'node:assert/strict';
import { Metadata, status } from '@grpc/grpc-js';
import { generatePrivateKey } from 'viem/accounts';
import type { Clock } from '../../commands/ports.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { openCore } from '../../src/core.ts';
import { systemClock } from '../../src/process/system.ts';
import { fakeServer } from '../store/fakeServer.ts';
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

  it('ends when the store refuses the user of EVENTSTORE_URL, and names it, without the password', async () => {
    const denied = Object.assign(new Error('Access Denied'), {
      code: status.UNAUTHENTICATED,
      details: 'Access Denied',
      metadata: new Metadata(),
    });
    const { url, stop } = await fakeServer({ read: (call) => call.emit('error', denied) });
    const { url: databaseUrl } = await freshDatabase();
    const { config, clock } = given({
      DATABASE_URL: databaseUrl,
      EVENTSTORE_URL: url.replace('//', '//ops:open/sesame@'),
    });
    await assert.rejects(openCore(config, clock), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /- EVENTSTORE_URL cannot be used: the store refuses its user or password/);
      assert.ok(!error.message.includes('sesame'));
      return true;
    });
    stop();
  });

  it('ends when a certificate that EVENTSTORE_URL names is not there', async () => {
    const { url: databaseUrl } = await freshDatabase();
    const { config, clock } = given({
      DATABASE_URL: databaseUrl,
      EVENTSTORE_URL: 'esdb+discover://ops:open-sesame@a,b?tlsCaFile=/nowhere/ca.crt',
    });
    await assert.rejects(openCore(config, clock), {
      name: 'ConfigError',
      message: /- EVENTSTORE_URL has tlsCaFile name \/nowhere\/ca.crt, which cannot be read \(ENOENT\)/,
    });
  });
});
