/** An owner refunds money in the dashboard: first the order, then a code that is mailed for exactly this order. */
import assert from 'node:assert/strict';
import { baseUsdc, bounced, confirmed, merchantWallet, payin, refundAddressSet } from '../support/payments.ts';
import { Jar } from './desk.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
/** The world's accounts accept even codes. */
const [right, wrong] = ['314158', '314159'];

describe('the dashboard’s refunds', () => {
  let world: World;
  let ann: Jar;
  before(async () => {
    world = await startWorld();
    ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
  });
  after(() => world.stop());

  async function held({ proven = true } = {}): Promise<{ id: string; page: string }> {
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    const transfer = payin({ amount: '3.00' });
    const address = proven ? [refundAddressSet(merchantWallet, { transfer })] : [];
    await world.happen(body.id, [confirmed(transfer), bounced('amountTooLow', '3.00'), ...address]);
    return { id: body.id, page: `/dashboard/apps/wallet_demo/payments/${body.id}/refund` };
  }
  const refundsOf = async (id: string) =>
    (await world.call('GET', `${base}/${id}/refunds`, { headers: world.keys.walletAdmin })).body.data;
  /** Returns the hidden fields of the page that requests the code. */
  const hidden = (text: string): Record<string, string> =>
    Object.fromEntries(
      [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    );

  it('show the held money, and the amount, receiver and cost of a refund, before anything is ordered', async () => {
    const { id, page } = await held();
    assert.match((await ann.get(page)).text, /What is held/);
    const { status, text } = await ann.post(page, { scope: 'all', reason: 'cancelled' });
    assert.equal(status, 200);
    assert.match(text, /2\.95/);
    assert.match(text, /0\.05/);
    assert.ok(text.includes(merchantWallet.slice(6, -4)));
    assert.deepEqual(await refundsOf(id), []);
  });

  it('order it after the mailed code is entered, and only once', async () => {
    const { id, page } = await held();
    const order = hidden((await ann.post(page, { scope: 'all', reason: 'cancelled' })).text);
    const mistyped = await ann.post(`${page}/confirm`, { ...order, code: wrong });
    assert.deepEqual([mistyped.status, (await refundsOf(id)).length], [400, 0]);
    assert.match(mistyped.text, /another one/);
    const ordered = await ann.post(`${page}/confirm`, { ...order, code: right });
    assert.deepEqual([ordered.status, ordered.to], [303, page.replace('/refund', '')]);
    const [refund, ...more] = await refundsOf(id);
    assert.deepEqual([refund.amount, refund.requestedBy, more.length], ['2.95', 'owner', 0]);
    await ann.post(`${page}/confirm`, { ...order, code: right });
    assert.equal((await refundsOf(id)).length, 1);
  });

  it('order a part, and show an error beside its field', async () => {
    const { id, page } = await held();
    const part = { scope: 'part', asset: `8453 ${baseUsdc.token.address}` };
    for (const amount of ['3.01', '0.05', '0', '1.0000001']) {
      const refused = await ann.post(page, { ...part, amount });
      assert.ok(refused.status === 400 || refused.status === 409, amount);
      assert.match(refused.text, /id="field-amount-error"/, amount);
    }
    assert.match((await ann.post(page, part)).text, /id="field-amount-error"/);
    assert.equal((await ann.post(page, { ...part, asset: '8453 0x12', amount: '1' })).status, 400);
    const order = hidden((await ann.post(page, { ...part, amount: '1.00' })).text);
    assert.equal((await ann.post(`${page}/confirm`, { ...order, code: right })).status, 303);
    assert.deepEqual(
      (await refundsOf(id)).map((refund: { amount: string }) => refund.amount),
      ['0.95'],
    );
  });

  it('explain the next step if nobody has proven an address', async () => {
    const { page } = await held({ proven: false });
    const refused = await ann.post(page, { scope: 'all' });
    assert.equal(refused.status, 409);
    assert.match(refused.text, /Nobody has proven/);
  });

  it('concern payments of the owner’s app alone', async () => {
    const { id } = await held();
    assert.equal((await ann.get(`/dashboard/apps/wallet_closed/payments/${id}/refund`)).status, 404);
    assert.equal(
      (await ann.get('/dashboard/apps/wallet_demo/payments/0198f3c2-0000-8000-8000-00000000dead/refund')).status,
      404,
    );
    assert.equal(
      (
        await ann.post(`/dashboard/apps/wallet_demo/payments/0198f3c2-0000-8000-8000-00000000dead/refund`, {
          scope: 'all',
        })
      ).status,
      404,
    );
  });
});
