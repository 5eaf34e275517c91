/** The Payment scheme (MPP) on the endpoint of x402: the same bill, the same settlement, other headers. */
import assert from 'node:assert/strict';
import { keccak256, stringToBytes } from 'viem';
import { systemClock } from '../../src/process/system.ts';
import { createPaymentSecrets } from '../../src/security/masterKey.ts';
import { confirmed, detected, funded } from '../support/payments.ts';
import { paymentId, relayDesk } from '../support/relayDesk.ts';
import { anyPayer, ask402, authorize, headerOf, type Requirement } from '../support/x402.ts';
import { startWorld, type World } from './world.ts';

const secrets = createPaymentSecrets(Buffer.alloc(32, 3));
const fieldsOf = (header: string | null): Record<string, string> =>
  Object.fromEntries([...(header ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
const json = (text: string): any => JSON.parse(Buffer.from(text, 'base64url').toString());
const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the Payment scheme over HTTP', () => {
  let world: World;
  let desk: Awaited<ReturnType<typeof relayDesk>>;
  let link: string;
  beforeEach(async () => {
    desk = await relayDesk();
    world = await startWorld({
      relays: desk.relays,
      networks: new Map([['eip155:8453', 8453]]),
      paymentSecrets: secrets,
      clock: { ...desk.clock, sleep: systemClock.sleep },
      settleWait_ms: 50,
    });
    link = `${world.url}/pay/${secrets.secretOf(paymentId)}`;
  });
  afterEach(() => world.stop());

  const challenge = async () => fieldsOf((await ask402(link)).headers.get('www-authenticate'));

  /** As a client signs: the nonce is the hash of the challenge. */
  async function credential(payer = anyPayer(), altered: { readonly nonce?: `0x${string}` } = {}) {
    const fields = await challenge();
    const { amount, currency, recipient, methodDetails } = json(fields['request'] ?? '');
    const requirement = {
      network: `eip155:${methodDetails.chainId}`,
      amount,
      asset: currency,
      payTo: recipient,
      extra: { name: 'USD Coin', version: '2' },
    } as Requirement;
    const { signature, authorization } = await authorize(payer, requirement, {
      nonce: keccak256(stringToBytes(`${fields['id']}${fields['realm']}`)),
      validBefore: String(Math.floor(Date.parse(fields['expires'] ?? '') / 1_000)),
      ...altered,
    });
    return { challenge: fields, payload: { type: 'authorization', ...authorization, signature }, requirement };
  }
  const hand = (sent: object, headers: Record<string, string> = {}) =>
    ask402(link, undefined, { headers: { Authorization: `Payment ${text(sent)}`, ...headers } });

  it('challenges with the payment’s own terms, and binds the credential to them', async () => {
    const fields = await challenge();
    assert.deepEqual([fields['method'], fields['intent'], fields['realm']], ['evm', 'charge', new URL(world.url).host]);
    const { amount, recipient, methodDetails } = json(fields['request'] ?? '');
    assert.deepEqual(
      [amount, methodDetails],
      ['10010000', { chainId: 8453, credentialTypes: ['authorization'], decimals: 6 }],
    );
    assert.equal(recipient, (await desk.desk())?.payment.deposits.evm?.address);
    assert.ok(Date.parse(fields['expires'] ?? '') > Date.parse(desk.clock.now()));
  });

  it('is pending without another challenge, and then has one receipt however often the credential is sent', async () => {
    const payer = anyPayer();
    const sent = await credential(payer);
    const waiting = await Promise.all([hand(sent), hand(sent), hand(sent)]);
    for (const { status, body, headers } of waiting) {
      assert.deepEqual([status, body.error, headers.get('www-authenticate')], [402, 'settlement_pending', null]);
      assert.equal(headers.get('retry-after'), '5');
    }
    assert.equal(await desk.relay(2), null);
    const transfer = desk.paidBy(payer.address);
    await desk.record([detected(transfer), confirmed(transfer), funded([transfer])]);
    const paid = await Promise.all([hand(sent), hand(sent)]);
    const receipts = paid.map(({ headers }) => headers.get('payment-receipt'));
    assert.deepEqual(
      paid.map(({ status }) => status),
      [200, 200],
    );
    assert.equal(receipts[0], receipts[1]);
    const { method, status, reference } = json(receipts[0] ?? '');
    assert.deepEqual([method, status, reference], ['evm', 'success', transfer.txHash]);
  });

  it('refuses a credential for a challenge that this service did not issue, and a signature for another challenge', async () => {
    const sent = await credential();
    const { challenge: fields, payload } = sent;
    const cheap = text({ ...json(fields['request'] ?? ''), amount: '1' });
    for (const wrong of [
      { challenge: { ...fields, id: 'x'.repeat(43) }, payload },
      { challenge: { ...fields, request: cheap }, payload },
      { challenge: { ...fields, realm: 'elsewhere.example' }, payload },
      { challenge: { ...fields, expires: '2099-01-01T00:00:00Z' }, payload },
      { challenge: { ...fields, opaque: text({ quote: 'x' }) }, payload },
      { challenge: { ...fields, method: 'tempo' }, payload },
      { challenge: fields },
      { payload },
      await credential(anyPayer(), { nonce: `0x${'ab'.repeat(32)}` }),
    ])
      assert.equal((await hand(wrong)).status, 400, JSON.stringify(wrong));
    const forged = await hand({ ...sent, payload: { ...payload, signature: `0x${'11'.repeat(65)}` } });
    assert.equal(forged.status, 402);
    assert.match(forged.body.message, /signature/);
    assert.match(forged.headers.get('www-authenticate') ?? '', /^Payment id=/);
    assert.equal(await desk.relay(1), null);
    assert.equal((await hand(sent, { 'PAYMENT-SIGNATURE': headerOf(sent.requirement, payload) })).status, 400);
    assert.equal((await ask402(link, undefined, { headers: { Authorization: 'Payment x' } })).status, 400);
    assert.equal((await ask402(link, undefined, { headers: { Authorization: 'Bearer x' } })).status, 402);
  });

  it('settles an authorization of either protocol once', async () => {
    const sent = await credential();
    assert.equal((await hand(sent)).body.error, 'settlement_pending');
    const { type: _, signature, ...authorization } = sent.payload;
    const same = await ask402(link, headerOf(sent.requirement, { signature, authorization }));
    assert.equal(same.status, 400, 'x402 requires a scheme');
    const x402 = await ask402(link, headerOf({ ...sent.requirement, scheme: 'exact' }, { signature, authorization }));
    assert.equal(x402.response.errorReason, 'settlement_pending');
    assert.equal(await desk.relay(2), null);
  });
});
