import assert from 'node:assert/strict';
import { chains } from '../../../domain/chains.ts';
import { evmChainIds } from '../../../src/chains/evm/config.ts';

describe('EVM settings', () => {
  it('are there for each EVM chain of the catalogue: without them it would not be served', () => {
    const inCatalogue = chains.flatMap(({ id, family }) => (family === 'evm' ? [id] : []));
    assert.deepEqual([...evmChainIds].sort(), inCatalogue.sort());
  });
});
