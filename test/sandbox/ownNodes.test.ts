/** The sandbox's service on a node that a developer runs and that gives it no money, or does not answer: it names what is missing. */
import assert from 'node:assert/strict';
import { privateKeyToAddress } from 'viem/accounts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { onStop } from '../support/hooks.ts';
import { createSandbox } from '../support/sandbox.ts';

describe('a sandbox on a node that gives it no money', () => {
  const sandbox = createSandbox({ chains: [8453] });
  after(() => sandbox.destroy());

  it('names the accounts to fund, and ends', async () => {
    const anvil = await startAnvil({ chainId: 8453, mining: 'instant' });
    onStop(() => anvil.stop());
    assert.equal(await sandbox.start({ RPC_URLS_8453: anvil.rpcUrl }), 'ended');
    const keys = keepKeys(sandbox.dataDir);
    for (const key of [keys.treasury, keys.customer]) assert.ok(sandbox.printed().includes(privateKeyToAddress(key)));
    assert.match(sandbox.printed(), /Base: the sandbox cannot prepare your node \(.+\)\. Send .* then start again/);
  });

  it('names the variable without a node', async () => {
    assert.equal(await sandbox.start({ RPC_URLS_8453: 'http://127.0.0.1:9' }), 'ended');
    assert.match(sandbox.printed(), /RPC_URLS_8453: no node of chain 8453 answers there/);
  });
});
