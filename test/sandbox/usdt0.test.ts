import assert from 'node:assert/strict';
import { erc20Abi } from 'viem';
import type { ChainId } from '../../domain/chains.ts';
import { layerZeroEndpoint, oftOn, sendableOn } from '../../domain/rebalance/usdt0.ts';
import { plantTokens } from '../../sandbox/tokens.ts';
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

  it('has locked USDT on Ethereum, which pays out messages from other chains', async () => {
    const { rpcUrl } = await isolatedAnvil(1);
    await plantTokens(rpcUrl, 1);
    const locked = () =>
      chainClient(rpcUrl).readContract({
        ...{ address: sendableOn(1)?.address as `0x${string}`, abi: erc20Abi, functionName: 'balanceOf' },
        args: [oftOn(1) as `0x${string}`],
      });
    for (let start = 0; start < 2; start += 1) {
      await openSandboxUsdt0(new Map([...urls, [1, rpcUrl]]), stop.signal);
      assert.equal(await locked(), 10_000_000_000_000n);
    }
  });
});
