import assert from 'node:assert/strict';
import { RpcFailed } from '../../../src/chains/node/jsonRpc.ts';
import { defaultSolanaConfig } from '../../../src/chains/solana/config.ts';
import { accountsOf, accountsPerCall } from '../../../src/chains/solana/reads.ts';
import { createSolanaRpc } from '../../../src/chains/solana/rpc.ts';
import { nodeOf } from '../../support/chainNode.ts';
import { patience_ms } from '../../support/patience.ts';
import { each, refusal, scriptedNode } from '../../support/scriptedNode.ts';

const asOf = { commitment: 'finalized' } as const;
const addresses = (count: number) => Array.from({ length: count }, (_, at) => `account ${at}`);

describe('many accounts of Solana', () => {
  it('are read in as many calls as the node needs, as of the oldest answer, and its limit is remembered', async () => {
    for (const [most, words] of [
      [5, 'Too many inputs provided; max 5'],
      [25, 'getMultipleAccounts: too many inputs'],
    ] as const) {
      const { node, asked } = taking(most, words);
      const { accounts, slot } = await accountsOf(node, addresses(accountsPerCall), asOf);
      assert.deepEqual(
        accounts.map((account) => account?.lamports),
        addresses(accountsPerCall).map((_, at) => BigInt(at)),
      );
      assert.equal(slot, 100n);
      const before = asked();
      await accountsOf(node, addresses(accountsPerCall), asOf);
      assert.equal(asked() - before, accountsPerCall / most);
    }
  });

  it('are not requested in ever smaller parts when the node refuses for another reason', async () => {
    let asked = 0;
    const node = nodeOf(async (method) => {
      asked += 1;
      throw new RpcFailed('node 1', method, 'refused', 'Invalid param: WrongSize', -32602);
    });
    await assert.rejects(accountsOf(node, addresses(10), asOf), /WrongSize/);
    assert.equal(asked, 1);
  });
});

describe('a Solana node', () => {
  it('without a history of transactions is named at the start', async () => {
    const node = await scriptedNode(
      each((asked) => {
        if (asked.method !== 'getMultipleAccounts')
          return refusal(asked, -32011, 'Transaction history is not available from this node');
        const data = [Buffer.alloc(82).fill(6, 44, 45).fill(1, 45, 46).toString('base64'), 'base64'];
        const owner = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
        const value = (asked.params[0] as readonly string[]).map(() => ({
          owner,
          lamports: 1,
          executable: false,
          data,
        }));
        return { id: asked.id, result: { context: { slot: 1 }, value } };
      }),
    );
    const rpc = createSolanaRpc(defaultSolanaConfig({ rpcUrls: [node.url], treasury: 'nobody' }));
    const [said] = await rpc.unfit(AbortSignal.timeout(patience_ms));
    assert.match(
      said ?? '',
      /^RPC_URLS_501: node 1 .*: getSignatureStatuses unfit: it keeps no history.*use another node$/,
    );
  });
});

/** A node that reports a later slot to each later call. */
function taking(most: number, words: string) {
  let asked = 0;
  const node = nodeOf(async (method, params) => {
    const [wanted] = params as readonly [readonly string[]];
    if (wanted.length > most) throw new RpcFailed('node 1', method, 'refused', words, -32602);
    const slot = 100 + asked;
    asked += 1;
    const value = wanted.map((address) => ({
      owner: 'nobody',
      lamports: Number(address.split(' ')[1]),
      executable: false,
      data: ['', 'base64'],
    }));
    return { context: { slot }, value };
  });
  return { node, asked: () => asked };
}
