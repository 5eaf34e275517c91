/** The facilitator of x402 for merchants' servers: it pays gas for deposits of the caller's own payments alone. */
import assert from 'node:assert/strict';
import { systemClock } from '../../src/process/system.ts';
import { confirmed, detected, funded } from '../support/payments.ts';
import { appId, paymentId, relayDesk } from '../support/relayDesk.ts';
import { anyPayer, authorize, type Requirement } from '../support/x402.ts';
import { startWorld, type World } from './world.ts';

describe('the facilitator', () => {
  let world: World;
  let desk: Awaited<ReturnType<typeof relayDesk>>;
  let owner: { readonly paymentId: string; readonly appId: string };
  beforeEach(async () => {
    desk = await relayDesk();
    owner = { paymentId, appId };
    world = await startWorld({
      relays: desk.relays,
      networks: new Map([['eip155:8453', 8453]]),
      relayAccountOn: () => '',
      clock: { ...desk.clock, sleep: systemClock.sleep },
      settleWait_ms: 50,
      depositPayment: async (_chainId, address) => (address === (await due()).payTo ? owner : null),
    });
  });
  afterEach(() => world.stop());

  async function due(): Promise<Requirement> {
    const payTo = (await desk.desk())?.payment.deposits.evm?.address ?? assert.fail();
    return {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '10010000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: payTo as Requirement['payTo'],
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    };
  }

  async function signed(altered: Partial<Requirement> = {}) {
    const paymentRequirements = { ...(await due()), ...altered };
    const payer = anyPayer();
    const validBefore = String(Math.floor(Date.parse(desk.clock.now()) / 1_000) + 300);
    const payload = await authorize(payer, paymentRequirements, { validBefore });
    const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload };
    return { payer, body: { x402Version: 2, paymentPayload, paymentRequirements } };
  }
  const post = (path: 'verify' | 'settle', body: object, headers = world.keys.wallet) =>
    world.call('POST', `/x402/${path}`, { body, headers });

  it('lists the networks that it settles, only to callers with a key', async () => {
    const { status, body } = await world.call('GET', '/x402/supported', { headers: world.keys.wallet });
    assert.equal(status, 200);
    assert.deepEqual(body.kinds, [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }]);
    const { body: sent } = await signed();
    for (const [method, path] of [
      ['GET', '/x402/supported'],
      ['POST', '/x402/verify'],
      ['POST', '/x402/settle'],
    ] as const)
      assert.equal((await world.call(method, path, method === 'POST' ? { body: sent } : {})).status, 401, path);
  });

  it('verifies without recording anything, and settles once, however often it is called', async () => {
    const { payer, body } = await signed();
    assert.deepEqual((await post('verify', body)).body, { isValid: true, payer: payer.address });
    assert.equal(await desk.relay(1), null);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => post('settle', body)));
    for (const { status, body: told } of answers) {
      assert.deepEqual([status, told.success, told.errorReason], [200, false, 'settlement_pending']);
      assert.equal(told.payer, payer.address);
    }
    assert.equal(await desk.relay(2), null);
    // An authorization in progress is valid: a merchant whose call timed out verifies and settles again.
    assert.equal((await post('verify', body)).body.isValid, true);
    const other = await signed();
    assert.equal((await post('verify', other.body)).body.invalidReason, 'duplicate_settlement');
    assert.equal((await post('settle', other.body)).body.errorReason, 'duplicate_settlement');
    const transfer = desk.paidBy(payer.address);
    await desk.record([detected(transfer), confirmed(transfer), funded([transfer])]);
    const paid = await Promise.all([post('settle', body), post('settle', body)]);
    for (const { body: told } of paid)
      assert.deepEqual(told, {
        success: true,
        transaction: transfer.txHash,
        network: 'eip155:8453',
        payer: payer.address,
        amount: '10010000',
      });
  });

  it('refuses a receiver that is not the deposit of a payment of the caller, and states the next step', async () => {
    const elsewhere = await signed({ payTo: anyPayer().address });
    const own = await signed();
    const foreign = async () => {
      owner = { paymentId, appId: 'merchant_other' };
      return own;
    };
    for (const { body } of [elsewhere, await foreign()]) {
      const verified = (await post('verify', body)).body;
      assert.equal(verified.invalidReason, 'invalid_exact_evm_payload_recipient_mismatch');
      assert.match(verified.invalidMessage, /create one with POST \/payment-api\/payments/);
      const settled = (await post('settle', body)).body;
      assert.deepEqual([settled.success, settled.transaction], [false, '']);
    }
    assert.equal(await desk.relay(1), null);
  });

  it('compares with the payment’s own terms, whatever the requirements and the echo say', async () => {
    const cheap = await signed({ amount: '1' });
    const { body: honest } = await signed();
    const forged = {
      ...honest,
      paymentPayload: {
        ...honest.paymentPayload,
        payload: { ...honest.paymentPayload.payload, signature: `0x${'11'.repeat(65)}` },
      },
    };
    const wrong = [
      [cheap.body, 'invalid_exact_evm_payload_authorization_value_mismatch'],
      [
        { ...cheap.body, paymentRequirements: honest.paymentRequirements },
        'invalid_exact_evm_payload_authorization_value_mismatch',
      ],
      [forged, 'invalid_exact_evm_signature'],
      [{ ...honest, paymentRequirements: { ...honest.paymentRequirements, network: 'eip155:1' } }, 'invalid_network'],
    ] as const;
    for (const [body, reason] of wrong) {
      assert.equal((await post('verify', body)).body.invalidReason, reason);
      assert.equal((await post('settle', body)).body.errorReason, reason);
    }
    for (const body of [{}, { paymentPayload: {}, paymentRequirements: {} }, { ...honest, paymentPayload: [] }])
      assert.equal((await post('settle', body)).status, 400);
    assert.equal(await desk.relay(1), null);
  });

  it('answers 429 when gas for the hour is used up, so that a server tries again', async () => {
    desk.around.limits = { ...desk.around.limits, perHour_microUsd: 1n };
    const { status, headers } = await post('settle', (await signed()).body);
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) > 0);
  });
});
