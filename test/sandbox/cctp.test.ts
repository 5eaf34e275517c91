import assert from 'node:assert/strict';
import type { ChainId } from '../../domain/chains.ts';
import { cctpContracts } from '../../domain/rebalance/cctp.ts';
import { openSandboxCctp } from '../../sandbox/cctp.ts';
import { type ChainClient, chainClient, isolatedAnvil } from '../support/anvil.ts';

describe('the protocol of rebalances in a sandbox', () => {
  const clients = new Map<ChainId, ChainClient>();
  const urls = new Map<ChainId, string>();
  let url = '';
  before(async () => {
    for (const chainId of [8453, 137, 56] as const) {
      const { rpcUrl } = await isolatedAnvil(chainId);
      urls.set(chainId, rpcUrl);
      clients.set(chainId, chainClient(rpcUrl));
    }
    url = (await openSandboxCctp(urls))['CCTP_ATTESTATIONS_URL'] ?? '';
  });
  const codeOn = (chainId: ChainId) =>
    clients.get(chainId)?.getCode({ address: cctpContracts.messenger as `0x${string}` });
  const weather = async (method: string, changes = '') => {
    const response = await fetch(`${url}/weather${changes}`, { method });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('is at its real addresses on the chains that it serves, also after a restart', async () => {
    const planted = await codeOn(8453);
    assert.ok(planted && (await codeOn(137)));
    assert.equal(await codeOn(56), undefined);
    assert.deepEqual(Object.keys(await openSandboxCctp(urls)), ['CCTP_ATTESTATIONS_URL']);
    assert.equal(await codeOn(8453), planted);
  });

  it('is absent from a sandbox with fewer than two of its chains', async () => {
    const one = new Map([...urls].filter(([chainId]) => chainId !== 137));
    assert.deepEqual(await openSandboxCctp(one), {});
  });

  it('has weather that a user changes while it runs', async () => {
    const fees = () => fetch(`${url}/v2/burn/USDC/fees/6/7`);
    assert.equal((await fees()).status, 200);
    const changed = await weather('POST', '?outage=true&fastFee_bps=3&expiresIn=20&pending=amount_above_max');
    assert.equal(changed.status, 200);
    assert.equal((await fees()).status, 503);
    const { body } = await weather('GET');
    assert.deepEqual(body, {
      ...{ outage: true, tooMany: false, unseen: false, wrongNonce: false, pending: 'amount_above_max' },
      ...{ fastFee_bps: '3', expiresIn: '20' },
    });
    await weather('POST', '?outage=false&expiresIn=&pending=');
    assert.equal((await fees()).status, 200);
    for (const wrong of ['?outage=maybe', '?fastFee_bps=-1', '?forge=1'])
      assert.equal((await weather('POST', wrong)).status, 400);
  });
});
