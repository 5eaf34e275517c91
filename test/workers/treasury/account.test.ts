import assert from 'node:assert/strict';
import type { NonceNumbering } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { loadTreasury, pausePayouts, resumePayouts } from '../../../src/workers/treasury/account.ts';
import { treasuryAccount } from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';
import { signingWorld } from '../payouts/signing.ts';

const account = { chainId: 1, account: treasuryAccount } as const;
const numberingBy = (nonces: Pick<NonceNumbering, 'minedNonce' | 'provenNonce'>) =>
  ({ kind: 'nonce', ...nonces }) as Partial<NonceNumbering> as NonceNumbering;

const away = async () => assert.fail('no node is asked');
/** An operator who stops payouts does not wait for any node. */
const nodesAway = { ...account, numbering: numberingBy({ minedNonce: away, provenNonce: away }) };

describe('pausing payouts', () => {
  for (const [chain, minedNonce] of [
    ['with nonces', 7n],
    ['without nonces', null],
  ] as const) {
    it(`stops signing until they are resumed, for every worker, on a chain ${chain}`, () => pausing(minedNonce));
  }

  it('applies before anything was ever paid: the history begins with it, at the chain’s nonce, and continues from there', async () => {
    const { sign, start, store, around } = await signingWorld({ payments: ['first'] });
    around.minedNonce = 7n;
    const by = { cause: 'operator:ada' } as const;
    const operator = { handle: start(), clock: processes({ store }).clock };
    const minedNonce = async () => 3n;
    const rail = { ...account, numbering: numberingBy({ minedNonce, provenNonce: async () => 7n }) };
    const alone = { ...account, numbering: numberingBy({ minedNonce, provenNonce: async () => null }) };
    await assert.rejects(pausePayouts(operator, alone, 'restored', by), /do not agree on the next nonce/);
    assert.equal((await accepted(pausePayouts(operator, rail, 'restored', by))).appended, 2);
    assert.equal((await accepted(pausePayouts(operator, alone, 'restored', by))).appended, 0);
    const refused = await sign({ paymentId: 'first' });
    assert.equal(isRefusal(refused) && refused.refused, 'treasuryPaused');
    await accepted(resumePayouts(operator, account, by));
    await accepted(sign({ paymentId: 'first' }));
    assert.equal((await loadTreasury(operator.handle, account)).nextNonce, 8n);
  });

  async function pausing(minedNonce: bigint | null): Promise<void> {
    const { sign, start, store, around } = await signingWorld({ payments: ['first', 'second'] });
    around.minedNonce = minedNonce;
    const by = { cause: 'operator:ada' } as const;
    const operator = { handle: start(), clock: processes({ store }).clock };
    await accepted(sign({ paymentId: 'first' }));

    await accepted(pausePayouts(operator, nodesAway, 'audit', by));
    assert.equal((await loadTreasury(operator.handle, account)).paused, 'audit');
    const refused = await sign({ paymentId: 'second' });
    assert.equal(isRefusal(refused) && refused.refused, 'treasuryPaused');

    await accepted(resumePayouts(operator, account, by));
    await accepted(sign({ paymentId: 'second' }));
    assert.equal(around.signatures, 2);
  }
});
