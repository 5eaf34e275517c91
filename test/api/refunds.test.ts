import assert from 'node:assert/strict';
import type { Transfer } from '../../domain/payment/events.ts';
import { buyers } from '../support/credit.ts';
import { baseUsdc, bounced, confirmed, merchantWallet, of, payin, refundAddressSet } from '../support/payments.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const payer = buyers.evm(3);
const transfer: Transfer = { ...payin({ amount: '3.00' }), from: payer.address };

describe('HTTP: refunds', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const create = async (headers = world.keys.wallet): Promise<string> =>
    (await world.call('POST', base, { headers, body: goodRequest() })).body.id;
  /** Creates an underpaid payment that has ended. With `proven`, its payer has set a refund address. */
  async function held({ proven = true } = {}): Promise<string> {
    const id = await create();
    await world.happen(id, [
      confirmed(transfer),
      bounced('amountTooLow', '3.00'),
      ...(proven ? [refundAddressSet(merchantWallet, { sender: payer.address, transfer })] : []),
    ]);
    return id;
  }
  const order = (id: string, body: object, headers = world.keys.walletAdmin) =>
    world.call('POST', `${base}/${id}/refunds`, { headers, body });
  const list = (id: string) => world.call('GET', `${base}/${id}/refunds`, { headers: world.keys.walletAdmin });
  const part = { chainId: '8453', tokenAddress: baseUsdc.token.address, amount: '1.00' };

  it('show the held money, the part that can be ordered, and the cost of sending it', async () => {
    const { status, body } = await list(await held());
    assert.equal(status, 200);
    const { tokenAddress, ...money } = body.held[0];
    assert.equal(tokenAddress, baseUsdc.token.address);
    assert.deepEqual(money, {
      reason: 'bounced',
      chainId: '8453',
      tokenSymbol: 'USDC',
      amount: '3.00',
      provenAmount: '3.00',
      networkFee: '0.05',
    });
    assert.deepEqual(body.data, []);
    assert.equal((await list(await held({ proven: false }))).body.held[0].provenAmount, '0.00');
  });

  it('order all of it, to the address that the payer has signed, less the cost of sending it', async () => {
    const id = await held();
    const { status, body } = await order(id, { scope: 'all', reason: 'The order was cancelled' });
    assert.equal(status, 200);
    const [refund] = body.data;
    assert.deepEqual(
      [refund.refund, refund.status, refund.amount, refund.networkFee, refund.receiverAddress, refund.requestedBy],
      [1, 'ordered', '2.95', '0.05', merchantWallet, 'key'],
    );
    assert.deepEqual((await list(id)).body, { data: body.data, held: [] });
    const payment = await world.call('GET', `${base}/${id}`, { headers: world.keys.wallet });
    assert.deepEqual(payment.body.refunds, body.data);
    assert.equal(payment.body.status, 'payment_bounced');
  });

  it('orders an amount of one token, once by the same key', async () => {
    const id = await held();
    const first = await order(id, { ...part, idempotencyKey: 'r-1' });
    assert.equal(first.status, 200);
    assert.deepEqual((await order(id, { ...part, idempotencyKey: 'r-1' })).body, first.body);
    const other = await order(id, { ...part, amount: '1.01', idempotencyKey: 'r-1' });
    assert.deepEqual(
      [other.status, other.body.error, other.body.errors[0].pointer],
      [409, 'orderConflict', '/idempotencyKey'],
    );
    assert.equal((await order(id, part)).body.data[0].refund, 2);
    assert.equal((await list(id)).body.held[0].amount, '1.00');
  });

  it('never exceed the held money, though twenty are requested at once', async () => {
    const id = await held();
    const answers = await Promise.all(Array.from({ length: 20 }, () => order(id, { ...part, amount: '0.30' })));
    assert.equal(answers.filter(({ status }) => status === 200).length, 10);
    assert.equal(answers.filter(({ body }) => body.error === 'refundExceedsHeld').length, 10);
    const { body } = await list(id);
    const taken = body.data.reduce(
      (sum: bigint, each: { amount: string; networkFee: string }) => sum + of(each.amount) + of(each.networkFee),
      0n,
    );
    assert.equal(taken, of('3.00'));
  });

  it('explain the next step if nobody has proven an address: the sender may be an exchange', async () => {
    const id = await held({ proven: false });
    for (const body of [{}, { scope: 'all' }, part]) {
      const refused = await order(id, body);
      assert.deepEqual([refused.status, refused.body.error], [409, 'refundAddressUnproven']);
      assert.match(refused.body.message, /payment’s page/);
    }
    assert.deepEqual((await list(id)).body.data, []);
  });

  it('refuse money that is not held, amounts below their cost, and payments created without a key', async () => {
    const nothing = await order(await create(), { scope: 'all' });
    assert.deepEqual([nothing.status, nothing.body.error], [409, 'refundExceedsHeld']);
    const id = await held();
    const excess = await order(id, { scope: 'excess' });
    assert.equal(excess.body.error, 'refundExceedsHeld');
    const small = await order(id, { ...part, amount: '0.05' });
    assert.deepEqual(
      [small.status, small.body.error, small.body.errors[0].pointer],
      [409, 'refundTooSmall', '/amount'],
    );
    const keyless = (await world.call('POST', base, { body: goodRequest({ appId: 'wallet_demo' }) })).body.id;
    assert.equal((await order(keyless, { scope: 'all' })).status, 403);
  });

  it('point at the faulty field of the body', async () => {
    const id = await held();
    const wrong: readonly (readonly [body: object, pointer: string])[] = [
      [{ scope: 'some' }, '/scope'],
      [{ scope: 'all', ...part }, '/scope'],
      [{ scope: 'part' }, '/chainId'],
      [{ amount: '1.00' }, '/chainId'],
      [{ chainId: '8453', amount: '1.00' }, '/tokenAddress'],
      [{ chainId: '8453', tokenAddress: part.tokenAddress }, '/amount'],
      [{ ...part, chainId: '12345' }, '/chainId'],
      [{ ...part, tokenAddress: merchantWallet }, '/tokenAddress'],
      [{ ...part, amount: '0' }, '/amount'],
      [{ ...part, amount: '-1' }, '/amount'],
      [{ ...part, amount: '1.0000001' }, '/amount'],
      [{ ...part, amount: 1 }, '/amount'],
      [{ reason: 'x'.repeat(401) }, '/reason'],
      [{ idempotencyKey: '' }, '/idempotencyKey'],
      [{ receiverAddress: merchantWallet }, '/receiverAddress'],
    ];
    for (const [body, pointer] of wrong) {
      const refused = await order(id, body);
      assert.equal(refused.status, 400, JSON.stringify(body));
      assert.equal(refused.body.errors[0].pointer, pointer, JSON.stringify(body));
    }
    assert.deepEqual((await list(id)).body.data, []);
  });

  it('need keys of scope admin, and payments of their app', async () => {
    const id = await held();
    assert.equal((await order(id, {}, world.keys.wallet)).status, 403);
    assert.equal((await world.call('POST', `${base}/${id}/refunds`, { body: {} })).status, 401);
    for (const [of_, headers] of [
      [id, world.keys.otherAdmin],
      ['nonsense', world.keys.walletAdmin],
    ] as const) {
      const refused = await order(of_, {}, headers);
      assert.deepEqual([refused.status, refused.body.error], [404, 'paymentNotFound']);
      assert.equal((await world.call('GET', `${base}/${of_}/refunds`, { headers })).status, 404);
    }
  });
});
