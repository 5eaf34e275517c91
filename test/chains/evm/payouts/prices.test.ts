import assert from 'node:assert/strict';
import fc from 'fast-check';
import { numberToHex } from 'viem';
import { createPrices, priceFor, priceToReplace, usualCost } from '../../../../src/chains/evm/payouts/prices.ts';
import { createEvmRpc } from '../../../../src/chains/evm/rpc.ts';
import { PayoutBlocked } from '../../../../src/chains/ports.ts';
import { sharedAnvil } from '../../../support/anvil.ts';
import { patience_ms } from '../../../support/patience.ts';
import { type Behaviour, Refusal, startProxy } from '../../proxy.ts';
import { evmConfig } from '../world.ts';

const limits = { maxFeePerGas_wei: 100n, minTip_wei: 2n, maxTip_wei: 30n, gasUsual: 10n, gasMax: 1n };
const open = { ...limits, maxFeePerGas_wei: 10n ** 30n, maxTip_wei: 10n ** 30n };
const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });

describe('EVM fees', () => {
  it('leave headroom over the base fee, tip at least the chain’s minimum', () => {
    assert.deepEqual(priceFor(10n, 3n, limits), { maxFeePerGas: 23n, maxPriorityFeePerGas: 3n });
    assert.deepEqual(priceFor(10n, 0n, limits), { maxFeePerGas: 22n, maxPriorityFeePerGas: 2n });
    assert.deepEqual(priceFor(10n, 99n, limits), { maxFeePerGas: 50n, maxPriorityFeePerGas: 30n });
  });

  it('end at the configured maximum, and block above it', () => {
    assert.deepEqual(priceFor(80n, 20n, limits), { maxFeePerGas: 100n, maxPriorityFeePerGas: 20n });
    assert.throws(() => priceFor(81n, 20n, limits), PayoutBlocked);
    const replaced = { fee: { maxFeePerGas: '89', maxPriorityFeePerGas: '1' } };
    assert.throws(() => priceToReplace(replaced, priceFor(1n, 0n, limits), limits), PayoutBlocked);
  });

  it('for a payout are estimated at twice the base fee, and never above the maximum, beyond which none is signed', () => {
    assert.equal(usualCost(10n, 10n, 3n, limits), 10n * 23n);
    assert.equal(usualCost(10n, 10n, 0n, limits), 10n * 22n);
    assert.equal(usualCost(10n, 1_000n, 3n, limits), 10n * 100n);
  });

  it('for a replacement rise by an eighth or more on both caps, and are never below today’s', () => {
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

  it('for a replacement rise on both caps even from nothing: geth keeps a transaction whose tip does not rise', () => {
    const free = { ...open, minTip_wei: 0n };
    const price = priceToReplace(
      { fee: { maxFeePerGas: '0', maxPriorityFeePerGas: '0' } },
      priceFor(0n, 0n, free),
      free,
    );
    assert.deepEqual(price, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
  });

  it('for a replacement never let the tip exceed the whole', () => {
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

describe('the tip of a payout', () => {
  const gwei = 10n ** 9n;
  /** Suggestions of the chain's nodes in gwei; null for a node without one. */
  async function tipOf(suggested: readonly (bigint | null)[]) {
    const { rpcUrl } = await sharedAnvil(1);
    const nodes = await Promise.all(suggested.map((tip) => startProxy(rpcUrl, suggesting(tip))));
    const rpc = createEvmRpc({
      ...evmConfig(
        1,
        nodes.map(({ url }) => url),
      ),
      callTimeout_ms: patience_ms,
    });
    const prices = createPrices(rpc);
    const ask = async () => (await rpc.answer(prices)).tip_wei / gwei;
    return { nodes, ask };
  }

  const suggesting =
    (tip: bigint | null): Behaviour =>
    (method, params, forward) => {
      if (method !== 'eth_maxPriorityFeePerGas') return forward(method, params);
      if (tip === null) throw new Refusal(-32601, 'the method eth_maxPriorityFeePerGas does not exist');
      return Promise.resolve(numberToHex(tip * gwei));
    };

  for (const [suggested, taken] of [
    [[100n, 1n], 1n],
    [[1n, 100n], 1n],
    [[100n, 1n, 2n], 2n],
    [[3n], 3n],
    [[null, 4n], 4n],
  ] as const) {
    it(`is ${taken} gwei where nodes suggest ${suggested.join(' and ')}: never one node’s answer alone`, async () => {
      assert.equal(await (await tipOf(suggested)).ask(), taken);
    });
  }

  it('is queried at intervals, not for every payout', async () => {
    const { nodes, ask } = await tipOf([1n, 2n]);
    for (const _ of [1, 2, 3]) await ask();
    assert.deepEqual(
      nodes.map(({ calls }) => calls.get('eth_maxPriorityFeePerGas')),
      [1, 1],
    );
  });
});
