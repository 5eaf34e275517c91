/** Faults of real nodes of all families at once while payments are under way: each payment completes once. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { startWeatherNode, type WeatherNode } from '../../sandbox/weather/proxy.ts';
import { honest, type NodeProxy, startProxy } from '../chains/proxy.ts';
import { onStop } from '../support/hooks.ts';
import { inflating } from '../support/lies.ts';
import { describeOnReal } from '../support/realNodes.ts';
import { createRealWorld } from '../support/realWorld.ts';
import { createSandbox } from '../support/sandbox.ts';
import { gateCases } from '../support/suite.ts';
import { createFaultTrials, type Route } from './faultTrials.ts';

/** A second EVM chain has the code of the first one: in the gate, reorganizations.test.ts pays from one EVM chain to another. */
const chainIds = gateCases([8453, 1, 501, 1500] as const, (id) => id !== 1);
/** Each family pays in and is paid out to. */
const allRoutes: readonly Route[] = [
  [8453, 1],
  [8453, 501],
  [501, 1500],
  [1500, 8453],
];
const routes = allRoutes.filter((route) => route.every((id) => chainIds.some((each) => each === id)));
/** At the pace of the nodes that the specs start. */
const blocksPerMinute = { evm: 60, solana: 300, stellar: 60 } as const;
/** How long the late node stays behind while payments arrive. */
const behind_ms = 10_000;

describeOnReal(['GETH', 'SOLANA', 'STELLAR'], 'a fault of the nodes', () => {
  const sandbox = createSandbox({ chains: chainIds, onRealNodes: true });
  const world = createRealWorld(sandbox);
  const { customers, serve, alarms, survive, allAreWhole } = createFaultTrials(sandbox, routes);
  before(async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());

  it('restarting: all chains at once', () => survive('restarted', chainIds, () => world.restart(chainIds, 'SIGTERM')));

  it('hanging for 20 s: all chains at once', () =>
    survive('frozen for 20 s', chainIds, () => world.freeze(chainIds, 20_000)));

  it('killed: Solana and Stellar', () => survive('killed', [501, 1500], () => world.restart([501, 1500], 'SIGKILL')));

  describe('with two on each chain', () => {
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

    it('with the first a minute behind', () =>
      survive('behind by a minute, one of two', two, async () => {
        for (const [id, node] of lagging) node.change({ lag: { blocks: blocksPerMinute[chainOf(id).family] } });
        await sleep(behind_ms);
        for (const node of lagging.values()) node.change({ lag: null });
      }));

    it('with the first reporting a hundred times the paid amount', () =>
      survive('lies about amounts, one of two', two, async () => {
        for (const [id, node] of fronts) node.behave(inflating[chainOf(id).family]);
        await serve(...routes.filter((route) => !route.includes(1)).map(([from, to]) => customers.newOrder(from, to)));
        await sandbox.until(async () => ((await alarms()).get('nodesDisagree') ?? 0) > 0);
        for (const node of fronts.values()) node.behave(honest);
      }));
  });

  describe('in any form', () => {
    it('leaves every payment whole', allAreWhole);
  });
});
