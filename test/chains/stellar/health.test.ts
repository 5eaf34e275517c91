import assert from 'node:assert/strict';
import { newestProtocol } from '../../../src/chains/stellar/config.ts';
import { createStellarHealth } from '../../../src/chains/stellar/health.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { startProxy } from '../proxy.ts';
import { type StellarWorld, signal, stellarWorld } from './world.ts';

describe('the health of a Stellar node', () => {
  const healthOf = (world: StellarWorld, url: string) => {
    const config = world.config([url]);
    return createStellarHealth(createStellarRpc(config), config);
  };

  it('has its passphrase and its newest ledger, which is final; and an unknown protocol', async () => {
    const world = await stellarWorld();
    const around = { protocolVersion: newestProtocol };
    const proxy = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getNetwork' ? { ...(answer as object), ...around } : answer;
    });
    const [node] = healthOf(world, proxy.url).nodes;
    assert.ok(node);
    assert.equal(await node.identity(signal), world.lab.passphrase);
    const look = await node.look(signal);
    const { blockNumber } = world.here();
    assert.deepEqual([look.head.blockNumber, look.final], [blockNumber, { blockNumber }]);
    assert.deepEqual(await node.differences({ pace: false }, signal), []);
    around.protocolVersion = newestProtocol + 1;
    const [found] = await node.differences({ pace: false }, signal);
    assert.match(found ?? '', /runs protocol \d+, and this release reads up to \d+.*Upgrade/);
    await world.lab.stop();
  });

  it('has also that it emits no classic events any more: its ledgers are useless then, and the alarm names the setting', async () => {
    const world = await stellarWorld();
    const proxy = await startProxy(world.stellar.rpcUrl);
    const [node] = healthOf(world, proxy.url).nodes;
    assert.ok(node);
    assert.ok('blockNumber' in ((await node.look(signal)).final ?? {}));
    proxy.behave(async (method, params, forward) => {
      const answer = (await forward(method, params)) as object;
      return method === 'getEvents' ? { ...answer, events: [] } : answer;
    });
    await world.send('1');
    const { head, final } = await node.look(signal);
    assert.equal(head.blockNumber, world.here().blockNumber);
    assert.ok(final && 'why' in final);
    assert.match(final.why, /CAP-67.*EMIT_UNIFIED_EVENTS/);
    world.stellar.closeLedgers(50);
    const { blockNumber } = world.here();
    assert.deepEqual((await node.look(signal)).final, { blockNumber });
    await world.lab.stop();
  });
});
