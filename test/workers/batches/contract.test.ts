import assert from 'node:assert/strict';
import type { Batching } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { orderAllowance } from '../../../src/workers/payouts/byHand.ts';
import { createWorld } from '../../support/histories.ts';
import { merchantWallet, treasuryAccount } from '../../support/payments.ts';

const batching = { contract: merchantWallet } as Batching;

describe('an allowance for batches of payouts', () => {
  it('is refused with a sentence, and nothing is ordered, for an invalid amount of a token, or more than the token’s maximum', async () => {
    const world = createWorld();
    const deps = { ...world, by: 'operator:ada', rail: { chainId: 56, account: treasuryAccount, batching } } as const;
    const before = await world.store.tail();
    for (const amount of ['', '-1', '1e9', '0x10', 'all', '9'.repeat(60), '9'.repeat(100)]) {
      const ordered = await orderAllowance(deps, { token: 'usdc', amount });
      assert.match(isRefusal(ordered) ? ordered.message : 'it was ordered', /is not an amount of USDC/, amount);
    }
    assert.equal(await world.store.tail(), before);
    assert.equal(typeof (await orderAllowance(deps, { token: 'usdc', amount: '25000.50' })), 'string');
  });
});
