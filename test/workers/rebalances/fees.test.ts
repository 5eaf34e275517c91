import assert from 'node:assert/strict';
import type { ChainId } from '../../../domain/chains.ts';
import { messageFeeLimit } from '../../../domain/rebalance/usdt0.ts';
import { AttestationsUnavailable } from '../../../src/chains/attestations.ts';
import { ChainUnavailable } from '../../../src/chains/node/nodes.ts';
import { cctpFees, usdt0Fees } from '../../../src/workers/rebalances/fees.ts';
import { treasuryAccount } from '../../support/payments.ts';

const { signal } = new AbortController();
const routes = (['42161 1', '137 1', '1 42161'] as const).map((text) => {
  const [from, to] = text.split(' ').map(Number) as [ChainId, ChainId];
  return { from, to };
});

describe('fees of USDT0 as the policy compares them', () => {
  const ether = { price_microUsd: 4_000_000_000n, decimals: 18 };
  const pol = { price_microUsd: 500_000n, decimals: 18 };
  const quotes = new Map<number, bigint | Error>();
  const asked: unknown[] = [];
  const deps = {
    oftOn: (chainId: ChainId) => ({
      async quote(sending: { readonly to: number; readonly recipient: string; readonly amount: bigint }) {
        asked.push([chainId, sending.to, sending.recipient]);
        const quoted = quotes.get(chainId) ?? 0n;
        if (quoted instanceof Error) throw quoted;
        return quoted;
      },
    }),
    accountOn: () => treasuryAccount,
    coinOn: (chainId: ChainId) => (chainId === 137 ? pol : ether),
  };
  beforeEach(() => {
    asked.length = 0;
    quotes.clear();
    quotes
      .set(42161, 10n ** 15n)
      .set(137, 4n * 10n ** 18n)
      .set(1, 5n * 10n ** 14n);
  });

  it('are dollars of each chain’s coin, and the coin of an order with a quarter more', async () => {
    const { feeOf, messageFeeOf } = await usdt0Fees(deps)(routes, signal);
    assert.deepEqual(
      routes.map(({ from, to }) => feeOf(from, to, 'message')),
      [4_000_000, 2_000_000, 2_000_000],
    );
    assert.equal(messageFeeOf?.(42161, 1), (5n * 10n ** 15n) / 4n);
    assert.deepEqual(asked[0], [42161, 1, treasuryAccount]);
    assert.deepEqual(
      [feeOf(42161, 1, 2_000), feeOf(42161, 137, 'message'), messageFeeOf?.(137, 42161)],
      [undefined, undefined, undefined],
    );
  });

  it('are unknown above the signer’s limit, and never above it with the margin', async () => {
    const limit = messageFeeLimit(42161);
    quotes.set(42161, limit);
    assert.equal((await usdt0Fees(deps)(routes, signal)).messageFeeOf?.(42161, 1), limit);
    quotes.set(42161, limit + 1n);
    const { feeOf, messageFeeOf } = await usdt0Fees(deps)(routes, signal);
    assert.deepEqual([feeOf(42161, 1, 'message'), messageFeeOf?.(42161, 1)], [undefined, undefined]);
    assert.equal(feeOf(137, 1, 'message'), 2_000_000, 'the other routes have theirs');
  });

  it('are unknown while a chain does not answer or moves by USDT0 are off; another error is one', async () => {
    quotes.set(42161, new ChainUnavailable(42161, []));
    const { feeOf } = await usdt0Fees(deps)(routes, signal);
    assert.deepEqual([feeOf(42161, 1, 'message'), feeOf(1, 42161, 'message')], [undefined, 2_000_000]);
    const off = await usdt0Fees({ ...deps, oftOn: null })(routes, signal);
    assert.equal(off.feeOf(1, 42161, 'message'), undefined);
    quotes.set(42161, new Error('a bug'));
    await assert.rejects(usdt0Fees(deps)(routes, signal), /a bug/);
  });

  it('are not asked for a chain that USDT0 does not serve', async () => {
    await usdt0Fees(deps)([{ from: 8453, to: 1 }], signal);
    assert.deepEqual(asked, []);
  });
});

describe('fees of CCTP as the policy compares them', () => {
  it('are those of the attestation service; the first failure ends the reading', async () => {
    let calls = 0;
    const service = {
      async fees() {
        calls += 1;
        if (calls > 1) throw new AttestationsUnavailable('no answer');
        return [
          { finality: 1_000, fee_bps: 1.3 },
          { finality: 2_000, fee_bps: 0 },
        ];
      },
    };
    const all = [
      { from: 8453, to: 1 },
      { from: 42161, to: 1 },
      { from: 137, to: 1 },
    ] as const;
    const { feeOf } = await cctpFees(service)(all, signal);
    assert.deepEqual([feeOf(8453, 1, 1_000), feeOf(8453, 1, 2_000), feeOf(42161, 1, 2_000)], [1.3, 0, undefined]);
    assert.equal(calls, 2);
    assert.equal((await cctpFees(null)(all, signal)).feeOf(8453, 1, 2_000), undefined);
  });
});
