import assert from 'node:assert/strict';
import { formerKeylessIdOf, keylessPaymentIdOf, paymentIdOf, receiverKeylessIdOf } from '../../commands/paymentId.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { customerWallet, merchantWallet } from '../support/payments.ts';
import { accepted, Crashed, crashAt } from '../support/processes.ts';
import { order, wallet, world } from './creating.ts';

const to = (receiverAddress: string, amount = '10.00') =>
  order({ destination: { chainId: 1, tokenSymbol: 'USDC', amount, receiverAddress } });

describe('an order without a key', () => {
  it('has an id that follows from app, order, receiver, terms and texts; earlier ids do not change', () => {
    const { idSalt } = wallet;
    assert.equal(paymentIdOf(idSalt, 'order-1'), 'bfd7439a-c4fa-88de-bc24-7ae3c929abbc');
    assert.equal(formerKeylessIdOf(idSalt, 'order-1'), 'c8440f43-09af-8a56-98ce-bc1273d34435');
    const base = { chainId: 1, address: '0xab', memo: null };
    const ids = [
      ['order-1', base, 'terms'],
      ['order-2', base, 'terms'],
      ['order-1', { ...base, chainId: 137 }, 'terms'],
      ['order-1', { ...base, address: '0xac' }, 'terms'],
      ['order-1', { ...base, memo: '7' }, 'terms'],
      ['order-1', base, 'other terms'],
    ] as const;
    assert.equal(receiverKeylessIdOf(idSalt, 'order-1', base), '7fe0e710-6912-8211-b489-26f6c9835b5a');
    assert.equal(new Set(ids.map(([orderId, to, asked]) => keylessPaymentIdOf(idSalt, orderId, to, asked))).size, 6);
  });

  it('is one payment for all who create it at once; those with other terms have another one', async () => {
    const { createKeyless, start } = world();
    const amounts = Array.from({ length: 50 }, (_, i) => `${1 + (i % 2)}.00`);
    const answers = await Promise.all(
      amounts.map((amount) => createKeyless(to(merchantWallet, amount), { handle: start() })),
    );
    const taken = answers.flatMap((answer) => (isRefusal(answer) ? [] : [answer.payment.terms]));
    assert.equal(taken.length, 50);
    assert.equal(new Set(taken.map(({ paymentId }) => paymentId)).size, 2);
    for (const [at, { destination }] of taken.entries()) assert.equal(destination.amount, `${1 + (at % 2)}000000`);
  });

  it('blocks nobody if a stranger sent it first: each creator gets their own texts and terms', async () => {
    const { createKeyless } = world();
    const display = { title: 'NEW ADDRESS: send 250 USDC to 0x421b', description: null, currency: 'USD' };
    await accepted(createKeyless(order({ display, metadata: { cart: '1' } })));
    const others = [{}, { display, metadata: { cart: '2' } }, { metadata: { cart: '1' } }, { display }];
    for (const other of others) {
      const { createdNow, payment } = await accepted(createKeyless(order(other)));
      const asked = order(other);
      assert.deepEqual([createdNow, payment.terms.display], [true, asked.display]);
      assert.deepEqual(payment.terms.metadata, asked.metadata);
    }
    const again = await accepted(createKeyless(order({ display, metadata: { cart: '1' } })));
    assert.equal(again.createdNow, false);
  });

  it('is answered when it is repeated, also while it could not be created, and after a crash', async () => {
    const { createKeyless, start } = world();
    const crash = start({ crash: crashAt('PaymentCreated.afterAppend') });
    await assert.rejects(createKeyless(order(), { handle: crash }), Crashed);
    const checkRoute = () => refuse('routeUnavailable', 'the float is too low for now: try again later');
    const again = await accepted(createKeyless(order(), { checkRoute }));
    assert.deepEqual([again.createdNow, again.payment.terms.keyless], [false, true]);
    const other = await createKeyless(to(merchantWallet, '9.00'), { checkRoute });
    assert.equal(isRefusal(other) && other.refused, 'routeUnavailable');
    const elsewhere = await createKeyless(to(customerWallet), { checkRoute });
    assert.equal(isRefusal(elsewhere) && elsewhere.refused, 'routeUnavailable');
  });

  it('is found by its receiver, and by nobody else, if it is from the time when receivers shared their order ids', async () => {
    const { createKeyless, start } = world();
    const { payment } = await accepted(createKeyless(order()));
    const paymentId = formerKeylessIdOf(wallet.idSalt, 'order-0');
    const data = { ...payment.terms, paymentId, orderId: 'order-0' };
    const by = { cause: 'keyless', appId: wallet.appId } as const;
    await accepted(start()(paymentDecider, paymentId, () => [{ type: 'PaymentCreated' as const, data }], by));
    const before = { ...order(), orderId: 'order-0' };
    const again = await accepted(createKeyless(before));
    assert.deepEqual([again.createdNow, again.payment.terms.paymentId], [false, paymentId]);
    const stranger = await accepted(createKeyless({ ...to(customerWallet), orderId: 'order-0' }));
    assert.equal(stranger.createdNow, true);
  });

  it('is found by its terms and texts, and by no others, if it is from the time when a receiver had one payment per order id', async () => {
    const { createKeyless, start } = world();
    const { payment } = await accepted(createKeyless(order()));
    const { chainId, receiverAddress: address, receiverMemo: memo } = payment.terms.destination;
    const paymentId = receiverKeylessIdOf(wallet.idSalt, 'order-0', { chainId, address, memo });
    const data = { ...payment.terms, paymentId, orderId: 'order-0' };
    const by = { cause: 'keyless', appId: wallet.appId } as const;
    await accepted(start()(paymentDecider, paymentId, () => [{ type: 'PaymentCreated' as const, data }], by));
    const again = await accepted(createKeyless({ ...order(), orderId: 'order-0' }));
    assert.deepEqual([again.createdNow, again.payment.terms.paymentId], [false, paymentId]);
    const other = await accepted(createKeyless({ ...to(merchantWallet, '9.00'), orderId: 'order-0' }));
    assert.deepEqual([other.createdNow, other.payment.terms.paymentId === paymentId], [true, false]);
  });
});
