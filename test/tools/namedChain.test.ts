import assert from 'node:assert/strict';
import { chainIdOf, chainNames, namedChain } from '../../tools/program.ts';

describe('a chain on a command line', () => {
  for (const [stated, id] of [
    ['8453', 8453],
    ['base', 8453],
    ['Base', 8453],
    [' ARBITRUM ', 42161],
    ['bnb', 56],
    ['BNB Chain', 56],
    ['solana', 501],
    ['900', 501],
    ['stel', 1500],
  ] as const)
    it(`is ${id} for “${stated}”`, () => assert.equal(namedChain(stated)?.id, id));

  for (const stated of ['', ' ', 's', 'bitcoin', '84530'])
    it(`is none for “${stated}”`, () => assert.equal(namedChain(stated), undefined));

  it('is passed on by its id, and as it was typed if it is none', () =>
    assert.deepEqual(['ethereum', '8453', 'bitcoin'].map(chainIdOf), ['1', '8453', 'bitcoin']));

  it('is one of those that a message names', () => assert.match(chainNames(), /Base \(8453\).*Stellar \(1500\)/));
});
