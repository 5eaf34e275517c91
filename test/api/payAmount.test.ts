/** Payers enter a sum if any amount is accepted. The purchase's description comes from the request and appears on the payer's page. */
import assert from 'node:assert/strict';
import { goodRequest, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';

describe('HTTP: a payment of any amount', () => {
  let world: World;
  let path: string;
  before(async () => {
    world = await startWorld();
    const destination = { ...(goodRequest()['destination'] as object), amount: undefined };
    const { body } = await world.call('POST', base, {
      headers: world.keys.wallet,
      body: goodRequest({ type: 'anyAmount', destination }),
    });
    path = new URL(body.paymentLink).pathname;
  });
  after(() => world.stop());

  const get = async (query: string) => {
    const answer = await fetch(`${world.url}${path}${query}`, { headers: { accept: 'text/html' } });
    return { answer, page: await answer.text() };
  };

  it('has a form that is sent to its own page alone', async () => {
    const { answer, page } = await get('');
    assert.match(page, new RegExp(`<form class="choose any" method="get" action="${path}"`));
    assert.match(answer.headers.get('content-security-policy') ?? '', /form-action 'self'/);
    assert.doesNotMatch(page, /class="qr"/);
  });

  it('shows a code and a link for the sum in its address, without a script', async () => {
    const { page } = await get('?amount=12.5&lang=en');
    assert.match(page, /href="ethereum:[^"]+uint256=12500000"/);
    assert.match(page, /class="qr"/);
    assert.match(page, /data-copy="12\.50"/);
  });

  it('answers an invalid amount with the page, and never with unescaped input', async () => {
    for (const amount of ['abc', '0', '-1', '10001', '<script>alert(1)</script>', '"autofocus onfocus="x']) {
      const { answer, page } = await get(`?amount=${encodeURIComponent(amount)}`);
      assert.equal(answer.status, 200, amount);
      assert.match(page, /Enter an amount from/, amount);
      assert.doesNotMatch(page, /class="qr"|<script>|"autofocus onfocus/, amount);
    }
    assert.equal((await get(`?amount=${'9'.repeat(200)}`)).answer.status, 400);
  });

  it('offers no choice if the amount is agreed', async () => {
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    const agreed = await fetch(`${body.paymentLink}?amount=1.00`, { headers: { accept: 'text/html' } });
    const page = await agreed.text();
    assert.match(page, /uint256=10010000"/);
    assert.doesNotMatch(page, /choose any/);
    assert.match(agreed.headers.get('content-security-policy') ?? '', /form-action 'none'/);
  });
});

describe('HTTP: line items', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  const lineItems = [
    { name: 'Darjeeling, 250 g', quantity: 2, amount: '9.00' },
    { name: 'Shipping <b>', quantity: 1, amount: '1.00' },
  ];

  it('are on the payer’s page, in the answer of a get, and in no webhook', async () => {
    const { body } = await world.call('POST', base, {
      headers: world.keys.wallet,
      body: goodRequest({ display: { title: 'Tea', lineItems } }),
    });
    const { body: read } = await world.call('GET', `${base}/${body.id}`, { headers: world.keys.wallet });
    assert.deepEqual(read.display.lineItems, lineItems);
    const page = await (await fetch(body.paymentLink, { headers: { accept: 'text/html' } })).text();
    assert.match(page, /<bdi>Darjeeling, 250 g<\/bdi>/);
    assert.match(page, /Shipping &lt;b>/);
    const { body: without } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    assert.ok(!('lineItems' in without.display));
  });
});
