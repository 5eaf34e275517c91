import assert from 'node:assert/strict';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import { fundingUse } from '../../../domain/signing/moneyUse.ts';
import {
  assign,
  callOffUnmatchedRefund,
  requestRefund,
  see,
  type UnmatchedEvent,
  unmatched,
} from '../../../domain/unmatched.ts';
import { derivesDepositFromPayment } from '../../../src/chains/families.ts';
import { createFundingUses } from '../../../src/workers/payouts/fundingProof.ts';
import * as p from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

const facts = { cause: 'worker:test', appId: null } as const;
const [first, second] = [p.terms().paymentId, '0198f3c2-0000-8000-8000-000000000002'];

function usesOf(derives = derivesDepositFromPayment) {
  const { start } = processes({ now: p.minute(9) });
  const handle = start();
  const uses = createFundingUses({ handle, clock: { now: () => p.minute(9) }, derivesDepositFromPayment: derives });
  const decide = (transfer: Transfer, ...events: readonly UnmatchedEvent[]) =>
    accepted(handle(unmatched, transferId(transfer), () => events, facts));
  return { uses, handle, decide };
}

const payment: Payment = p.paymentAfter(p.paid);
/** Like Solana's deposits, which are derived from a salt. */
const bySalt = () => false;
const refundTo = { receiverAddress: p.merchantWallet, receiverMemo: null, reason: 'wrong shop', networkFee: 1n };

describe('the payment that a transfer pays for', () => {
  it('is derived from the deposit on EVM and Stellar; on Solana the log records it', () => {
    const derived = (['evm', 'stellar', 'solana'] as const).map(derivesDepositFromPayment);
    assert.deepEqual(derived, [true, true, false]);
  });

  it('is one: another payment that names the transfer gets nothing, however often it requests', async () => {
    const { uses } = usesOf(bySalt);
    for (const _ of [1, 2]) assert.equal(await uses.useForPayment(first, payment, [p.payin()]), undefined);
    for (const _ of [1, 2])
      assert.match((await uses.useForPayment(second, payment, [p.payin()])) ?? '', /already paid payment/);
    assert.equal(await uses.useForPayment(second, payment, [p.payin({ index: 7 })]), undefined);
  });

  it('is the first one, also after an attacker appended another use', async () => {
    const { uses, handle } = usesOf(bySalt);
    await uses.useForPayment(first, payment, [p.payin()]);
    const forged = { type: 'FundingUsed', data: { paymentId: second, usedAt: p.minute(10) } } as const;
    await accepted(handle(fundingUse, transferId(p.payin()), () => [forged], facts));
    assert.equal(await uses.useForPayment(first, payment, [p.payin()]), undefined);
    assert.match((await uses.useForPayment(second, payment, [p.payin()])) ?? '', /already paid payment/);
  });

  it('is not recorded if the deposit is derived from the payment’s id', async () => {
    const { uses, handle } = usesOf();
    await uses.useForPayment(first, payment, [p.payin()]);
    const { state } = await accepted(handle(fundingUse, transferId(p.payin()), () => [], facts));
    assert.equal(state, null);
  });

  it('is recorded for a transfer that an operator assigned to it from elsewhere', async () => {
    const { uses, decide } = usesOf();
    const elsewhere = { ...p.payin(), to: p.merchantWallet };
    const { appId } = p.terms();
    const seen = see(null, elsewhere, p.minute(3)) as readonly UnmatchedEvent[];
    const given = (paymentId: string): UnmatchedEvent => ({
      type: 'UnmatchedPayinAssigned',
      data: { paymentId, appId, assignedAt: p.minute(4) },
    });
    await decide(elsewhere, ...seen, given(first));
    assert.equal(await uses.useForPayment(first, payment, [elsewhere]), undefined);
    await decide(elsewhere, given(second));
    assert.match((await uses.useForPayment(second, payment, [elsewhere])) ?? '', /already paid payment/);
  });
});

describe('unmatched money', () => {
  const seen = (transfer: Transfer) => see(null, transfer, p.minute(3)) as readonly UnmatchedEvent[];

  it('is refunded unless it has paid for a payment', async () => {
    const { uses } = usesOf(bySalt);
    assert.equal(await uses.objectionToRefund(p.payin()), undefined);
    await uses.useForPayment(first, payment, [p.payin()]);
    assert.match((await uses.objectionToRefund(p.payin())) ?? '', /has paid for payment/);
  });

  it('pays for no payment while a refund of it is ordered; after a call-off without a signature it does', async () => {
    for (const derives of [derivesDepositFromPayment, bySalt]) {
      const { uses, handle, decide } = usesOf(derives);
      const id = transferId(p.payin());
      await decide(p.payin(), ...seen(p.payin()));
      await accepted(handle(unmatched, id, (state) => requestRefund(state, refundTo, p.minute(4)), facts));
      assert.match((await uses.useForPayment(first, payment, [p.payin()])) ?? '', /sent transfer .* back/);
      await accepted(handle(unmatched, id, (state) => callOffUnmatchedRefund(state, 1, 'frozen', p.minute(5)), facts));
      const to = { paymentId: first, appId: p.terms().appId };
      await accepted(handle(unmatched, id, (state) => assign(state, to, p.minute(6)), facts));
      assert.equal(await uses.useForPayment(first, payment, [p.payin()]), undefined);
    }
  });

  it('pays for no payment once a refund was signed, also after an attacker called it off and wrote it again', async () => {
    const { uses, handle, decide } = usesOf();
    const id = transferId(p.payin());
    await decide(p.payin(), ...seen(p.payin()));
    await accepted(handle(unmatched, id, (state) => requestRefund(state, refundTo, p.minute(4)), facts));
    await decide(
      p.payin(),
      { type: 'UnmatchedRefundSigned', data: p.attempt(1) },
      { type: 'UnmatchedRefundCalledOff', data: { reason: 'forged', calledOffAt: p.minute(5) } },
      ...seen(p.payin()),
    );
    assert.match((await uses.useForPayment(first, payment, [p.payin()])) ?? '', /sent transfer .* back/);
  });
});
