import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { type RefundOrder, requestRefunds } from '../../../domain/payment/refundOrder.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  type Asset,
  baseUsdc,
  bnbUsdc,
  bounced,
  confirmed,
  customerWallet,
  done,
  ethereumUsdc,
  funded,
  merchantWallet,
  minute,
  of,
  ordered,
  paid,
  payin,
  paymentAfter,
  refundAddressSet,
  refundCost,
  refundOrder,
  refundRequested,
  treasuryAccount,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);
type State = Parameters<typeof requestRefunds>[0];

const asking =
  (order: Partial<RefundOrder> = {}, costOf: Parameters<typeof requestRefunds>[2] = refundCost) =>
  (state: State) =>
    requestRefunds(state, refundOrder(order), costOf, minute(71));
const proven = { to: 'proven', by: 'key' } as const;
const part = (amount: string, asset: Asset = baseUsdc): RefundOrder['scope'] => ({
  chainId: asset.chain.id,
  tokenAddress: asset.token.address,
  amount: of(amount, asset),
});
/** `amount to` of each ordered refund. */
const orders = (history: readonly PaymentEvent[], order: Partial<RefundOrder>) => {
  const decided = asking(order)(paymentAfter(history));
  if (isRefusal(decided)) return decided.refused;
  return decided.map(({ data }) => 'receiverAddress' in data && `${data.amount} ${data.receiverAddress}`);
};

const stranger = merchantWallet;
const fromStranger = { ...payin({ amount: '0.50', tx: 'stranger' }), from: stranger };
const much = payin({ amount: '12.50' });
const overpaid = [...unpaid, confirmed(much), funded([much], { rule: 'overpaid', received: '12.50', excess: '2.49' })];
const short = [...unpaid, confirmed(payin({ amount: '3.00' })), bounced('amountTooLow', '3.00')];
const wrong = payin({ in: bnbUsdc, amount: '5.00', tx: 'wrong' });
const mixed = [...unpaid, confirmed(wrong), confirmed(payin({ amount: '3.00' })), bounced('amountTooLow', '3.00')];

describe('a refund that an operator orders', () => {
  it('concerns everything refundable, each token separately, less the cost of sending it', () => {
    given(short)
      .when(asking())
      .then([refundRequested('2.95', { networkFee: '0.05' })]);
    given(mixed)
      .when(asking())
      .then([
        refundRequested('4.95', { refund: 1, in: bnbUsdc, networkFee: '0.05' }),
        refundRequested('2.95', { refund: 2, networkFee: '0.05' }),
      ]);
  });

  it('states who requested it and why', () => {
    given(short)
      .when(asking({ note: 'he asked for it' }))
      .then([refundRequested('2.95', { networkFee: '0.05', request: { note: 'he asked for it' } })]);
  });

  it('concerns the excess over the amount due', () => {
    const ofExcess = refundRequested('2.44', { reason: 'excess', networkFee: '0.05', request: { scope: 'excess' } });
    given(overpaid)
      .when(asking({ scope: 'excess' }))
      .then([ofExcess]);
    for (const history of [short, paid, done])
      given(history)
        .when(asking({ scope: 'excess' }))
        .thenRefused('refundExceedsHeld');
  });

  it('concerns an amount of one token, up to the held and unordered money', () => {
    given(short)
      .when(asking({ scope: part('1.00'), key: 'a' }))
      .then([refundRequested('0.95', { networkFee: '0.05', request: { scope: 'part', requestKey: 'a' } })]);
    given(short)
      .when(asking({ scope: part('3.01') }))
      .thenRefused('refundExceedsHeld', /at most 3\.00 USDC is refundable/);
    given([...short, refundRequested('0.95', { networkFee: '0.05' })])
      .when(asking({ scope: part('2.01') }))
      .thenRefused('refundExceedsHeld', /2\.00 USDC/);
    given(short)
      .when(asking({ scope: part('1.00', ethereumUsdc) }))
      .thenRefused('refundExceedsHeld', /this token/);
  });

  it('is refused where nothing is held: paid-out money belongs to the merchant', () => {
    for (const history of [unpaid, paid, ordered, done]) given(history).when(asking()).thenRefused('refundExceedsHeld');
    given([...short, refundRequested('3.00')])
      .when(asking())
      .thenRefused('refundExceedsHeld');
    given([]).when(asking()).thenRefused('paymentNotFound');
  });

  it('must cover the cost of sending it; beside other money, a smaller rest remains held', () => {
    const cents = [...unpaid, confirmed(payin({ amount: '0.05' })), bounced('amountTooLow', '0.05')];
    given(cents)
      .when(asking())
      .thenRefused('refundTooSmall', /0\.05 USDC would not cover what sending it costs, 0\.05 USDC/);
    given(short)
      .when(asking({ scope: part('0.04') }))
      .thenRefused('refundTooSmall');
    const dust = confirmed(payin({ in: bnbUsdc, amount: '0.01', tx: 'dust' }));
    assert.deepEqual(orders([...short, dust], {}), [`${of('2.95')} ${customerWallet}`]);
  });

  it('waits while the cost is unknown for money that was held meanwhile', () => {
    given(short)
      .when(asking({}, () => undefined))
      .thenRefused('unavailable', /try again/);
  });

  it('is ordered once by the same key, and not by a key that ordered another', () => {
    const key = { scope: part('1.00'), key: 'a' };
    const once = [
      ...short,
      refundRequested('0.95', { networkFee: '0.05', request: { scope: 'part', requestKey: 'a' } }),
    ];
    given(once).when(asking(key)).thenNothing();
    for (const other of [
      { scope: part('0.99') },
      { scope: 'all' as const },
      { to: { address: merchantWallet, memo: null } },
      { by: 'owner' as const },
    ])
      given(once)
        .when(asking({ ...key, ...other }))
        .thenRefused('orderConflict');
    given(once)
      .when(asking({ ...key, key: 'b' }))
      .then([refundRequested('0.95', { refund: 2, networkFee: '0.05', request: { scope: 'part', requestKey: 'b' } })]);
  });

  it('is limited to a hundred per payment', () => {
    const many = Array.from({ length: 100 }, (_, n) => refundRequested('0.01', { refund: n + 1 }));
    given([...short, ...many])
      .when(asking())
      .thenRefused('conflict', /100 refunds/);
  });
});

describe('a refund that a merchant orders', () => {
  it('goes to nobody automatically: the sender may be an exchange', () => {
    given(short)
      .when(asking(proven))
      .thenRefused('refundAddressUnproven', /payment’s page/);
  });

  it('goes to the address that the sender has signed', () => {
    given([...short, refundAddressSet(merchantWallet)])
      .when(asking(proven))
      .then([
        refundRequested('2.95', {
          receiver: merchantWallet,
          networkFee: '0.05',
          request: { requestedBy: 'key', proof: { sender: customerWallet, by: 'signature' } },
        }),
      ]);
  });

  it('goes to a sender who has paid with signed messages before, on the chains that those prove', () => {
    const signers = [{ account: customerWallet, chainIds: [8453 as const] }];
    assert.deepEqual(orders(short, { ...proven, signers }), [`${of('2.95')} ${customerWallet}`]);
    assert.deepEqual(orders(mixed, { ...proven, signers }), [`${of('2.95')} ${customerWallet}`]);
  });

  it('goes by a contract’s signature only on the chain where it was checked', () => {
    const here = [...mixed, refundAddressSet(customerWallet, { by: 'contract', transfer: payin({ amount: '3.00' }) })];
    assert.deepEqual(orders(here, proven), [`${of('2.95')} ${customerWallet}`]);
    const byKey = [...mixed, refundAddressSet(customerWallet, { transfer: wrong })];
    assert.equal(orders(byKey, proven).length, 2);
  });

  it('goes by a key’s signature on the chain that it was for; on the others to the key’s own account alone', () => {
    const toOther = [...mixed, refundAddressSet(merchantWallet, { transfer: payin({ amount: '3.00' }) })];
    assert.deepEqual(orders(toOther, { ...proven, scope: part('3.00') }), [`${of('2.95')} ${merchantWallet}`]);
    assert.equal(orders(toOther, { ...proven, scope: part('5.00', bnbUsdc) }), 'refundAddressUnproven');
    const toOwn = [...mixed, refundAddressSet(customerWallet, { transfer: payin({ amount: '3.00' }) })];
    assert.deepEqual(orders(toOwn, { ...proven, scope: part('5.00', bnbUsdc) }), [
      `${of('4.95', bnbUsdc)} ${customerWallet}`,
    ]);
    const both = [...toOther, refundAddressSet(merchantWallet, { transfer: wrong, number: 2 })];
    assert.equal(orders(both, { ...proven, scope: part('5.00', bnbUsdc) }).length, 1);
  });

  it('moves the sender’s own money: a cent beside a stranger’s payment moves that cent alone', () => {
    const cent = refundAddressSet(stranger, { sender: stranger, transfer: fromStranger });
    const both = [
      ...unpaid,
      confirmed(payin({ amount: '3.00' })),
      confirmed(fromStranger),
      bounced('amountTooLow', '3.50'),
    ];
    assert.deepEqual(orders([...both, cent], proven), [`${of('0.45')} ${stranger}`]);
    assert.equal(orders([...both, cent], { ...proven, scope: part('3.50') }), 'refundAddressUnproven');
    const all = [...both, cent, refundAddressSet()];
    assert.deepEqual(orders(all, proven), [`${of('2.95')} ${customerWallet}`, `${of('0.45')} ${stranger}`]);
    const over = [
      ...unpaid,
      confirmed(much),
      confirmed(fromStranger),
      funded([much, fromStranger], { rule: 'overpaid', received: '13.00', excess: '2.99' }),
    ];
    assert.deepEqual(orders([...over, cent], proven), [`${of('0.45')} ${stranger}`]);
  });

  it('leaves others theirs when an operator has refunded one of them to an address of which nothing is proven', () => {
    const fromOther = { ...payin({ amount: '3.00', tx: 'other' }), from: stranger };
    const both = [
      ...unpaid,
      confirmed(payin({ amount: '3.00' })),
      confirmed(fromOther),
      bounced('amountTooLow', '6.00'),
      refundRequested('3.00', { receiver: treasuryAccount }),
    ];
    assert.equal(orders([...both, refundAddressSet()], proven), 'refundAddressUnproven');
    const helper = confirmed({ ...payin({ amount: '0.10', tx: 'helper' }), from: treasuryAccount });
    assert.deepEqual(orders([...both, helper, refundAddressSet()], proven), [`${of('0.05')} ${customerWallet}`]);
    const told = [...both.slice(0, -1), refundRequested('3.00'), refundAddressSet()];
    const other = refundAddressSet(stranger, { sender: stranger, transfer: fromOther });
    assert.deepEqual(orders([...told, other], proven), [`${of('2.95')} ${stranger}`]);
  });

  it('is not ordered twice, by whichever way the money was refunded', () => {
    const once = [...short, refundAddressSet()];
    const back = refundRequested('2.95', {
      networkFee: '0.05',
      request: { proof: { sender: customerWallet, by: 'signature' } },
    });
    given([...once, back])
      .when(asking(proven))
      .thenRefused('refundExceedsHeld');
    given([...once, refundRequested('2.00')])
      .when(asking({ ...proven, scope: part('1.01') }))
      .thenRefused('refundExceedsHeld');
    assert.deepEqual(orders([...once, refundRequested('2.00')], proven), [`${of('0.95')} ${customerWallet}`]);
  });
});
