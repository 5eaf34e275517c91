import assert from 'node:assert/strict';
import { encodeAbiParameters, encodeFunctionData } from 'viem';
import { plantCctp } from '../../../sandbox/cctp.ts';
import { messengerAbi } from '../../../src/chains/evm/cctp.ts';
import { defaultEvmChainConfig, type EvmChainConfig } from '../../../src/chains/evm/config.ts';
import { createEvmHealth } from '../../../src/chains/evm/health.ts';
import { createEvmRpc } from '../../../src/chains/evm/rpc.ts';
import type { WatchedNode } from '../../../src/chains/health.ts';
import { treasury } from '../../support/anvil.ts';
import { patience_ms } from '../../support/patience.ts';
import { type Behaviour, honest, type NodeProxy, Refusal, startProxy } from '../proxy.ts';
import { createWorld, signal, type World } from './world.ts';

describe('the health of an EVM chain’s node', () => {
  let world: World;
  let proxy: NodeProxy;
  before(async () => {
    world = await createWorld(8453);
    await world.mine(150);
    proxy = await startProxy(world.rpcUrl);
  });
  beforeEach(() => proxy.behave(honest));

  const node = (more: Partial<EvmChainConfig> = {}): WatchedNode => {
    const config = { ...defaultEvmChainConfig(8453, [proxy.url]), callTimeout_ms: patience_ms, ...more };
    const [only] = createEvmHealth(config, createEvmRpc(config)).nodes;
    assert.ok(only);
    return only;
  };
  /** @param call maps the first bytes of an `eth_call`'s data to its answer */
  const answering =
    (answers: Readonly<Record<string, unknown>>): Behaviour =>
    (method, params, forward) => {
      const [first] = params as [{ data?: string } | string | undefined];
      const key = method === 'eth_call' ? String((first as { data?: string }).data) : `${method} ${String(first)}`;
      if (!(key in answers)) return forward(method, params);
      const answer = answers[key];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
  const pace = { pace: true };

  it('has its network by the genesis block, its head, and its final block by the tag that the passes follow', async () => {
    const genesis = await world.client.getBlock({ blockNumber: 0n });
    assert.equal(await node().identity(signal), genesis.hash);
    const look = await node().look(signal);
    const finalized = await world.client.getBlock({ blockTag: 'finalized' });
    assert.equal(look.head.blockNumber, await world.client.getBlockNumber());
    assert.deepEqual(look.final, { blockNumber: finalized.number });
  });

  it('has the reason of a refusal, until the node is admitted again', async () => {
    const watched = node();
    assert.equal(watched.refused(), null);
    watched.refuse('it is of another network');
    assert.equal(watched.refused(), 'it is of another network');
    await assert.rejects(watched.look(signal), /unfit: it is of another network/);
    watched.refuse(null);
    assert.equal(watched.refused(), null);
  });

  it('has the reason why nothing is final: the tag is refused, or null', async () => {
    const key = 'eth_getBlockByNumber finalized';
    proxy.behave(answering({ [key]: new Refusal(-32_000, 'finality is not available') }));
    const refused = await node().look(signal);
    assert.ok(refused.final && 'why' in refused.final);
    assert.match(refused.final.why, /finality is not available/);
    proxy.behave(answering({ [key]: null }));
    const none = await node().look(signal);
    assert.deepEqual(none.final, { why: 'it has no block for the tag finalized' });
  });

  it('has no difference if tokens, deployer and pace are as the catalogue states', async () => {
    assert.deepEqual(await node().differences({ pace: false }, signal), []);
  });

  it('has the contracts that burn and mint, compared with those of the release', async () => {
    const said = async () => (await node().features(signal)).find(({ what }) => what === 'rebalances by CCTP');
    assert.match((await said())?.said ?? '', /^no contracts at 0x28b5a0e9\w+ and 0x81D40F21\w+: burn nothing here$/);
    await plantCctp(world.rpcUrl, 8453);
    assert.deepEqual(await said(), {
      ...{ what: 'rebalances by CCTP', fits: true },
      said: 'the contracts of this release, domain 6',
    });
    const otherMinter = encodeFunctionData({ abi: messengerAbi, functionName: 'localMinter' });
    proxy.behave(answering({ [otherMinter]: encodeAbiParameters([{ type: 'address' }], [treasury]) }));
    assert.match((await said())?.said ?? '', /^the chain has .*this release has .*burn nothing here$/);
  });

  it('has each difference, with the next step: decimals, symbol, deployer', async () => {
    proxy.behave(
      answering({
        '0x313ce567': encodeAbiParameters([{ type: 'uint8' }], [18]),
        '0x95d89b41': encodeAbiParameters([{ type: 'string' }], ['USDbC']),
        'eth_getCode 0x4e59b44847b379578588920cA78FbF26c0B4956C': '0x',
      }),
    );
    const found = await node().differences({ pace: false }, signal);
    assert.equal(found.length, 3);
    assert.match(found[0] ?? '', /has 18 decimals.*counts with 6.*RPC_URLS_8453 out/);
    assert.match(found[1] ?? '', /calls itself USDbC, not USDC/);
    assert.match(found[2] ?? '', /no deterministic deployer/);
  });

  it('has the pace of its blocks if it differs from the catalogue’s for hundreds of blocks', async () => {
    const block = async (number: string, time_s: number, forward: Parameters<Behaviour>[2]) => ({
      ...((await forward('eth_getBlockByNumber', ['latest', false])) as object),
      number,
      timestamp: `0x${time_s.toString(16)}`,
    });
    const paced =
      (thousand_s: number): Behaviour =>
      (method, params, forward) => {
        if (method !== 'eth_getBlockByNumber') return forward(method, params);
        return params[0] === 'latest'
          ? block('0x7d0', 1_000_000 + thousand_s, forward)
          : block('0x3e8', 1_000_000, forward);
      };
    proxy.behave(paced(9_000));
    const [found] = await node().differences(pace, signal);
    assert.match(found ?? '', /Base makes a block every 9000 ms.*CONFIRMATIONS_8453/);
  });

  it('is a failure only if nothing is known', async () => {
    proxy.behave(answering({ '0x313ce567': '0x', '0x95d89b41': '0x' }));
    assert.deepEqual(await node().differences({ pace: false }, signal), []);
    proxy.behave(() => Promise.reject(new Refusal(-32_000, 'busy')));
    await assert.rejects(node().differences({ pace: false }, signal), /busy/);
  });
});
