import assert from 'node:assert/strict';
import type { Agreement } from '../../../commands/chainPorts.ts';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import { payoutOwed } from '../../../domain/payment/backing.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import {
  createFundingProof,
  createUnmatchedProof,
  type OwnMoneyChecks,
  type ProveFunding,
} from '../../../src/workers/payouts/fundingProof.ts';
import * as p from '../../support/payments.ts';

const { signal } = new AbortController();
const isUnproven = (error: unknown): boolean => error instanceof PayoutBlocked && error.reason === 'fundingUnproven';

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

  it('nodes are queried once more for each payin that funded it', async () => {
    await prove(p.ordered);
    assert.deepEqual(asked, [{ transfer: p.payin(), usd: 10n }]);
  });

  it('its blocks are checked again when its turn arrives: they may have left while it waited', async () => {
    const still = await prove(p.ordered);
    assert.deepEqual(looked, []);
    await still();
    assert.deepEqual(looked, [p.payin().blockHash]);
    isThere = false;
    await assert.rejects(still, (error) => error instanceof PayoutBlocked && error.reason === 'fundingUnproven');
  });

  it('it is refused when they do not return it, with their answers', async () => {
    const dispute = { reason: 'nodesDisagree', message: 'node 2: has no such transaction' } as const;
    await assert.rejects(prove(p.ordered, { agreed: false, dispute }), (error) => {
      assert.ok(error instanceof PayoutBlocked && error.reason === 'fundingUnproven');
      assert.match(error.message, /node 2: has no such transaction/);
      return true;
    });
  });

  it('it is refused when the log states the funding but not its payins', async () => {
    await assert.rejects(prove([...p.unpaid, p.funded(), p.payoutRequested()]), /the log shows 0 of/);
  });

  it('it is refused when its funding is of another source: units of different tokens do not add up', async () => {
    const created = p.created({ alternatives: [p.bnbUsdc] });
    const crumbs = p.payin({ in: p.bnbUsdc, amount: '0.00000000001001' });
    const history = [created, p.confirmed(crumbs), p.funded([crumbs]), p.payoutRequested()];
    await assert.rejects(prove(history), /the log shows 0 of/);
  });

  it('it is refused when the log orders more than was received, or states that nothing had to arrive', async () => {
    const whole = p.payoutRequested('909.99');
    const zero = { received: '0', sourceAmount: '0', fee: '0', payout: '0' };
    const histories: readonly (readonly PaymentEvent[])[] = [
      [...p.paid, whole],
      [...p.unpaid, p.detected(), p.confirmed(), p.funded([p.payin()], { payout: '909.99' }), whole],
      [...p.unpaid, p.detected(), p.confirmed(), p.funded([p.payin()], zero), whole],
      [...p.unpaid, p.detected(), p.confirmed(), p.funded([p.payin()], { ...zero, payout: '909.99' }), whole],
    ];
    for (const history of histories) await assert.rejects(prove(history), isUnproven);
    for (const needed of [0n, -1n])
      await assert.rejects(
        createUnmatchedProof(chainThat({ agreed: true }), null)([p.payin()], needed, signal),
        isUnproven,
      );
    assert.deepEqual(asked, []);
  });

  it('it is refused when its money is being refunded', async () => {
    const back = p.refundRequested('10.01');
    await assert.rejects(prove([...p.unpaid, p.confirmed(), back, p.funded(), p.payoutRequested()]), isUnproven);
  });

  it('it is refused when the payment is another treasury’s, or pays out credit that nobody withdrew', async () => {
    const cashback = p.funded([p.payin()], { rule: 'cashback' });
    const given: (string | undefined)[] = [undefined, 'none of ours'];
    for (const objection of given) {
      const own: OwnMoneyChecks = {
        objectionToPayins: async () => objection,
        objectionToWithdrawal: async () => objection,
        objectionToUnmatched: async () => objection,
      };
      const proof = createFundingProof(chainThat({ agreed: true }), own);
      for (const history of [p.ordered, [...p.unpaid, cashback, p.payoutRequested()]])
        if (objection === undefined) await proveWith(proof, history);
        else await assert.rejects(proveWith(proof, history), isUnproven);
      const unmatched = createUnmatchedProof(chainThat({ agreed: true }), own)([p.payin()], 1n, signal);
      if (objection === undefined) await unmatched;
      else await assert.rejects(unmatched, isUnproven);
    }
  });

  it('it is refused in its turn when its funding has paid for another payment', async () => {
    const asked: string[] = [];
    const uses = (objection?: string) => ({
      async useForPayment(id: string, _: unknown, transfers: readonly Transfer[]) {
        asked.push(`${id} ${transfers.map(({ txHash }) => txHash)}`);
        return objection;
      },
      objectionToRefund: async () => objection,
    });
    const chains = chainThat({ agreed: true });
    await (await proveWith(createFundingProof(chains, null, uses()), p.ordered))();
    assert.deepEqual(asked, [`${p.terms().paymentId} ${p.payin().txHash}`]);
    const used = await proveWith(createFundingProof(chains, null, uses('used')), p.ordered);
    await assert.rejects(used, isUnproven);
    const back = (objection?: string) => createUnmatchedProof(chains, null, uses(objection))([p.payin()], 1n, signal);
    await (await back())();
    await assert.rejects(await back('used'), isUnproven);
  });

  it('it is refused when no node of the chain is configured any more', async () => {
    const proof = createFundingProof(new Map());
    await assert.rejects(proveWith(proof, p.ordered), /no node of Base is configured/);
  });
});
