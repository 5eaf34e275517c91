import assert from 'node:assert/strict';
import { arePayoutsToPause, notePayoutsToPause, payoutsArePaused } from '../../../src/postgres/payoutWaits.ts';
import { forgetLost } from '../../../src/readmodels/logSetBack.ts';
import { pauseAfterRestore } from '../../../src/workers/payouts/recall.ts';
import { freshDatabase } from '../../support/postgres.ts';

describe('the first poll for transfers', () => {
  async function world() {
    const database = await freshDatabase();
    const did: string[] = [];
    const around = { fails: null as 'pause' | 'note' | null };
    const start = () =>
      pauseAfterRestore({
        toPause: () => arePayoutsToPause(database, 8453),
        async pause() {
          if (around.fails === 'pause') throw new Error('the nodes are away');
          did.push('pause');
        },
        async paused() {
          if (around.fails === 'note') throw new Error('Postgres is away');
          await payoutsArePaused(database, 8453);
        },
      });
    return { database, did, around, start };
  }

  it('pauses nothing if no log was restored, and queries once', async () => {
    const { database, did, start } = await world();
    const look = start();
    await look();
    await notePayoutsToPause(database);
    await look();
    assert.deepEqual(did, []);
  });

  it('pauses the payouts of each chain once if a log was restored: the lost part may have been paid', async () => {
    const { database, did, start } = await world();
    await forgetLost(database, 64n);
    const look = start();
    await look();
    await look();
    await start()();
    assert.deepEqual(did, ['pause']);
    assert.equal(await arePayoutsToPause(database, 1), true, 'other chains are theirs to pause');
  });

  it('finds nothing to sign before it could pause, and pauses again when it crashed behind it', async () => {
    const { database, did, around, start } = await world();
    await forgetLost(database, 64n);
    const look = start();
    around.fails = 'pause';
    await assert.rejects(look(), /nodes are away/);
    around.fails = 'note';
    await assert.rejects(look(), /Postgres is away/);
    around.fails = null;
    await start()();
    assert.deepEqual(did, ['pause', 'pause']);
    assert.equal(await arePayoutsToPause(database, 8453), false);
  });
});
