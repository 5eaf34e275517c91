import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { EventStore } from '../../commands/ports.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { sharedAnvil } from '../support/anvil.ts';
import { append, createWorld } from '../support/histories.ts';
import { hostile, steering } from '../support/hostileText.ts';
import { runTool } from '../support/operatorTools.ts';
import { created, sent } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const paymentId = '0198f3c2-0000-8000-8000-000000000001';

/** The creator of an order chooses its id. */
const history = [created({ orderId: hostile }), ...sent.slice(1)];

describe('npm run explain', () => {
  it('states the place of a payment, its events, and the next step', async () => {
    const [DATA_DIR, database] = [temporaryDirectory(), await freshDatabase()];
    const node = await spawnEmbeddedNode({ dataDir: join(DATA_DIR, 'eventstore') });
    const store = openEventStore({ url: node.url });
    await append({ ...createWorld(), store: store as EventStore }, `payment-${paymentId}`, history);
    await store.close();
    await node.stop();
    const { rpcUrl } = await sharedAnvil(8453);
    const run = { database, env: { DATA_DIR, RPC_URLS_8453: rpcUrl } };

    const { code, said } = await runTool('explain', [paymentId], run);
    assert.equal(code, 0, said);
    assert.match(
      said,
      new RegExp(`Payment ${paymentId} of wallet_demo, order pay .*: payment_payout_started\nThe payout is signed`),
    );
    assert.ok(!steering.test(said), JSON.stringify(said));
    assert.match(said, /#3 .* PaymentFunded\n {5}It is funded by the rule "agreed"/);
    assert.match(said, /What is next:\n {2}- The payout's recorded bytes are sent/);
  });
});
