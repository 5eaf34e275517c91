/** An app funds a refund by a payment of its own: once, whatever crashes, and with no other money. */
import assert from 'node:assert/strict';
import { createPayment, quotePayment } from '../../commands/createPayment.ts';
import { createFundedRefunds, type FundedRefundsDeps, settleFundedRefund } from '../../commands/fundedRefunds.ts';
import { currentState } from '../../commands/handle.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { objectionToFunding } from '../../domain/payment/fundedRefund.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { randomIds } from '../../src/process/system.ts';
import * as p from '../support/payments.ts';
import { freePayouts } from '../support/payoutCosts.ts';
import { accepted, processes } from '../support/processes.ts';
import { merchant } from './creating.ts';

const customer = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const { paymentId } = p.terms();
const { appId } = merchant;
const app = { ...merchant, webhookUrl: 'https://shop.example/hook', webhookTypes: ['payment_refunded'] };
const by = { cause: 'developer:ann' } as const;
const worker = { cause: 'worker:fundedRefunds' } as const;
const asked = { sender: p.customerWallet, amount: '4.00', note: 'the cup was broken', key: 'key-1' };

function completed(): readonly PaymentEvent[] {
  const { data } = p.created() as Extract<PaymentEvent, { type: 'PaymentCreated' }>;
  const created = p.event('PaymentCreated', { ...data, appId });
  const paidOut = [p.funded(), p.payoutRequested(), p.signed(p.attempt(1)), p.settled(p.attempt(1))];
  return [created, p.detected(), p.confirmed(), ...paidOut, p.refundAddressSet(customer)];
}

async function world(over: Partial<FundedRefundsDeps> = {}) {
  let now = p.minute(80);
  const { start } = processes({ now });
  const clock = { now: () => now, sleep: async () => {} };
  const handle = start();
  await accepted(handle(paymentDecider, paymentId, () => completed(), { cause: 'worker:test', appId }));
  const creating = {
    ...{ handle, clock, ids: randomIds, addresses: familyAddresses, canReceive: {}, payoutCostOf: freePayouts },
    deposits: { evm: createEvmDeposits({ treasury: p.treasuryAccount }) },
    feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 0 }),
    offers: () => true,
    checkRoute: () => undefined,
    roleCheck: async () => undefined,
    cashback_basisPoints: 500,
  };
  const deps: FundedRefundsDeps = {
    ...{ handle, clock, addresses: familyAddresses, roleCheck: async () => undefined, signers: async () => [] },
    createPayment: (request, settings, caller, refunding) =>
      createPayment(creating, request, settings, caller, refunding),
    async checkPayment(request, settings) {
      const quoted = await quotePayment(creating, request, settings, { keyless: false });
      return isRefusal(quoted) ? quoted : undefined;
    },
    confirmDelay_ms: 48 * 3_600_000,
    ...over,
  };
  const paymentOf = async (id: string) => currentState(handle, paymentDecider, id);
  const refunded = async () => (await paymentOf(paymentId)) ?? assert.fail('the payment is there');
  const settle = async () => {
    const [first] = (await refunded()).fundedRefunds;
    assert.ok(first);
    const { fundingPaymentId, refund } = first;
    return settleFundedRefund({ handle, clock }, { paymentId, fundingPaymentId, appId, refund }, worker);
  };
  const happen = (id: string, events: readonly PaymentEvent[]) =>
    accepted(handle(paymentDecider, id, () => events, { cause: 'worker:test', appId }));
  const endings = async () => (await refunded()).fundedRefunds.map(({ ended }) => ended?.outcome ?? null);
  return {
    ...{ refunds: createFundedRefunds(deps), deps, paymentOf, refunded, settle, happen, endings },
    wait: (minutes: number) => {
      now = p.minute(80 + minutes);
    },
  };
}

describe('a refund that the app funds', () => {
  it('is a payment that pays the payer, and nothing that shops, policies or cashback notice', async () => {
    const { refunds, paymentOf, refunded } = await world();
    const ordered = await accepted(refunds.order(app, paymentId, asked, by));
    const funding = await paymentOf(ordered.fundingPaymentId);
    assert.ok(funding);
    const { terms } = funding;
    assert.deepEqual(
      [terms.refundOf, terms.destination.receiverAddress, terms.destination.amount, terms.source.amount],
      [{ paymentId, refund: 1 }, customer, p.digits('4.00'), p.digits('4.01')],
    );
    assert.deepEqual(
      [terms.webhookUrl, terms.webhookTypes, terms.policy, terms.cashback_basisPoints, terms.orderId, terms.appId],
      [null, undefined, undefined, undefined, null, appId],
    );
    assert.equal(objectionToFunding(funding, await refunded()), undefined);
  });

  it('is made once, though the same form is sent ten times at once', async () => {
    const { refunds, refunded } = await world();
    const answers = await Promise.all(Array.from({ length: 10 }, () => refunds.order(app, paymentId, asked, by)));
    assert.equal(new Set(answers.map((each) => (isRefusal(each) ? each.message : each.fundingPaymentId))).size, 1);
    assert.equal((await refunded()).fundedRefunds.length, 1);
  });

  it('orders nothing that its payment could not be created for', async () => {
    const refused = refuse('routeUnavailable', 'Base is paused');
    const { refunds, refunded } = await world({ checkPayment: async () => refused });
    assert.deepEqual(await refunds.order(app, paymentId, asked, by), refused);
    assert.deepEqual((await refunded()).fundedRefunds, []);
  });

  it('is not another app’s, and no amount that is none', async () => {
    const { refunds } = await world();
    const code = async (asking: Promise<unknown>) => ((await asking) as { readonly refused?: string }).refused;
    assert.equal(
      await code(refunds.order({ ...app, appId: 'merchant_other' }, paymentId, asked, by)),
      'paymentNotFound',
    );
    for (const amount of ['', '-1', '1e3', '0', '4.0000001', '10.02'])
      assert.equal(await code(refunds.order(app, paymentId, { ...asked, amount }, by)), 'invalidRequest', amount);
  });

  it('after a crash before its payment exists, is completed by the same form, or ends after ten minutes', async () => {
    let alive = false;
    const whole = await world();
    const dying = createFundedRefunds({
      ...whole.deps,
      createPayment: (...args) => (alive ? whole.deps.createPayment(...args) : assert.fail('the process died here')),
    });
    await assert.rejects(dying.order(app, paymentId, asked, by), /died here/);
    const [lost] = (await whole.refunded()).fundedRefunds;
    assert.ok(lost && (await whole.paymentOf(lost.fundingPaymentId)) === null);
    assert.equal(await whole.settle(), undefined);
    assert.deepEqual(await whole.endings(), [null], 'it may still be created');
    alive = true;
    whole.wait(4);
    const again = await accepted(dying.order(app, paymentId, asked, by));
    assert.ok(await whole.paymentOf(again.fundingPaymentId));
    whole.wait(30);
    await whole.settle();
    assert.deepEqual(await whole.endings(), [null], 'it waits for its money');
  });

  it('ends unpaid if its payment was never created, and a slow process creates none afterwards', async () => {
    const whole = await world();
    const dying = createFundedRefunds({ ...whole.deps, createPayment: () => assert.fail('the process died here') });
    await assert.rejects(dying.order(app, paymentId, asked, by));
    whole.wait(6);
    const late = await whole.refunds.order(app, paymentId, asked, by);
    assert.ok(isRefusal(late) && late.refused === 'conflict');
    whole.wait(10);
    await whole.settle();
    await whole.settle();
    assert.deepEqual(await whole.endings(), ['unpaid']);
    const next = await accepted(whole.refunds.order(app, paymentId, { ...asked, key: 'key-2' }, by));
    assert.equal(next.refund, 2);
  });

  it('ends as its payment does: cancelled and expired, or paid to the payer', async () => {
    const cancelled = await world();
    const first = await accepted(cancelled.refunds.order(app, paymentId, asked, by));
    const time = p.minute(85);
    await cancelled.happen(first.fundingPaymentId, [
      p.event('PaymentCancelled', { expiresAt: time, cancelledAt: time }),
    ]);
    await cancelled.settle();
    assert.deepEqual(await cancelled.endings(), [null], 'money of a block before the end still counts');
    await cancelled.happen(first.fundingPaymentId, [p.event('PaymentExpired', { chainTime: time, expiredAt: time })]);
    await cancelled.settle();
    assert.deepEqual(await cancelled.endings(), ['unpaid']);

    const paid = await world();
    const { fundingPaymentId } = await accepted(paid.refunds.order(app, paymentId, asked, by));
    const transfer = p.payin({ tx: 'funding', amount: '4.01' });
    const amounts = { received: '4.01', sourceAmount: '4.01', payout: '4.00' };
    const attempt = p.attempt(1, { amount: '4.00', receiver: customer });
    const requested = p.event('PayoutRequested', {
      ...{ chainId: 8453, token: p.baseUsdc.token, receiverAddress: customer, receiverMemo: null },
      ...{ amount: p.digits('4.00'), requestedAt: time },
    });
    const funded = [p.confirmed(transfer), p.funded([transfer], amounts), requested, p.signed(attempt)];
    await paid.happen(fundingPaymentId, funded);
    await paid.settle();
    assert.deepEqual(await paid.endings(), [null], 'a payout that is not final pays nobody');
    await paid.happen(fundingPaymentId, [p.settled(attempt)]);
    await paid.settle();
    assert.deepEqual(await paid.endings(), ['paid']);
    const twice = await paid.refunds.order(app, paymentId, { ...asked, amount: '6.02', key: 'key-2' }, by);
    assert.ok(isRefusal(twice), 'no more than the price goes back');
  });
});

describe('a refund address that an owner confirms', () => {
  const confirmation = { transferId: `8453:${p.payin().txHash}:0`, address: customer.toLowerCase(), memo: null };

  it('is stored in its chain’s spelling with the person, and can be withdrawn', async () => {
    const { refunds, refunded } = await world();
    await accepted(refunds.confirmAddress(appId, paymentId, confirmation, by));
    const [known] = (await refunded()).confirmedAddresses;
    assert.deepEqual([known?.address, known?.confirmedBy, known?.sender], [customer, by.cause, p.customerWallet]);
    await accepted(refunds.withdrawAddress(appId, paymentId, 1, { cause: 'developer:otto' }));
    assert.equal((await refunded()).confirmedAddresses[0]?.withdrawn, true);
  });

  it('is refused in another app, for another transfer, and where it is no address', async () => {
    const { refunds } = await world();
    const wrong = [
      refunds.confirmAddress('merchant_other', paymentId, confirmation, by),
      refunds.confirmAddress(appId, paymentId, { ...confirmation, transferId: '8453:0x1:0' }, by),
      refunds.confirmAddress(appId, paymentId, { ...confirmation, address: '0x12' }, by),
      refunds.confirmAddress(appId, paymentId, { ...confirmation, address: 'GABC' }, by),
    ];
    for (const answer of await Promise.all(wrong)) assert.ok(isRefusal(answer));
  });

  it('is checked without a word in the log', async () => {
    const { refunds, refunded } = await world();
    assert.ok(!isRefusal(await refunds.checkAddress(appId, paymentId, confirmation, by)));
    assert.deepEqual((await refunded()).confirmedAddresses, []);
  });
});
