/** Payers choose a source on the page of their payment: the owner's setting, and the request's field. */
import assert from 'node:assert/strict';
import { choicesMax } from '../../domain/payment/choose.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const polygon = { chainId: '137', tokenSymbol: 'USDC' };
const stellar = { chainId: '1500', tokenSymbol: 'USDC' };

describe('HTTP: the choice of a source', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const create = async (more: object = { payFrom: [polygon, stellar] }) => {
    const { status, body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest(more) });
    assert.equal(status, 201);
    return { body, path: new URL(body.paymentLink).pathname };
  };
  const get = async (path: string) => {
    const answer = await fetch(`${world.url}${path}`, { headers: { accept: 'text/html' } });
    return { headers: answer.headers, page: await answer.text() };
  };
  const choose = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${world.url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'same-origin', accept: 'text/html', ...headers },
      body: new URLSearchParams(fields),
    });

  it('is listed in the answer, and may be sent back', async () => {
    const { body } = await create();
    assert.deepEqual(
      body.payFrom.map(({ chainId, amount }: { chainId: string; amount: string }) => [chainId, amount]),
      [
        ['8453', '10.01'],
        ['137', '10.01'],
        ['1500', '10.01'],
      ],
    );
    const { body: again } = await create({ payFrom: body.payFrom });
    assert.deepEqual(again.payFrom, body.payFrom);
    assert.equal((await create({})).body.payFrom, null);
    assert.equal((await create({ payFrom: null })).body.payFrom, null);
  });

  it('is made by a form of the page, which works without scripts and goes nowhere else', async () => {
    const { body, path } = await create();
    const { page, headers } = await get(`${path}?lang=de`);
    assert.match(headers.get('content-security-policy') ?? '', /form-action 'self'/);
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    assert.match(page, /<legend>Zahlen von<\/legend>/);
    assert.match(page, /value="8453 USDC" aria-current="true"/);
    const answer = await choose(path, { source: '1500 USDC', lang: 'de' });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${path}?lang=de`]);
    const chosen = (await get(path)).page;
    assert.match(chosen, /value="1500 USDC" aria-current="true"/);
    assert.match(chosen, /web\+stellar:pay/);
    const { body: now } = await world.call('GET', `${base}/${body.id}`, { headers: world.keys.wallet });
    assert.deepEqual([now.source.chainId, now.source.amount], ['1500', '10.01']);
    assert.notEqual(now.source.receiverMemo, null);
  });

  it('is no form without a choice', async () => {
    const { path } = await create({});
    const { page, headers } = await get(path);
    assert.ok(!page.includes('<form'));
    assert.match(headers.get('content-security-policy') ?? '', /form-action 'none'/);
    assert.equal((await choose(path, { source: '137 USDC' })).status, 400);
  });

  it('shows the page again with a message when the choice is impossible', async () => {
    const { path } = await create();
    for (const source of ['56 USDT', '137 usdc', 'x', '999999999999 USDC', '137 USDC more', '8453']) {
      const answer = await choose(path, { source });
      assert.equal(answer.status, 400, source);
      assert.match(await answer.text(), /That option is not available right now/);
    }
    assert.equal((await choose(path, {})).status, 400);
    assert.equal((await choose(path, { source: '137 USDC', more: 'x' })).status, 400);
    assert.equal((await choose('/pay/nothing', { source: '137 USDC' })).status, 404);
    assert.equal((await choose(path, { source: '137 USDC' }, { 'sec-fetch-site': 'cross-site' })).status, 403);
  });

  it('is possible a bounded number of times', async () => {
    const { path } = await create();
    for (let n = 0; n < choicesMax; n += 1)
      assert.equal((await choose(path, { source: n % 2 ? '8453 USDC' : '137 USDC' })).status, 303);
    assert.equal((await choose(path, { source: '137 USDC' })).status, 409);
    assert.ok(!(await get(path)).page.includes('<form'));
  });

  it('is refused with a pointer to the faulty field', async () => {
    const pointer = async (payFrom: unknown) => {
      const answer = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest({ payFrom }) });
      assert.equal(answer.status, 400);
      return answer.body.errors[0].pointer;
    };
    assert.equal(await pointer('all'), '/payFrom');
    assert.equal(await pointer([polygon, {}]), '/payFrom/1/chainId');
    assert.equal(await pointer([{ ...polygon, tokenSymbol: 'DAI' }]), '/payFrom/0/tokenSymbol');
    assert.equal(await pointer([{ chainId: '501', tokenSymbol: 'USDC' }]), '/payFrom/0/chainId');
    assert.equal(await pointer([{ ...polygon, limit: 1 }]), '/payFrom/0/limit');
    assert.equal(await pointer(Array(14).fill(polygon)), '/payFrom');
  });

  it('is set by the app’s owner, for payments without another setting', async () => {
    const path = '/merchant-api/me/pay-from';
    const set = (payFrom: unknown) => world.call('POST', path, { headers: world.owners.wallet, body: { payFrom } });
    const { status, body } = await set([polygon, stellar]);
    assert.equal(status, 200);
    assert.deepEqual(body.payFrom, [polygon, stellar]);
    assert.equal((await set([polygon, polygon])).body.errors[0].pointer, '/payFrom/1');
    assert.equal((await set([{ chainId: '501', tokenSymbol: 'USDT' }])).status, 400);
    assert.deepEqual((await set([])).body.payFrom, []);
  });
});
