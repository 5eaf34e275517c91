import assert from 'node:assert/strict';
import type { ChainId } from '../../domain/chains.ts';
import { layerZeroEndpoint, oftOn } from '../../domain/rebalance/usdt0.ts';
import { openSandboxUsdt0 } from '../../sandbox/usdt0.ts';
import { type ChainClient, chainClient, isolatedAnvil } from '../support/anvil.ts';

describe('USDT0 in a sandbox', () => {
  const clients = new Map<ChainId, ChainClient>();
  const urls = new Map<ChainId, string>();
  const stop = new AbortController();
  after(() => stop.abort());
  before(async () => {
    for (const chainId of [42161, 137, 56] as const) {
      const { rpcUrl } = await isolatedAnvil(chainId);
      urls.set(chainId, rpcUrl);
      clients.set(chainId, chainClient(rpcUrl));
    }
  });
  const codeOn = (chainId: ChainId, address: string) =>
    clients.get(chainId)?.getCode({ address: address as `0x${string}` });

  it('is absent from a sandbox with fewer than two of its chains', async () => {
    const one = new Map([...urls].filter(([chainId]) => chainId !== 137));
    assert.deepEqual(await openSandboxUsdt0(one, stop.signal), {});
    assert.equal(await codeOn(42161, oftOn(42161)), undefined);
  });

  it('is at its real addresses on the chains that it serves, also after a restart', async () => {
    assert.deepEqual(await openSandboxUsdt0(urls, stop.signal), { USDT0_REBALANCES: 'on' });
    const planted = await codeOn(42161, oftOn(42161));
    assert.ok(planted && (await codeOn(137, oftOn(137))) && (await codeOn(137, layerZeroEndpoint)));
    assert.equal(await codeOn(56, layerZeroEndpoint), undefined);
    assert.deepEqual(await openSandboxUsdt0(urls, stop.signal), { USDT0_REBALANCES: 'on' });
    assert.equal(await codeOn(42161, oftOn(42161)), planted);
  });
});
