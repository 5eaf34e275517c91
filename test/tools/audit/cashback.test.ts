/**
 * Fabricated credit: the earnings of a payment's payer, their spending, the merchant's withdrawal and its payment. The
 * product's own decisions write the honest log, and the frauds change it.
 */
import assert from 'node:assert/strict';
import { cashback, receive, returnWithdrawal, type Withdrawal, withdraw } from '../../../domain/cashback.ts';
import { credit, earn, spend } from '../../../domain/credit.ts';
import { type DomainEvent, fold } from '../../../domain/decider.ts';
import { earningsOf, payOutCashback } from '../../../domain/payment/cashback.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { baseUsdc, bounced, customerWallet, hashOf, merchantWallet, minute, terms } from '../../support/payments.ts';
import { at, honest, instead, on, paymentA, paymentB, shown, thief } from './honest.ts';
import { audit, pointed, type Said, written } from './world.ts';

const tell = async (said: readonly Said[]) => pointed(await audit({ log: written(said), grounds: shown }));

const appId = 'wallet_demo';
const buyer = `credit-${customerWallet}`;
const merchant = `cashback-${appId}`;
const withdrawalId = '0198f3c2-0000-8000-8000-0000000000f1';
const paidOut = `payment-${withdrawalId}`;

/** The payment of A promises five per cent. */
const promised = instead(honest, paymentA, 'PaymentCreated', () => ({ cashback_basisPoints: 500 }));
const events = promised.filter(({ stream }) => stream === paymentA).map(({ event }) => event as PaymentEvent);
const payment = fold(paymentDecider, events);
const [earning] = payment ? earningsOf(payment) : [];
assert.ok(earning);
const earned = earn(credit.initial, earning, at) as readonly DomainEvent[];
const withCredit = { ...credit.initial, balance_cents: earning.cents, earnedOn: [8453 as const] };
const digest = hashOf('message').slice(2);
const order = {
  ...{ account: customerWallet, appId, digest, orderId: null, cents: 30n, amountLocal: null },
  ...{ currencyLocal: null, about: null, signedAt: at },
};
const spent = spend(withCredit, order, 'key', at).events as readonly DomainEvent[];
const received = receive(
  cashback.initial,
  { ordinal: 1, account: customerWallet, digest, orderId: null, cents: 30n },
  at,
);
const asked: Withdrawal = {
  ...{ paymentId: withdrawalId, cents: '30', chainId: 8453, token: baseUsdc.token },
  ...{ receiverAddress: merchantWallet, receiverMemo: null, fee: { fixed: '10000', basisPoints: 0 } },
};
const [got] = received as readonly { readonly data: { readonly after: typeof cashback.initial } }[];
assert.ok(got);
const withdrawn = withdraw(got.data.after, asked, { seen: got.data.after, now: at }) as readonly DomainEvent[];
const paying = payOutCashback(null, {
  ...terms({ type: 'exactIn', amount: '0.30', from: baseUsdc, to: baseUsdc, fee: { fixed: '0.01' } }),
  paymentId: withdrawalId,
}) as readonly DomainEvent[];

const whole: readonly Said[] = [
  ...promised,
  ...on(buyer, ...earned, ...spent),
  ...on(merchant, ...(received as readonly DomainEvent[]), ...withdrawn),
  ...on(paidOut, ...paying),
];
const but = (...streams: readonly string[]) => whole.filter(({ stream }) => !streams.includes(stream));

describe('the audit of cashback', () => {
  it('finds nothing if each step follows from the one before', async () => {
    assert.equal(earning.cents, 50n);
    assert.deepEqual(await tell(whole), []);
  });

  it('finds a payment that is paid out of cashback that nobody withdrew', async () => {
    assert.deepEqual(await tell(but(merchant)), [`accountWrong ${buyer} 1`, `fundingWrong ${paidOut} 1`]);
  });

  it('finds one that pays out more than was withdrawn, or to another receiver', async () => {
    type Taken = { readonly after: { readonly open: readonly object[] } };
    const more = instead(whole, merchant, 'CashbackWithdrawn', ({ after }: Taken) => ({
      receiverAddress: thief,
      after: { ...after, open: after.open.map((each) => ({ ...each, receiverAddress: thief })) },
    }));
    assert.deepEqual(await tell(more), [`fundingWrong ${paidOut} 1`]);
    const less = instead(whole, merchant, 'CashbackWithdrawn', ({ after }: Taken) => ({
      cents: '29',
      after: { ...after, balance_cents: '1', open: after.open.map((each) => ({ ...each, cents: '29' })) },
    }));
    assert.deepEqual(await tell(less), [`fundingWrong ${paidOut} 1`]);
  });

  it('finds cashback that no buyer spent, that arrived twice, or that belongs to another merchant', async () => {
    assert.deepEqual(await tell(but(buyer)), [`accountWrong ${merchant} 0`, `accountWrong ${paymentA} 6`]);
    const again = instead(on(merchant, ...(received as readonly DomainEvent[])), merchant, 'CashbackReceived', () => ({
      after: { ...got.data.after, received_cents: '60', balance_cents: '30' },
      ordinal: 2,
    }));
    assert.deepEqual(await tell([...whole, ...again]), [`accountWrong ${merchant} 2`]);
    const other = instead(whole, buyer, 'CreditSpent', () => ({ appId: 'merchant_other' }));
    assert.deepEqual(await tell(other), [`accountWrong ${merchant} 0`]);
  });

  it('finds credit that no payment earned, that none promised, or that is a cent too much', async () => {
    const stranger = `credit-${thief}`;
    const gift = (paymentId: string, cents: bigint) =>
      earn(credit.initial, { ...earning, account: thief, paymentId, cents }, at) as readonly DomainEvent[];
    assert.deepEqual(await tell([...whole, ...on(stranger, ...gift('nowhere', 100n))]), [`accountWrong ${stranger} 0`]);
    assert.deepEqual(await tell([...whole, ...on(stranger, ...gift(paymentB.slice(8), 100n))]), [
      `accountWrong ${stranger} 0`,
    ]);
    const more = instead(whole, buyer, 'CreditEarned', () => ({ cents: '51' }));
    assert.ok((await tell(more)).includes(`accountWrong ${buyer} 0`));
  });

  it('finds credit for a payment that bounced instead of being paid out', async () => {
    const at = promised.findIndex(({ stream, event }) => stream === paymentA && event.type === 'PayoutRequested');
    const unpaid = whole.filter(({ stream, event }) => stream !== paymentA || !event.type.startsWith('Payout'));
    const said = unpaid.toSpliced(at, 0, ...on(paymentA, bounced('payoutImpossible', '10.01')));
    const quiet = said.filter(({ stream }) => !stream.startsWith('webhook-'));
    assert.ok((await tell(quiet)).includes(`accountWrong ${buyer} 0`));
  });

  it('finds promised credit that was never given, once it is a day late', async () => {
    const said = whole.filter(({ stream }) => stream !== buyer && stream !== merchant && stream !== paidOut);
    assert.deepEqual(await tell(said), [`accountWrong ${paymentA} 6`]);
    const young = await audit({ log: written(said), grounds: shown, now: minute(600) });
    assert.deepEqual(pointed(young), []);
  });

  it('finds credit that a buyer spent and no merchant received', async () => {
    assert.deepEqual(await tell(but(merchant, paidOut)), [`accountWrong ${buyer} 1`]);
  });

  it('finds cashback that was withdrawn and that no payment pays out', async () => {
    assert.deepEqual(await tell(but(paidOut)), [`accountWrong ${merchant} 1`]);
  });

  describe('for a withdrawal whose payment bounced', () => {
    const bounce = bounced('payoutImpossible', '0.30');
    const [taken] = withdrawn as readonly { readonly data: { readonly after: typeof cashback.initial } }[];
    assert.ok(taken);
    const [returned] = returnWithdrawal(
      taken.data.after,
      { paymentId: withdrawalId, cents: 30n },
      { seen: taken.data.after, now: at },
    ) as readonly DomainEvent[];
    assert.ok(returned);
    const again = [...whole, ...on(paidOut, bounce), ...on(merchant, returned)];

    it('finds nothing where its cents returned to the account', async () => assert.deepEqual(await tell(again), []));

    it('finds cents that returned although the payment did not bounce', async () => {
      assert.deepEqual(await tell([...whole, ...on(merchant, returned)]), [`accountWrong ${merchant} 2`]);
    });

    it('finds cents that never returned, or more of them than were withdrawn', async () => {
      assert.deepEqual(await tell([...whole, ...on(paidOut, bounce)]), [`accountWrong ${paidOut} 2`]);
      const more = instead(again, merchant, 'WithdrawalReturned', (data: { after: object }) => ({
        ...{ cents: '31', after: { ...data.after, balance_cents: '31' } },
      }));
      assert.deepEqual(await tell(more), [`accountWrong ${merchant} 2`]);
    });
  });

  it('finds credit that is spent beyond what was earned', async () => {
    const beyond = instead(whole, buyer, 'CreditSpent', (data: { after: object }) => ({
      cents: '60',
      after: { ...data.after, balance_cents: '0' },
    }));
    assert.ok((await tell(beyond)).includes(`accountWrong ${buyer} 1`));
  });
});
