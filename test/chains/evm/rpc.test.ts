import assert from 'node:assert/strict';
import { createLines } from '../../../src/chains/node/limiter.ts';
import { openChains } from '../../../src/chains/open.ts';
import { treasury } from '../../support/anvil.ts';
import { patience_ms } from '../../support/patience.ts';
import { freeCoin } from '../../support/payoutCosts.ts';
import {
  type AskedCall,
  each,
  type Reply,
  refusal,
  result,
  type ScriptedNode,
  scriptedNode,
} from '../../support/scriptedNode.ts';

const base = 8453;
const numbers: Readonly<Record<string, string>> = { eth_chainId: '0x2105', eth_blockNumber: '0x64' };
/** A node that answers the calls of a start, and answers for logs as the spec defines. */
const node = (logs: (asked: AskedCall, number: number) => unknown): Promise<ScriptedNode> => {
  let searches = 0;
  return scriptedNode(
    each((asked) => {
      if (asked.method !== 'eth_getLogs') return result(asked, numbers[asked.method]);
      searches += 1;
      return logs(asked, searches);
    }),
  );
};
const good = () => node((asked) => result(asked, []));

describe('a start with EVM nodes', () => {
  it('reports nothing about nodes that serve the chain and its logs', async () => {
    assert.deepEqual(await misfits([await good(), await good()]), []);
  });

  const unfit: readonly (readonly [string, () => Promise<ScriptedNode>, RegExp])[] = [
    [
      'refuses searches for logs with the words of a limit, as bsc-dataseed does',
      () => node((asked) => refusal(asked, -32005, 'limit exceeded')),
      /eth_getLogs unfit: it refuses searches for logs, even of one block \("limit exceeded"\).*use another node/,
    ],
    [
      'knows no such method',
      () => node((asked) => refusal(asked, -32601, 'the method eth_getLogs does not exist/is not available')),
      /even of one block \("the method eth_getLogs does not exist/,
    ],
    [
      'serves another chain',
      () => scriptedNode(each((asked) => result(asked, '0x38'))),
      /eth_chainId unfit: serves chain 56, configured for 8453/,
    ],
  ];
  for (const [what, start, sentence] of unfit) {
    it(`names a node by its number that ${what}`, async () => {
      const [said, ...others] = await misfits([await good(), await start()]);
      assert.match(said ?? '', /^RPC_URLS_8453: node 2 \(127\.0\.0\.1:\d+\): /);
      assert.match(said ?? '', sentence);
      assert.doesNotMatch(said ?? '', /secret-key/);
      assert.deepEqual(others, []);
    });
  }

  const fit: readonly (readonly [string, () => Promise<ScriptedNode>])[] = [
    [
      'is limited at the moment',
      () => scriptedNode(() => ({ status: 429, headers: { 'retry-after': '60' }, body: '' })),
    ],
    ['is away', () => scriptedNode(() => 'hangUp')],
    [
      'refuses one search and takes the next',
      () => node((asked, number) => (number === 1 ? refusal(asked, -32005, 'limit exceeded') : result(asked, []))),
    ],
    ['has pruned its logs', () => node((asked) => refusal(asked, -32000, 'pruned history unavailable'))],
    ['answers nonsense', () => scriptedNode((() => ({ body: '<html>' })) satisfies Reply)],
  ];
  for (const [what, start] of fit) {
    it(`begins with a node that ${what}`, async () => {
      assert.deepEqual(await misfits([await good(), await start()]), []);
    });
  }
});

async function misfits(nodes: readonly ScriptedNode[]): Promise<readonly string[]> {
  const rpcUrls = nodes.map(({ url }) => `${url}/secret-key`);
  const setting = { chainId: base, rpcUrls, agree: { usual: 1, large: 1 }, coin: freeCoin(18) } as const;
  const treasuries = { evm: { address: treasury, key: null, relay: null }, solana: null, stellar: null };
  const nobody = async () => [];
  const needs = { lines: createLines(), takeOwners: nobody, watch: () => ({ open: nobody, late: nobody }) };
  return openChains({ chains: [setting], treasuries }, needs).misfits(AbortSignal.timeout(patience_ms));
}
