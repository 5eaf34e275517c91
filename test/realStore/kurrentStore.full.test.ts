/** The whole product over the KurrentDB package, on one node of the real EventStoreDB. */
import assert from 'node:assert/strict';
import { createCustomers } from '../support/customers.ts';
import { createOutages, type Route } from '../support/outages.ts';
import { describeWorldOnRealStore } from '../support/realEventStore.ts';
import { createSandbox } from '../support/sandbox.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';

const settings = { EVENTSTORE_CLIENT: 'kurrentdb', LOG_LEVEL: 'info' };

const routes: readonly [Route, ...Route[]] = [
  { from: 8453, to: 501 },
  { from: 501, to: 8453 },
];

describeWorldOnRealStore('the whole product over the KurrentDB package', (eventStoreUrl, node) => {
  const sandbox = createSandbox({ chains: [8453, 501], eventStoreUrl });
  const customers = createCustomers(sandbox);
  const { whileCustomersCome, untilReady, says } = createOutages(sandbox, customers, routes);
  const start = async () => assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
  before(start);
  after(() => sandbox.destroy());

  const completesOnEachRoute = async () => {
    for (const { from, to } of routes) customers.newOrder(from, to);
    return eachCompletesOnce(sandbox, customers);
  };

  it('completes payments, with both webhooks', async () => {
    assert.match(sandbox.printed(), /reached through @kurrent\/kurrentdb-client/);
    const paymentIds = await completesOnEachRoute();
    isWhole(await sandbox.history(), paymentIds);
  });

  it('continues after a crash of the store while payments run', () =>
    whileCustomersCome(async () => {
      await node().kill();
      await says('eventStore');
      await node().start();
      await untilReady();
    }));

  it('continues after a crash of the service, and the log is whole', async () => {
    // A webhook is sent once: the crash may end a send, so those of earlier payments must have arrived.
    await eachCompletesOnce(sandbox, customers);
    await sandbox.kill();
    await start();
    await untilReady();
    const paymentIds = await completesOnEachRoute();
    isWhole(await sandbox.history(), paymentIds);
  });
});
