import assert from 'node:assert/strict';
import { payer, stellarContract, stellarReceiver, stellarTreasury } from '../support/contractPayments.ts';
import { goodRequest, receiver, startWorld, unknowable, type World } from './world.ts';

const base = '/payment-api/payments';
const source = { chainId: 1500, tokenSymbol: 'USDC' };
const intoContract = (more: object = {}) => ({
  type: 'anyAmount',
  intent: 'stellar_payin_contracts',
  source: { ...source, senderAddress: payer },
  destination: { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: receiver },
  ...more,
});
const onStellar = { chainId: 1500, tokenSymbol: 'USDC', amount: '10.00', receiverAddress: stellarReceiver };

describe('HTTP: payments on Stellar', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const create = (body: object) => world.call('POST', base, { headers: world.keys.wallet, body: goodRequest(body) });
  const get = (id: string) => world.call('GET', `${base}/${id}`, { headers: world.keys.wallet });

  it('into the contract: the answer holds the contract, the memo for pay() and an expiry one hour away', async () => {
    const { status, body } = await create(intoContract());
    assert.equal(status, 201);
    assert.deepEqual([body.type, body.status], ['anyAmount', 'payment_unpaid']);
    assert.equal(body.source.receiverAddressContract, stellarContract);
    assert.match(body.source.receiverMemoContract, /^[0-9a-f]{28}$/);
    assert.deepEqual([body.source.senderAddress, body.source.amount, body.source.fee], [payer, null, null]);
    assert.equal(Date.parse(body.expiresAt) - Date.parse(body.createdAt), 3_600_000);
    assert.deepEqual((await get(body.id)).body, body);
  });

  it('into the contract: the answer holds what a plain transfer needs as well, with the same memo', async () => {
    const { source } = (await create(intoContract())).body;
    assert.deepEqual([source.receiverAddress, source.receiverMemo], [stellarTreasury, source.receiverMemoContract]);
  });

  it('into the contract, exactOut: the amount to pay is what the receiver gets and the fee', async () => {
    const { body } = await create(
      intoContract({ type: 'exactOut', destination: { ...intoContract().destination, amount: '10.00' } }),
    );
    assert.deepEqual([body.source.amount, body.source.fee, body.destination.amount], ['10.01', '0.01', '10.00']);
  });

  it('to the treasury: the answer holds its address and the memo to send along', async () => {
    const { body } = await create({ source });
    const { receiverAddress, receiverMemo, receiverAddressContract, receiverMemoContract } = body.source;
    assert.deepEqual([receiverAddress, receiverAddressContract, receiverMemoContract], [stellarTreasury, null, null]);
    assert.match(receiverMemo, /^[0-9]{1,19}$/);
  });

  it('paid out on Stellar: the receiver’s memo comes back', async () => {
    const { body } = await create({ destination: { ...onStellar, receiverMemo: '4711' } });
    assert.deepEqual([body.destination.receiverAddress, body.destination.receiverMemo], [stellarReceiver, '4711']);
  });

  it('answers 503 with Retry-After while it is unknown whether the receiver can receive the token', async () => {
    const { status, body, headers } = await create({ destination: { ...onStellar, receiverAddress: unknowable } });
    assert.deepEqual([status, body.error], [503, 'unavailable']);
    assert.match(String(headers['retry-after']), /^[1-9][0-9]*$/);
  });
});
