import assert from 'node:assert/strict';
import { loadTreasury, pausePayouts, resumePayouts } from '../../commands/treasuryAccount.ts';
import { isRefusal } from '../../domain/decider.ts';
import { treasuryAccount } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';
import { signingWorld } from './transfers/signing.ts';

const account = { chainId: 1, account: treasuryAccount } as const;

describe('pausing payouts', () => {
  for (const [chain, minedNonce] of [
    ['with nonces', 7n],
    ['without nonces', null],
  ] as const) {
    it(`stops signing until they are resumed, whoever signs, on a chain ${chain}`, () => pausing(minedNonce));
  }

  async function pausing(minedNonce: bigint | null): Promise<void> {
    const { sign, start, store, around } = await signingWorld({ payments: ['first', 'second'] });
    around.minedNonce = minedNonce;
    const by = { cause: 'operator:ada' } as const;
    const operator = { handle: start(), clock: processes({ store }).clock };
    await accepted(sign({ paymentId: 'first' }));

    await accepted(pausePayouts(operator, account, 'audit', by));
    assert.equal((await loadTreasury(operator.handle, account)).paused, 'audit');
    const refused = await sign({ paymentId: 'second' });
    assert.equal(isRefusal(refused) && refused.refused, 'treasuryPaused');

    await accepted(resumePayouts(operator, account, by));
    await accepted(sign({ paymentId: 'second' }));
    assert.equal(around.signatures, 2);
  }
});
