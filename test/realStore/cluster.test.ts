/**
 * The whole product on a cluster of three nodes with TLS, as a user with no more rights than it needs. One, two or all nodes fail: while
 * payments run on every chain family, and while the service is idle and is restarted afterwards. The gate tries a failure in one of the two
 * situations, and leaves a failure that another one includes to the full suite.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { idleRestartContract } from '../store/idleRestart.ts';
import { createCustomers } from '../support/customers.ts';
import { createOutages, type Route } from '../support/outages.ts';
import { type RealCluster, type RealClusterNode, startRealCluster } from '../support/realCluster.ts';
import { describeOnRealStore } from '../support/realEventStore.ts';
import { createSandbox } from '../support/sandbox.ts';
import { gateCases } from '../support/suite.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';
import { createRightsSpecs, serviceUrl } from './rights.ts';

const frozen_ms = 20_000;
const down_ms = 30_000;
/** Between two orders of a route: some payments run at each moment of a failure, and no more. */
const pause_ms = 2_000;

/** From and to each chain family once. */
const routes: readonly [Route, ...Route[]] = [
  { from: 8453, to: 501 },
  { from: 501, to: 1500 },
  { from: 1500, to: 8453 },
];

const services = ['payments run', 'idle, then restarted'] as const;
type Service = (typeof services)[number];

interface Scenario {
  readonly name: string;
  /** The gate tries it with the service like this, or not at all; the full suite with both. */
  readonly gate?: Service;
  /** Resolves when the cluster can elect a leader. @returns ends the failure: every node runs then, or starts */
  strike(cluster: RealCluster): Promise<() => Promise<void>>;
}

const killAll = (nodes: readonly RealClusterNode[]) => Promise.all(nodes.map((node) => node.kill()));
async function launchAll(nodes: readonly RealClusterNode[]): Promise<void> {
  for (const node of nodes) node.launch();
}

const scenarios: readonly Scenario[] = [
  {
    name: 'the leader is killed',
    async strike(cluster) {
      const leader = await cluster.leader();
      await leader.kill();
      return () => launchAll([leader]);
    },
  },
  {
    name: 'the leader is frozen for 20 s',
    gate: 'payments run',
    async strike(cluster) {
      const leader = await cluster.leader();
      leader.freeze();
      const over = sleep(frozen_ms).then(leader.thaw);
      return () => over;
    },
  },
  {
    name: 'a follower is killed',
    async strike(cluster) {
      const followers = (await cluster.followers()).slice(1);
      await killAll(followers);
      return () => launchAll(followers);
    },
  },
  {
    name: 'two of three nodes are down for 30 s',
    gate: 'payments run',
    async strike(cluster) {
      const followers = await cluster.followers();
      const two = [await cluster.leader(), ...followers.slice(1)];
      await killAll(two);
      await sleep(down_ms);
      await launchAll(two);
      return async () => {};
    },
  },
  {
    name: 'all nodes are killed',
    gate: 'idle, then restarted',
    async strike({ nodes }) {
      await killAll(nodes);
      await launchAll(nodes);
      return async () => {};
    },
  },
];

interface Measured {
  readonly scenario: string;
  readonly service: Service;
  /** From the moment the cluster has a leader. */
  readonly ready_s: string;
  readonly payments: number;
  readonly alarms: string;
}

describeOnRealStore('a cluster of three nodes with TLS', function () {
  // A scenario begins where the one before it ended.
  this.bail(true);
  let cluster: RealCluster;
  const sandbox = createSandbox({ chains: [8453, 501, 1500], eventStoreUrl: () => serviceUrl(cluster) });
  const customers = createCustomers(sandbox);
  const { whileCustomersCome, untilReady } = createOutages(sandbox, customers, routes, pause_ms);
  const measured: Measured[] = [];
  /** Alarms since the service started that belong to earlier scenarios, by reason. */
  let known = new Map<string, number>();
  const alarms = new Set<string>();

  before(async () => {
    cluster = await startRealCluster();
  });
  after(async () => {
    await sandbox.destroy();
    await cluster?.stop();
    for (const line of tableOf(measured)) process.stdout.write(`${line}\n`);
  });

  const tries: Readonly<Record<Service, (scenario: Scenario) => void>> = {
    'payments run': ({ name, strike }) =>
      it('while payments run: each completes once, and no alarm is raised', () =>
        measure({ scenario: name, service: 'payments run' }, async () => {
          let seconds = '';
          await whileCustomersCome(async () => {
            seconds = await recovers(strike);
          });
          return seconds;
        })),
    'idle, then restarted': ({ name, strike }) =>
      it('while the service is idle, which is then restarted: payments complete once, and no alarm is raised', () =>
        measure({ scenario: name, service: 'idle, then restarted' }, async () => {
          const seconds = await recovers(strike);
          await noteAlarms();
          known = new Map();
          assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
          assert.equal(await sandbox.start({ LOG_LEVEL: 'error' }), 'ready', sandbox.printed());
          await untilReady();
          await completesOnEachRoute();
          return seconds;
        })),
  };
  const rights = createRightsSpecs(() => cluster);
  describe('with a user of the guide', () => {
    rights.ofNewCluster(sandbox);

    it('runs the whole service with these rights: payments complete', async () => {
      assert.equal(await sandbox.start({ LOG_LEVEL: 'error' }), 'ready', sandbox.printed());
      await completesOnEachRoute();
    });
  });

  for (const scenario of scenarios) {
    describe(scenario.name, () => {
      for (const service of gateCases(services, (each) => each === scenario.gate)) tries[service](scenario);
    });
  }

  describe('the leader ends and is started again while nobody writes', () => {
    idleRestartContract(
      async () => ({
        url: cluster.url,
        async restart() {
          const leader = await cluster.leader();
          await leader.stop();
          await cluster.leader();
          await leader.start();
          await cluster.whole();
        },
      }),
      1,
    );
  });

  describe('after all of that', () => {
    it('the log has each payment once, and every chain of hashes is whole', async () => {
      const paymentIds = await eachCompletesOnce(sandbox, customers);
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      isWhole(await sandbox.history(), paymentIds);
    });
  });

  describe('with a user of limited rights', () => rights.limitedByOperator());

  /** Runs one scenario, in which the payments since its begin must complete once. A false alarm fails it. */
  async function measure(about: Pick<Measured, 'scenario' | 'service'>, run: () => Promise<string>): Promise<void> {
    const begun = customers.orders.length;
    alarms.clear();
    let ready_s = 'never';
    try {
      ready_s = await run();
      await cluster.whole();
      await eachCompletesOnce(sandbox, customers, begun);
    } finally {
      await noteAlarms().catch(() => alarms.add('the service does not answer'));
      const raised = [...alarms].join(', ') || 'none';
      measured.push({ ...about, ready_s, payments: customers.orders.length - begun, alarms: raised });
    }
    assert.deepEqual([...alarms], []);
  }

  /** @returns seconds from the new leader until the service is ready, for the table */
  async function recovers(strike: Scenario['strike']): Promise<string> {
    const heal = await strike(cluster);
    await cluster.leader();
    const since_ms = performance.now();
    await untilReady();
    const ready_ms = performance.now() - since_ms;
    await heal();
    await untilReady();
    return (ready_ms / 1_000).toFixed(1);
  }

  /** The counters start again with the service: they are read before each restart. */
  async function noteAlarms(): Promise<void> {
    const { body } = await sandbox.operations('/metrics');
    for (const [, reason = '', text] of String(body).matchAll(/^pi_alarms_total\{reason="([^"]+)"\} (\d+)/gm)) {
      const times = Number(text);
      if (times > (known.get(reason) ?? 0)) alarms.add(reason);
      known.set(reason, times);
    }
  }

  async function completesOnEachRoute(): Promise<void> {
    const begun = customers.orders.length;
    for (const { from, to } of routes) customers.newOrder(from, to);
    await eachCompletesOnce(sandbox, customers, begun);
  }
});

const tableOf = (rows: readonly Measured[]): readonly string[] => [
  '| scenario | service | seconds until ready | payments | alarms |',
  '|---|---|---|---|---|',
  ...rows.map((row) => `| ${Object.values(row).join(' | ')} |`),
];
