/** Payers set the refund address of held money on the payment's page, signed with the key that paid. */
import assert from 'node:assert/strict';
import type { Transfer } from '../../domain/payment/events.ts';
import { type Buyer, buyers } from '../support/credit.ts';
import { bounced, confirmed, merchantWallet, payin } from '../support/payments.ts';
import { goodRequest, paymentSecrets, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const payer = buyers.evm(4);
const transfer: Transfer = { ...payin({ amount: '3.00' }), from: payer.address };

describe('HTTP: a payer’s refund address', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function held(): Promise<{ id: string; path: string }> {
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    await world.happen(body.id, [confirmed(transfer), bounced('amountTooLow', '3.00')]);
    return { id: body.id, path: `/pay/${paymentSecrets.secretOf(body.id)}` };
  }
  const get = async (path: string) => {
    const answer = await fetch(`${world.url}${path}`, { headers: { accept: 'text/html' } });
    return { answer, page: await answer.text() };
  };
  const post = (path: string, fields: Readonly<Record<string, string>>, origin = world.url) =>
    fetch(`${world.url}${path}/refund`, {
      method: 'POST',
      headers: { accept: 'text/html', origin },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
  const step = (path: string, to: string, from = payer.address) =>
    get(`${path}/refund?${new URLSearchParams({ from, to, lang: 'en' })}`);
  const textIn = (page: string) =>
    /<pre[^>]*>([^<]+)<\/pre>/.exec(page)?.[1]?.replaceAll('&quot;', '"').replaceAll('&#39;', "'") ??
    assert.fail('no text to sign');
  const signed = async (path: string, to: string, signer: Buyer = payer) => {
    const signature = await signer.sign(textIn((await step(path, to)).page));
    return { from: payer.address, to, number: '1', signature, lang: 'en' };
  };
  const proven = async (id: string) => {
    const { body } = await world.call('GET', `${base}/${id}/refunds`, { headers: world.keys.walletAdmin });
    return body.held[0].provenAmount;
  };

  it('is requested while money is held, and only on the payment’s own page', async () => {
    const { path } = await held();
    const { page } = await get(path);
    assert.match(page, new RegExp(`href="${path}/refund\\?lang=en"`));
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    assert.doesNotMatch((await get(`/pay/${paymentSecrets.secretOf(body.id)}`)).page, /\/refund\?/);
    assert.equal((await get('/pay/nonsense/refund')).answer.status, 404);
  });

  it('is set without scripts by a signature of the key that paid', async () => {
    const { id, path } = await held();
    const first = await get(`${path}/refund`);
    assert.match(first.page, /<h1>Refund address</);
    assert.match(first.answer.headers.get('content-security-policy') ?? '', /form-action 'self'/);
    const fields = await signed(path, merchantWallet);
    const saved = await post(path, fields);
    assert.deepEqual([saved.status, saved.headers.get('location')], [303, `${path}?lang=en`]);
    assert.equal(await proven(id), '3.00');
    assert.match((await get(`${path}?lang=en`)).page, /The refund goes to/);
    assert.equal((await post(path, fields)).status, 303, 'sent again, it sets nothing more');
  });

  it('is refused with a message in the payer’s language, and nothing is set', async () => {
    const { id, path } = await held();
    assert.match((await step(path, 'nonsense')).page, /This is not an address on Base/);
    const stranger = await post(path, await signed(path, merchantWallet, buyers.evm(5)));
    assert.equal(stranger.status, 400);
    assert.match(await stranger.text(), /not a signature of this text/);
    const swapped = { ...(await signed(path, merchantWallet)), to: payer.address };
    assert.equal((await post(path, swapped)).status, 400);
    const outdated = { ...(await signed(path, merchantWallet)), number: '2' };
    assert.match(await (await post(path, outdated)).text(), /cannot be saved right now/);
    assert.equal((await post(path, {})).status, 400);
    assert.equal((await post(path, await signed(path, merchantWallet), 'https://elsewhere.example')).status, 403);
    assert.equal(await proven(id), '0.00');
    for (const lang of ['es', 'de', 'zh', 'ar'])
      assert.equal((await get(`${path}/refund?lang=${lang}`)).answer.status, 200, lang);
  });
});
