import assert from 'node:assert/strict';
import fc from 'fast-check';
import { priceFor, priceToReplace, usualCost } from '../../../../src/chains/evm/payouts/preflight.ts';
import { PayoutBlocked } from '../../../../src/chains/ports.ts';

const limits = { maxFeePerGas_wei: 100n, minTip_wei: 2n, gasUsual: 10n, gasMax: 1n };
const open = { ...limits, maxFeePerGas_wei: 10n ** 30n };
const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });

describe('EVM fees', () => {
  it('leave headroom over the base fee, tip at least the chain’s minimum', () => {
    assert.deepEqual(priceFor(10n, 3n, limits), { maxFeePerGas: 23n, maxPriorityFeePerGas: 3n });
    assert.deepEqual(priceFor(10n, 0n, limits), { maxFeePerGas: 22n, maxPriorityFeePerGas: 2n });
  });

  it('end at the configured maximum, and block above it', () => {
    assert.deepEqual(priceFor(80n, 20n, limits), { maxFeePerGas: 100n, maxPriorityFeePerGas: 20n });
    assert.throws(() => priceFor(81n, 20n, limits), PayoutBlocked);
    const replaced = { fee: { maxFeePerGas: '89', maxPriorityFeePerGas: '1' } };
    assert.throws(() => priceToReplace(replaced, priceFor(1n, 0n, limits), limits), PayoutBlocked);
  });

  it('of a payout are told at twice the base fee, and never above the maximum, beyond which none is signed', () => {
    assert.equal(usualCost(10n, 3n, limits), 10n * 23n);
    assert.equal(usualCost(10n, 0n, limits), 10n * 22n);
    assert.equal(usualCost(1_000n, 3n, limits), 10n * 100n);
  });

  it('of a replacement rise by an eighth or more on both caps, and are never below today’s', () => {
    fc.assert(
      fc.property(wei, wei, wei, wei, (maxFeePerGas, tip, baseFee, freshTip) => {
        const fee = { maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(tip) };
        const fresh = priceFor(baseFee, freshTip, open);
        const price = priceToReplace({ fee }, fresh, open);
        assert.ok(price.maxFeePerGas * 8n >= maxFeePerGas * 9n && price.maxPriorityFeePerGas * 8n >= tip * 9n);
        assert.ok(price.maxFeePerGas >= fresh.maxFeePerGas && price.maxPriorityFeePerGas >= fresh.maxPriorityFeePerGas);
      }),
    );
  });

  it('of a replacement never let the tip pass the whole', () => {
    fc.assert(
      fc.property(wei, wei, wei, wei, (a, b, baseFee, tip) => {
        const [most, least] = a > b ? [a, b] : [b, a];
        const fee = { maxFeePerGas: String(most), maxPriorityFeePerGas: String(least) };
        const price = priceToReplace({ fee }, priceFor(baseFee, tip, open), open);
        assert.ok(price.maxPriorityFeePerGas <= price.maxFeePerGas);
      }),
    );
  });
});
