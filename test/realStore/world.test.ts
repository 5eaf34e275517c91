/** The whole product on one node of the real EventStoreDB: every chain family, outages of the store, the operator's tools. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCustomers } from '../support/customers.ts';
import { outputOfTool } from '../support/operatorTools.ts';
import { createOutages, type Route } from '../support/outages.ts';
import { describeWorldOnRealStore } from '../support/realEventStore.ts';
import { createSandbox } from '../support/sandbox.ts';
import { isFull } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';

/** From and to each chain family once. */
const routes: readonly [Route, ...Route[]] = [
  { from: 8453, to: 501 },
  { from: 501, to: 1500 },
  { from: 1500, to: 8453 },
];

/**
 * The gate stops the store once while the service is idle, and kills and freezes it once each while payments run. Four of its tools read the
 * whole log; backup.test.ts rebuilds.
 */
const itInFull = (title: string, spec: () => Promise<void>) => void (isFull && it(title, spec));

describeWorldOnRealStore('the whole product', (eventStoreUrl, node) => {
  const sandbox = createSandbox({ chains: [8453, 501, 1500], eventStoreUrl });
  const customers = createCustomers(sandbox);
  const outages = createOutages(sandbox, customers, routes);
  const { whileCustomersCome, untilReady, says, isUnavailable, read, create } = outages;
  before(async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());

  const tool = (name: string, ...args: string[]) => outputOfTool(sandbox.dataDir, name, ...args);
  const completesOnEachRoute = async () => {
    for (const { from, to } of routes) customers.newOrder(from, to);
    await eachCompletesOnce(sandbox, customers);
  };
  const restartService = async () => {
    await sandbox.kill();
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    await untilReady();
  };

  it('completes a payment from and to each chain family, with both webhooks', completesOnEachRoute);

  describe('while the service is idle', () => {
    it('a restart of the store, and then of the service, changes nothing', async () => {
      await node().stop();
      await says('eventStore');
      await node().start();
      await untilReady();
      await restartService();
      await completesOnEachRoute();
    });

    itInFull('a crash of the store changes nothing, and another one changes nothing', async () => {
      for (let crashes = 0; crashes < 2; crashes += 1) {
        await node().kill();
        await says('eventStore');
        await node().start();
        await untilReady();
      }
      await restartService();
      await completesOnEachRoute();
    });
  });

  describe('while payments run', () => {
    itInFull('a restart of the store delays them', () =>
      whileCustomersCome(async () => {
        await node().stop();
        await node().start();
      }),
    );

    it('a crash of the store delays them: reads are answered, creates are refused with 503 until it is back', () =>
      whileCustomersCome(async () => {
        await node().kill();
        await says('eventStore');
        await isUnavailable(create);
        for (let tries = 0; tries < 5; tries += 1) assert.equal((await read()).status, 200);
        await node().start();
      }));

    it('a store that hangs delays them: requests are sent again and written once', () =>
      whileCustomersCome(async () => {
        node().freeze();
        try {
          const creating = customers.create(customers.newOrder(8453, 501));
          for (let tries = 0; tries < 3; tries += 1) await says('eventStore');
          node().thaw();
          await creating;
        } finally {
          node().thaw();
        }
      }));

    it('each of them completes once, and is reported once', async () => {
      await eachCompletesOnce(sandbox, customers);
    });
  });

  describe('beside the running service', () => {
    it('doctor finds nothing broken', async () => {
      const { verdict, areas } = JSON.parse(await tool('doctor', '--json'));
      assert.notEqual(verdict, 'broken', JSON.stringify(areas));
      const { findings } = areas.find(({ area }: { area: string }) => area === 'Event store');
      assert.deepEqual([...new Set(findings.map((each: { verdict: string }) => each.verdict))], ['fine']);
    });

    it('audit finds that the log and the read models agree', async () => {
      const { events, findings, gaps, readModels } = JSON.parse(
        await tool('audit', '--json', '--log-only', '--patience', '0'),
      );
      assert.ok(events > 0);
      assert.deepEqual([findings, gaps, readModels.findings], [[], [], []]);
    });

    it('export writes each event of the log once, in its order', async () => {
      const out = join(temporaryDirectory(), 'events');
      await tool('export', 'events', '--format', 'ndjson', '--out', out);
      const { parts } = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
      const lines = parts.flatMap(({ file }: { file: string }) =>
        readFileSync(join(out, file), 'utf8').trim().split('\n'),
      );
      const positions = lines.map((line: string) => BigInt(JSON.parse(line).position));
      assert.deepEqual(positions, [
        ...new Set(positions.toSorted((one: bigint, other: bigint) => (one < other ? -1 : 1))),
      ]);
      const payouts = lines.filter((line: string) => JSON.parse(line).type === 'PayoutConfirmed');
      assert.equal(payouts.length, customers.orders.length);
    });

    itInFull('replay explains a payment, and fills a schema as of now', async () => {
      const [order] = customers.orders;
      assert.match(await tool('replay', '--stream', `payment-${order?.payment.id}`), /PayoutConfirmed/);
      assert.match(await tool('replay', '--into', 'as_of_now'), /holds all read models up to position/);
      const rows = await sandbox.query<{ status: string }>('SELECT DISTINCT status FROM as_of_now.payments');
      assert.deepEqual(rows, [{ status: 'payment_payout_completed' }]);
      await tool('replay', '--drop', 'as_of_now');
    });

    itInFull('rebuild fills both sets of read models, and the service continues with them', async () => {
      const told = await tool('rebuild');
      for (const set of ['work', 'reports']) assert.match(told, new RegExp(`"${set}": generation \\d+ is live`));
      await untilReady();
      await completesOnEachRoute();
    });

    it('backup copies the events since the last backup', async () => {
      const directory = join(temporaryDirectory(), 'backup');
      assert.match(await tool('backup', directory), /holds (\d+) events, \1 of them new/);
      await completesOnEachRoute();
      assert.match(await tool('backup', directory), /holds \d+ events, [1-9]\d* of them new/);
    });
  });

  describe('after all of that', () => {
    it('raised no alarm, and left every payment whole', async () => {
      const { body } = await sandbox.operations('/metrics');
      assert.deepEqual(String(body).match(/^pi_alarms_total\{.*$/gm) ?? [], []);
      const paymentIds = await eachCompletesOnce(sandbox, customers);
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      isWhole(await sandbox.history(), paymentIds);
    });
  });
});
