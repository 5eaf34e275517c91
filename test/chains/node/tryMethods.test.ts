/** `doctor` and `check-chain` report a node's missing method to an operator, before a payer meets it. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { tryMethods } from '../../../src/chains/health.ts';
import { RpcFailed } from '../../../src/chains/node/jsonRpc.ts';
import { nodeOf } from '../../support/chainNode.ts';

const noTransaction = { method: 'sendTransaction', params: ['AAAA'], refusedAnyway: true } as const;
const fees = { method: 'getFeeStats', params: {} };

describe('the methods that the service calls', () => {
  const nodeRefusing = (refusals: Readonly<Record<string, readonly [code: number, words: string]>>) =>
    nodeOf(async (method) => {
      const [code, words] = refusals[method] ?? [];
      if (words !== undefined) throw new RpcFailed('node 1', method, 'refused', words, code);
      return '0x1';
    });

  it('are served: an invalid transaction is refused, which proves that its method exists', async () => {
    const node = nodeRefusing({ sendTransaction: [-32_602, 'invalid transaction'] });
    assert.equal(await tryMethods(node, [fees, noTransaction]), 'all 2');
  });

  it('are lacking, each with the node’s answer', async () => {
    const node = nodeRefusing({
      getFeeStats: [-32_602, 'no parameters accepted'],
      sendTransaction: [-32_601, 'method not found'],
    });
    await assert.rejects(tryMethods(node, [fees, noTransaction]), {
      name: 'RpcFailed',
      method: 'getFeeStats',
      message: /getFeeStats refused: no parameters accepted; sendTransaction refused: method not found$/,
    });
  });

  /** Methods that make something cheaper or faster, or find tokens of no payin: the service works without them. */
  const optional: Readonly<Record<string, readonly string[]>> = {
    evm: ['eth_feeHistory', 'eth_getBlockReceipts', 'eth_getTransactionBySenderAndNonce', 'eth_subscribe'],
    solana: ['getTokenAccountsByOwner', 'programSubscribe', 'slotSubscribe'],
    stellar: [],
  };
  /** Separate features try these methods. */
  const triedByFeature: Readonly<Record<string, readonly string[]>> = {
    evm: ['eth_getLogs'],
    solana: ['getBlock', 'getBlocks'],
    stellar: ['getEvents', 'getTransactions'],
  };

  for (const family of ['evm', 'solana', 'stellar'] as const) {
    it(`are all tried on ${family}`, () => {
      const sources = globSync(`src/chains/${family}/**/*.ts`).map((file) => readFileSync(file, 'utf8'));
      const calls = /(?:(?:ask|askEach|request)\(\s*(?:\w+,\s*)?|method: |const method = )'((?:eth_)?[a-z]\w+)'/g;
      const called = new Set(sources.flatMap((text) => [...text.matchAll(calls)].map(([, name]) => name ?? '')));
      const health = readFileSync(`src/chains/${family}/health.ts`, 'utf8');
      const tried = new Set([...health.matchAll(/\{ method: '(\w+)'/g)].map(([, name]) => name ?? ''));
      const known = new Set([...tried, ...(optional[family] ?? []), ...(triedByFeature[family] ?? [])]);
      assert.ok(called.size > 5, [...called].join());
      assert.deepEqual(
        [...called].filter((method) => !known.has(method)),
        [],
      );
      assert.deepEqual(
        [...known].filter((method) => !called.has(method)),
        [],
      );
    });
  }
});
