import assert from 'node:assert/strict';
import { startAnvil } from '../../sandbox/anvil.ts';
import { isFromHere } from '../../sandbox/fromHere.ts';
import { stellarLab } from '../support/stellar.ts';

const from = (host: string, origin?: string) => isFromHere({ headers: { host, ...(origin && { origin }) } });
const page = { Origin: 'https://stranger.example', 'Content-Type': 'text/plain' };

describe('the sandbox', () => {
  it('listens to programs and pages of this machine alone', () => {
    for (const here of ['127.0.0.1:8545', 'localhost:1', '[::1]:8']) assert.ok(from(here));
    assert.ok(from('127.0.0.1:8545', 'http://localhost:3000'));
    assert.ok(!from('127.0.0.1:8545', 'https://stranger.example'));
    assert.ok(!from('127.0.0.1:8545', 'http://127.0.0.1.stranger.example'));
    assert.ok(!from('127.0.0.1:8545', 'null'));
    assert.ok(!from('rebound.example:8545'));
  });

  it('has a Stellar that does nothing for a page of the internet', async () => {
    const lab = await stellarLab({});
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' });
    const ask = (headers: Record<string, string>) => fetch(lab.stellar.rpcUrl, { method: 'POST', headers, body });
    try {
      assert.equal((await ask({ 'Content-Type': 'application/json' })).status, 200);
      assert.equal((await ask(page)).status, 403);
    } finally {
      await lab.stop();
    }
  });

  it('has EVM chains that allow no page of the internet to read or to send JSON', async () => {
    const anvil = await startAnvil({ chainId: 8453, mining: 'manual' });
    try {
      const asked = { method: 'OPTIONS', headers: { ...page, 'Access-Control-Request-Method': 'POST' } };
      const answer = await fetch(anvil.rpcUrl, asked);
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
      const simple = await fetch(anvil.rpcUrl, { method: 'POST', headers: page, body });
      assert.ok(!(await simple.text()).includes('0x2105'), 'a request without preflight is not carried out');
    } finally {
      await anvil.stop();
    }
  });
});
