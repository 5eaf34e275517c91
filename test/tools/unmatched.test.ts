import assert from 'node:assert/strict';
import { openActive } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { createUnreadableNotes, unreadableName } from '../../src/postgres/unreadable.ts';
import { sharedAnvil } from '../support/anvil.ts';
import { hostile, steering } from '../support/hostileText.ts';
import { runTool } from '../support/operatorTools.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('npm run unmatched -- unreadable', () => {
  it('lists unreadable transactions with the nodes’ answers, the parked ones too, and has all tried again', async () => {
    const database = await freshDatabase();
    const failures = createFailures(database, { attemptsMax: 1 });
    const found = { blockNumber: 120n, addresses: ['0xdeposit'], evidence: 'the node shows it without its meta' };
    await createUnreadableNotes(database, failures, 8453).note([{ ...found, txHash: '0xabc' }], minute(1));
    await failures.failed(unreadableName(8453), '0xabc', new Error('version 7 is not known'), minute(2));
    const { rpcUrl } = await sharedAnvil(8453);
    const unmatched = (...args: string[]) => runTool('unmatched', args, { database, env: { RPC_URLS_8453: rpcUrl } });

    const { said } = await unmatched('unreadable');
    assert.match(said, /^0xabc \(payins:8453:unreadable\), block 120, seen/);
    assert.match(said, /may have paid: 0xdeposit\n.*waits for you\n.*without its meta\n.*version 7 is not known/);
    assert.match((await unmatched('unreadable', '--retry')).said, /^1 are due again/);
    const due = await createFailures(database).due(unreadableName(8453), 10, new Date().toISOString() as never);
    assert.deepEqual(due, [{ key: '0xabc' }]);

    const lies = { blockNumber: 121n, addresses: [hostile], evidence: hostile };
    await createUnreadableNotes(database, failures, 8453).note([{ ...lies, txHash: '0xdef' }], minute(3));
    await failures.failed(unreadableName(8453), '0xdef', new Error(hostile), minute(4));
    const env = { RPC_URLS_8453: rpcUrl };
    await openActive(database, workSet, await ddlOf('work'));
    const shownBy = [await unmatched('unreadable'), await runTool('work', ['list'], { database, env })];
    for (const { said: shown } of shownBy) {
      assert.match(shown, /pay \\u\{1b\}\[2J/);
      assert.ok(!steering.test(shown), JSON.stringify(shown));
    }
  });
});
