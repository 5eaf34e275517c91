import assert from 'node:assert/strict';
import { chains } from '../../../domain/chains.ts';
import { evmChainIds, feesOf } from '../../../src/chains/evm/config.ts';

describe('EVM settings', () => {
  it('exist for each EVM chain of the catalogue: without them it would not be served', () => {
    const inCatalogue = chains.flatMap(({ id, family }) => (family === 'evm' ? [id] : []));
    assert.deepEqual([...evmChainIds].sort(), inCatalogue.sort());
  });

  it('for gas belong to the operator: higher prices after a fork need no new release', () => {
    const { minTip_wei, gasUsual } = feesOf(8453, {});
    assert.deepEqual(feesOf(8453, { gasMax: 900_000n, gasPriceMax_gwei: 9n, tipMax_gwei: 1n }), {
      ...{ minTip_wei, gasUsual },
      gasMax: 900_000n,
      maxFeePerGas_wei: 9n * 10n ** 9n,
      maxTip_wei: 10n ** 9n,
    });
  });
});
