import assert from 'node:assert/strict';
import { loadTreasury, pausePayouts, resumePayouts } from '../../commands/pausePayouts.ts';
import { isRefusal } from '../../domain/decider.ts';
import { treasuryAccount } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';
import { signingWorld } from './signing.ts';

const account = { chainId: 1, account: treasuryAccount } as const;

describe('pausing payouts', () => {
  it('stops signing until they are resumed, whoever signs', async () => {
    const { sign, start, store } = await signingWorld({ payments: ['first', 'second'] });
    const operator = { handle: start(), clock: processes({ store }).clock };
    await accepted(sign({ paymentId: 'first' }));

    await accepted(pausePayouts(operator, account, 'audit'));
    assert.equal((await accepted(loadTreasury(operator, account))).state.paused, 'audit');
    const refused = await sign({ paymentId: 'second' });
    assert.equal(isRefusal(refused) && refused.refused, 'treasuryPaused');

    await accepted(resumePayouts(operator, account));
    await accepted(sign({ paymentId: 'second' }));
  });
});
