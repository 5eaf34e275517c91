/** Faults of real nodes while payments are under way: each payment completes once, or is held with an alarm that says why. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { startWeatherNode, type WeatherNode } from '../../sandbox/weather/proxy.ts';
import { honest, type NodeProxy, startProxy } from '../chains/proxy.ts';
import { createCustomers, type Order } from '../support/customers.ts';
import { onStop } from '../support/hooks.ts';
import { inflating } from '../support/lies.ts';
import { describeOnReal } from '../support/realNodes.ts';
import { createRealWorld } from '../support/realWorld.ts';
import { createSandbox } from '../support/sandbox.ts';
import { eachCompletesOnce, isWhole } from '../support/wholeness.ts';

const chainIds = [8453, 1, 501, 1500] as const;
/** Each family pays in and is paid out to. */
const routes: readonly (readonly [ChainId, ChainId])[] = [
  [8453, 1],
  [1, 8453],
  [501, 8453],
  [8453, 501],
  [1500, 8453],
  [8453, 1500],
];

const minute_ms = 60_000;
/** How long the late node stays behind while payments arrive. */
const behind_ms = 10_000;

interface Row {
  readonly family: string;
  readonly scenario: string;
  readonly payments: number;
  readonly ready_s: number;
  readonly alarms: string;
}

describeOnReal(['GETH', 'SOLANA', 'STELLAR'], 'a fault of the nodes', () => {
  const sandbox = createSandbox({ chains: chainIds, onRealNodes: true });
  const customers = createCustomers(sandbox);
  const world = createRealWorld(sandbox);
  const rows: Row[] = [];
  before(() => sandbox.start());
  after(() => sandbox.destroy());
  after(() => showTable(rows));

  /**
   * On each route one payment is being paid out and one has just been paid when the fault occurs; another arrives after it.
   * All complete once.
   */
  async function survive(scenario: string, ids: readonly ChainId[], fault: () => Promise<void>): Promise<void> {
    const families = [...new Set(ids.map((id) => chainOf(id).family))];
    const affected = routes.filter((route) => route.every((id) => id === 8453 || ids.includes(id)));
    const since = customers.orders.length;
    const alarmsBefore = await alarms();
    const early = affected.map(([from, to]) => customers.newOrder(from, to));
    for (const order of early) await serve(order);
    await Promise.race(
      early.map(({ payment }) => sandbox.follow(payment.id, ({ status }) => status !== 'payment_unpaid')),
    );
    const late = affected.map(([from, to]) => customers.newOrder(from, to));
    for (const order of late) await serve(order);
    await fault();
    const began_ms = performance.now();
    await sandbox.until(async () => (await sandbox.operations('/readyz')).status === 200);
    const ready_s = (performance.now() - began_ms) / 1_000;
    for (const order of [...early, ...late]) await payAgainIfLost(order);
    for (const [from, to] of affected) await serve(customers.newOrder(from, to));
    await eachCompletesOnce(sandbox, customers, since);
    for (const { payment } of customers.orders.slice(since)) {
      const { source } = await sandbox.read(payment.id);
      assert.equal(source.amountReceived, source.amount, payment.id);
    }
    const raised = subtract(await alarms(), alarmsBefore);
    const payments = customers.orders.length - since;
    rows.push({ family: families.join(', '), scenario, payments, ready_s, alarms: raised.join(', ') || 'none' });
  }

  async function serve(order: Order): Promise<void> {
    await customers.create(order);
    await customers.pay(order);
  }

  async function setBack(blocks: number): Promise<void> {
    await world.setBack(8453, blocks);
    await world.setBack(1, blocks);
  }

  /** As a wallet does whose transaction a reorganisation has removed. */
  async function payAgainIfLost(order: Order): Promise<void> {
    if (chainOf(order.from).family !== 'evm') return;
    const receipt = await sandbox.rpc(order.from, 'eth_getTransactionReceipt', [order.payinHash]);
    if (receipt === null) order.payinHash = await sandbox.pay(order.payment);
  }

  /** Number of each alarm by reason, since the service's start. */
  async function alarms(): Promise<ReadonlyMap<string, number>> {
    const { body } = await sandbox.operations('/metrics');
    const lines = String(body).matchAll(/^pi_alarms_total\{reason="(\w+)"\} (\d+)$/gm);
    return new Map([...lines].map(([, reason = '', count]) => [reason, Number(count)]));
  }

  it('that restart: all chains at once', () =>
    survive('restarted', chainIds, () => world.restart(chainIds, 'SIGTERM')));

  it('that hang for 20 s: all chains at once', () =>
    survive('frozen for 20 s', chainIds, () => world.freeze(chainIds, 20_000)));

  it('that are killed: Solana and Stellar', () =>
    survive('killed', [501, 1500], () => world.restart([501, 1500], 'SIGKILL')));

  for (const blocks of [1, 2]) {
    it(`that go back by ${blocks}: both EVM chains`, () =>
      survive(`set back by ${blocks}`, [8453, 1], () => setBack(blocks)));
  }

  describe('of two on each chain', () => {
    const fronts = new Map<ChainId, NodeProxy>();
    const lagging = new Map<ChainId, WeatherNode>();
    const two = [8453, 501, 1500] as const;

    before(async () => {
      await sandbox.kill();
      const settings: Record<string, string> = {};
      for (const id of two) {
        const { family } = chainOf(id);
        const rpcUrl = sandbox.file().chains[String(id)]?.rpcUrl ?? '';
        const front = await startProxy(rpcUrl);
        const behind = await startWeatherNode({ rpcUrl: front.url, family });
        onStop(() => behind.stop());
        fronts.set(id, front);
        lagging.set(id, behind);
        settings[`RPC_URLS_${id}`] = `${behind.url},${rpcUrl}`;
        settings[`AGREE_${id}`] = '2';
      }
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    });

    it('of which the first is a minute behind', () =>
      survive('behind by a minute, one of two', two, async () => {
        for (const [id, node] of lagging) node.change({ lag: { blocks: Math.ceil(minute_ms / chainOf(id).block_ms) } });
        await sleep(behind_ms);
        for (const node of lagging.values()) node.change({ lag: null });
      }));

    it('of which the first reports a hundred times what is paid', () =>
      survive('lies about amounts, one of two', two, async () => {
        for (const [id, node] of fronts) node.behave(inflating[chainOf(id).family]);
        for (const id of [501, 1500] as const) await serve(customers.newOrder(id, 8453));
        await serve(customers.newOrder(8453, 501));
        await sandbox.until(async () => ((await alarms()).get('nodesDisagree') ?? 0) > 0);
        for (const node of fronts.values()) node.behave(honest);
      }));
  });

  describe('of any kind', () => {
    it('leaves every payment whole', async () => {
      const ids = customers.orders.map(({ payment }) => String(payment.id));
      await sandbox.kill();
      isWhole(await sandbox.history(), ids);
    });
  });
});

function subtract(after: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): readonly string[] {
  return [...after].flatMap(([reason, count]) => (count > (before.get(reason) ?? 0) ? [reason] : []));
}

function showTable(rows: readonly Row[]): void {
  process.stdout.write(`${inspect(rows.map((row) => ({ ...row, ready_s: Math.round(row.ready_s) })))}\n`);
  const file = process.env['REAL_CHAINS_TABLE'];
  if (file) writeFileSync(file, JSON.stringify(rows, null, 2));
}
