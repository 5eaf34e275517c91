import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { PayoutBlocked } from '../../commands/transferPorts.ts';
import { chainOf, type Token } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { createPayoutCosts } from '../../src/workers/payouts/routeGuard.ts';

const solana = chainOf(501);
const [usdc] = solana.tokens as [Token];

describe('the costs of payouts', () => {
  let now_ms: number;
  let asked: number;
  let lamports: bigint | Error;
  let rent: bigint;
  let costs: ReturnType<typeof createPayoutCosts>;
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const cost = async () => (await costs(solana, usdc, 'receiver')).cost_microUsd;

  beforeEach(() => {
    [now_ms, asked, lamports, rent] = [0, 0, 5_000n, 0n];
    const rail = {
      async transferCost() {
        asked += 1;
        if (lamports instanceof Error) throw lamports;
        return lamports;
      },
      receiverCost: async () => ({ coin: rent, opensAccount: rent > 0n }),
    };
    costs = createPayoutCosts({
      clock: { now: () => instant(now_ms) },
      rails: new Map([[501, rail]]),
      coins: new Map([[501, { decimals: 9, price_microUsd: 200_000_000n, leastPayout_microUsd: 5_000n }]]),
    });
  });

  it('are the chain’s fee and the price of the receiver’s account, at the price of its coin', async () => {
    assert.equal(await cost(), 1_000n);
    rent = 2_039_280n;
    assert.deepEqual(await costs(solana, usdc, 'receiver'), {
      cost_microUsd: 408_856n,
      least_microUsd: 5_000n,
      opensAccount: true,
    });
  });

  it('are queried at intervals, however many need them, and reported again when they have changed', async () => {
    await Promise.all(Array.from({ length: 50 }, cost));
    assert.equal(asked, 1);
    lamports = 50_000n;
    now_ms += 16_000;
    assert.equal(await cost(), 1_000n);
    await settled();
    assert.equal(await cost(), 10_000n);
    assert.equal(asked, 2);
  });

  it('are never guessed: nodes that are slower than a creator waits are not available', async () => {
    lamports = AbortSignal.abort(new DOMException('took too long', 'TimeoutError')).reason;
    await assert.rejects(cost(), Unavailable);
  });

  it('are never guessed: a chain without an answer for a minute is not available', async () => {
    await cost();
    lamports = new PayoutBlocked('gas', 'the network asks for more than the limit');
    now_ms += 59_000;
    assert.equal(await cost(), 1_000n);
    await settled();
    now_ms += 2_000;
    await assert.rejects(cost(), Unavailable);
    await assert.rejects(costs(chainOf(1), usdc, 'receiver'), Unavailable);
    lamports = 5_000n;
    assert.equal(await cost(), 1_000n);
  });
});
