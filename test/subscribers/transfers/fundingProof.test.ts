import assert from 'node:assert/strict';
import type { Agreement } from '../../../commands/chainPorts.ts';
import { PayoutBlocked } from '../../../commands/transfers/ports.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import { payoutOwed } from '../../../domain/payment/owed.ts';
import { createFundingProof, type ProveFunding } from '../../../src/subscribers/transfers/fundingProof.ts';
import * as p from '../../support/payments.ts';

const { signal } = new AbortController();

async function proveWith(prove: ProveFunding, history: readonly PaymentEvent[]) {
  const payment = p.paymentAfter(history);
  return prove(payment, payoutOwed(payment) ?? assert.fail('nothing is owed'), signal);
}

describe('before a payout is signed', () => {
  const asked: { transfer: Transfer; usd: bigint }[] = [];
  const looked: string[] = [];
  let isThere = true;
  const chainThat = (agreement: Agreement) =>
    new Map([
      [
        8453 as const,
        {
          ingester: {
            async agreed(transfer: Transfer, { usd }: { usd: bigint }) {
              asked.push({ transfer, usd });
              return agreement;
            },
          },
          rail: {
            stillFinal: async ({ blockHash }: { blockHash: string }) => {
              looked.push(blockHash);
              return isThere;
            },
          },
        },
      ],
    ]);
  const prove = (history: Parameters<typeof p.paymentAfter>[0], agreement: Agreement = { agreed: true }) =>
    proveWith(createFundingProof(chainThat(agreement)), history);
  beforeEach(() => {
    isThere = true;
    for (const calls of [asked, looked]) calls.splice(0);
  });

  it('nodes are asked once more for each payin that funded it', async () => {
    await prove(p.ordered);
    assert.deepEqual(asked, [{ transfer: p.payin(), usd: 10n }]);
  });

  it('its blocks are looked at again when its turn has come: they may have left while it waited', async () => {
    const still = await prove(p.ordered);
    assert.deepEqual(looked, []);
    await still();
    assert.deepEqual(looked, [p.payin().blockHash]);
    isThere = false;
    await assert.rejects(still, (error) => error instanceof PayoutBlocked && error.reason === 'fundingUnproven');
  });

  it('it is refused when they do not show it, with what they say', async () => {
    const dispute = { reason: 'nodesDisagree', message: 'node 2: has no such transaction' } as const;
    await assert.rejects(prove(p.ordered, { agreed: false, dispute }), (error) => {
      assert.ok(error instanceof PayoutBlocked && error.reason === 'fundingUnproven');
      assert.match(error.message, /node 2: has no such transaction/);
      return true;
    });
  });

  it('it is refused when the log says it was funded, and by which payins not', async () => {
    await assert.rejects(prove([...p.unpaid, p.funded(), p.payoutRequested()]), /the log shows 0 of/);
  });

  it('it is refused when what funded it is of another source: units of different tokens do not add up', async () => {
    const created = p.created({ alternatives: [p.bnbUsdc] });
    const crumbs = p.payin({ in: p.bnbUsdc, amount: '0.00000000001001' });
    const history = [created, p.confirmed(crumbs), p.funded([crumbs]), p.payoutRequested()];
    await assert.rejects(prove(history), /the log shows 0 of/);
  });

  it('it is refused when no node of the chain is configured any more', async () => {
    const proof = createFundingProof(new Map());
    await assert.rejects(proveWith(proof, p.ordered), /no node of Base is configured/);
  });
});
