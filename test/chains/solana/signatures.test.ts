import assert from 'node:assert/strict';
import { RpcFailed } from '../../../src/chains/node/jsonRpc.ts';
import { signaturesOf } from '../../../src/chains/solana/landed.ts';
import { nodeOf } from '../../support/chainNode.ts';

const asOf = { commitment: 'confirmed' } as const;
const listed = [{ signature: 'newest', slot: 7, err: null }];

/** A node like Agave since 4.2: it refuses bounds that its chain does not contain. */
const knowing = (known: readonly string[]) =>
  nodeOf(async (method, params) => {
    const { until, before } = (params as readonly Record<string, string | undefined>[])[1] ?? {};
    const missing = [before, until].find((bound) => bound !== undefined && !known.includes(bound));
    if (missing === undefined) return until === undefined ? listed : [];
    throw new RpcFailed('node 1', method, 'refused', `Transaction ${missing} not found`, -32020);
  });

describe('the transactions of an account on Solana', () => {
  it('are listed from the beginning when the transaction that they were read to has left the chain', async () => {
    const seen = await signaturesOf(knowing([]), 'account', { until: 'gone', before: null }, asOf);
    assert.deepEqual(seen, [{ signature: 'newest', slot: 7n, failed: false }]);
  });

  it('are listed up to a transaction that the node has', async () => {
    assert.deepEqual(await signaturesOf(knowing(['read']), 'account', { until: 'read', before: null }, asOf), []);
  });

  it('are not listed before a transaction that has left the chain meanwhile', async () => {
    for (const until of [null, 'read', 'gone']) {
      const page = signaturesOf(knowing(['read']), 'account', { until, before: 'left' }, asOf);
      await assert.rejects(page, /Transaction left not found/);
    }
  });
});
