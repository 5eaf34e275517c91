/** The cost of a payment, computed without creating it. */
import assert from 'node:assert/strict';
import { goodRequest, startWorld, type World } from './world.ts';

describe('HTTP: a quote', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const base = '/payment-api/payments';
  const ask = (body: object = {}, query = 'dryrun=true', path = base) =>
    world.call('POST', `${path}?${query}`, { headers: world.keys.wallet, body: goodRequest(body) });
  const count = async () =>
    (await world.call('GET', `${base}?limit=100`, { headers: world.keys.walletAdmin })).body.data.length;

  it('states the payin, the payout and the fee, and creates nothing', async () => {
    const before = await count();
    const payFrom = [{ chainId: '56', tokenSymbol: 'USDC' }];
    const { status, body, headers } = await ask({ orderId: 'q-1', payFrom });
    assert.deepEqual([status, headers['location'], body.id], [202, undefined, undefined]);
    assert.partialDeepStrictEqual(body, {
      type: 'exactOut',
      source: {
        chainId: '8453',
        amount: '10.01',
        fee: '0.01',
        feeFixed: '0.01',
        feeBasisPoints: 0,
        minAmount: null,
        maxAmount: null,
      },
      destination: { chainId: '1', amount: '10.00' },
      payFrom: [{ chainId: '8453' }, { chainId: '56', amount: '10.01', fee: '0.01' }],
    });
    assert.equal(await count(), before);
    const { status: created } = await ask({ orderId: 'q-1' }, 'dryrun=false');
    assert.equal(created, 201);
  });

  it('states the limits of anyAmount', async () => {
    const { amount: _, ...destination } = goodRequest().destination as { amount: string };
    const { body } = await ask({ type: 'anyAmount', destination }, 'dryrun=true', '/payment-api');
    assert.partialDeepStrictEqual(body, {
      source: { amount: null, fee: null, minAmount: '0.02', maxAmount: '10000.00' },
      destination: { amount: null },
      payFrom: null,
    });
  });

  it('refuses the same as a creation, and values that are neither true nor false', async () => {
    const { status, body } = await ask({ source: { chainId: '8453', tokenSymbol: 'DOGE' } });
    assert.deepEqual([status, body.errors[0].pointer], [400, '/source/tokenSymbol']);
    for (const query of ['dryrun=yes', 'dryrun=', 'dryrun=true&dryrun=true', 'dryRun=true'])
      assert.equal((await ask({}, query)).status, 400, query);
    const keyless = await world.call('POST', `${base}?dryrun=true`, { body: goodRequest({ appId: 'merchant_demo' }) });
    assert.equal(keyless.status, 401);
  });
});
