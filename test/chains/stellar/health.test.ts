import assert from 'node:assert/strict';
import { newestProtocol } from '../../../src/chains/stellar/config.ts';
import { createStellarHealth } from '../../../src/chains/stellar/health.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { startProxy } from '../proxy.ts';
import { signal, stellarWorld } from './world.ts';

describe('what is told of a Stellar node', () => {
  it('is its passphrase and its newest ledger, which is final; and a protocol that this release does not know', async () => {
    const world = await stellarWorld();
    const around = { protocolVersion: newestProtocol };
    const proxy = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getNetwork' ? { ...(answer as object), ...around } : answer;
    });
    const [node] = createStellarHealth(createStellarRpc(world.config([proxy.url]))).nodes;
    assert.ok(node);
    assert.equal(await node.identity(signal), world.lab.passphrase);
    const look = await node.look(signal);
    assert.deepEqual([look.head.blockNumber, look.final], [world.here().blockNumber, null]);
    assert.deepEqual(await node.differences({ pace: false }, signal), []);
    around.protocolVersion = newestProtocol + 1;
    const [found] = await node.differences({ pace: false }, signal);
    assert.match(found ?? '', /runs protocol \d+, and this release reads up to \d+.*Upgrade/);
    await world.lab.stop();
  });
});
