import assert from 'node:assert/strict';
import { createPublicClient } from 'viem';
import { localRpc } from '../../sandbox/localRpc.ts';
import { each, refusal, result, scriptedNode } from '../support/scriptedNode.ts';

const hash = `0x${'ab'.repeat(32)}` as const;

describe('the sandbox’s calls to a local EVM chain', () => {
  const read = (rpcUrl: string) =>
    createPublicClient({ transport: localRpc(rpcUrl) }).request({
      method: 'eth_getTransactionByHash',
      params: [hash],
    });

  it('are repeated while a node that has just started indexes its transactions', async () => {
    let asks = 0;
    const node = await scriptedNode(
      each((asked) => {
        asks += 1;
        return asks < 3 ? refusal(asked, -32000, 'transaction indexing is in progress') : result(asked, null);
      }),
    );
    assert.equal(await read(node.url), null);
    assert.equal(node.calls('eth_getTransactionByHash'), 3);
  });

  it('are not repeated after another refusal', async () => {
    const node = await scriptedNode(each((asked) => refusal(asked, -32000, 'nonce too low')));
    await assert.rejects(read(node.url), /nonce too low/);
    assert.equal(node.calls('eth_getTransactionByHash'), 1);
  });
});
