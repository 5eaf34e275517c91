import assert from 'node:assert/strict';
import { payer, stellarReceiver } from '../support/contractPayments.ts';
import { goodRequest, receiver, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const baseUsdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ethereumUsdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const stellarIssuer = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';

const source = { chainId: 8453, tokenSymbol: 'USDC' };
const destination = { chainId: 1, tokenSymbol: 'USDC', receiverAddress: receiver };
const contract = {
  intent: 'stellar_payin_contracts',
  source: { chainId: 1500, tokenSymbol: 'USDC', senderAddress: payer },
};

describe('HTTP: requests of real clients', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const create = (body: object, headers = world.keys.wallet) =>
    world.call('POST', base, {
      headers,
      body: { appId: headers === world.keys.wallet ? 'wallet_demo' : null, ...body },
    });
  const created = async (body: object) => {
    const { status, body: payment, text } = await create(body);
    assert.equal(status, 201, text);
    return payment;
  };
  const refused = async (body: object, pointer: string, message: RegExp) => {
    const { status, body: answer } = await create(body);
    assert.equal(status, 400);
    const found = answer.errors.find((error: { pointer: string }) => error.pointer === pointer);
    assert.ok(found, JSON.stringify(answer.errors));
    assert.match(found.message, message);
  };

  describe('a missing type', () => {
    it('is exactIn with an amount in source, exactOut with one in destination, anyAmount with the contract intent', async () => {
      const goesIn = await created({ source: { ...source, amount: '10.00' }, destination });
      assert.deepEqual([goesIn.type, goesIn.destination.amount], ['exactIn', '9.99']);
      const comesOut = await created({ type: null, source, destination: { ...destination, amount: '10.00' } });
      assert.deepEqual([comesOut.type, comesOut.source.amount], ['exactOut', '10.01']);
      const open = await created({ ...contract, destination });
      assert.deepEqual([open.type, open.source.amount], ['anyAmount', null]);
      const agreed = await created({ ...contract, destination: { ...destination, amount: '10.00' } });
      assert.equal(agreed.type, 'exactOut');
    });

    it('is enough for a merchant key that declares only source', async () => {
      const { status, body } = await world.call('POST', base, {
        headers: world.keys.merchant,
        body: { source: { ...source, amount: '5' } },
      });
      assert.deepEqual([status, body.type, body.destination.receiverAddress], [201, 'exactIn', receiver]);
    });

    it('is refused if it is ambiguous, or if no type fits', async () => {
      const both = { source: { ...source, amount: '10' }, destination: { ...destination, amount: '10' } };
      await refused(both, '/type', /source\.amount would mean exactIn, destination\.amount exactOut/);
      await refused({ source, destination }, '/type', /send source\.amount \(exactIn\)/);
    });
  });

  describe('a token’s address', () => {
    it('is accepted if it is the catalogue’s, in any letter case', async () => {
      for (const spelled of [baseUsdc, baseUsdc.toLowerCase(), baseUsdc.toUpperCase(), null]) {
        await created({
          source: { ...source, tokenAddress: spelled, amount: '10' },
          destination: { ...destination, tokenAddress: spelled && ethereumUsdc.toLowerCase() },
        });
      }
      for (const tokenAddress of [`USDC:${stellarIssuer}`, stellarIssuer, `usdc:${stellarIssuer.toLowerCase()}`]) {
        const toStellar = { chainId: 1500, tokenSymbol: 'USDC', tokenAddress, receiverAddress: stellarReceiver };
        const { destination: shown } = await created({ source: { ...source, amount: '10' }, destination: toStellar });
        assert.equal(shown.tokenAddress, `USDC:${stellarIssuer}`);
      }
    });

    it('is refused if it is another token’s, also of a settlement wallet', async () => {
      const other = { source: { ...source, tokenAddress: ethereumUsdc, amount: '10' }, destination };
      await refused(other, '/source/tokenAddress', /USDC on Base is 0x8335/);
      const out = { source: { ...source, amount: '10' }, destination: { ...destination, tokenAddress: baseUsdc } };
      await refused(out, '/destination/tokenAddress', /USDC on Ethereum is 0xA0b8/);
      const { status, body } = await world.call('POST', base, {
        headers: world.keys.merchant,
        body: { source: { ...source, amount: '5' }, destination: { tokenAddress: ethereumUsdc } },
      });
      assert.deepEqual([status, body.errors[0].pointer], [400, '/destination/tokenAddress']);
    });
  });

  it('the other side’s amount is ignored: it is computed', async () => {
    const goesIn = await created({
      type: 'exactIn',
      source: { ...source, amount: '10' },
      destination: { ...destination, amount: '777' },
    });
    assert.deepEqual([goesIn.source.amount, goesIn.destination.amount], ['10.00', '9.99']);
    const comesOut = await created({
      type: 'exactOut',
      source: { ...source, amount: '777' },
      destination: { ...destination, amount: '10' },
    });
    assert.deepEqual([comesOut.source.amount, comesOut.destination.amount], ['10.01', '10.00']);
  });

  it('metadata is any JSON object of 4 kB and five levels, and is returned unchanged', async () => {
    const five = { a: { b: [{ c: [1, 2.5, true, null, 'é\n\u0001'] }] }, '': {}, 'a/b ~ c': [], 7: '' };
    const full = { text: 'x'.repeat(4_096 - JSON.stringify({ text: '' }).length) };
    for (const metadata of [five, full, {}]) {
      const { id, metadata: kept } = await created({ ...goodRequest(), metadata });
      assert.deepEqual(kept, metadata);
      const { body } = await world.call('GET', `${base}/${id}`, { headers: world.keys.wallet });
      assert.deepEqual(body.metadata, metadata);
    }
    const tooLarge = await create({ ...goodRequest(), metadata: { text: `${full.text}x` } });
    assert.deepEqual([tooLarge.status, tooLarge.body.errors[0].pointer], [400, '/metadata']);
    const number = JSON.stringify(goodRequest({ metadata: { n: 1 } })).replace('"n":1', '"n":1e999');
    const headers = { ...world.keys.wallet, 'Content-Type': 'application/json' };
    const infinite = await world.call('POST', base, { headers, body: number });
    assert.deepEqual([infinite.status, infinite.body.errors[0].pointer], [400, '/metadata/n']);
  });

  it('without a key metadata may have a quarter of that', async () => {
    const send = (length: number) =>
      create({ ...goodRequest(), appId: 'wallet_demo', metadata: { text: 'x'.repeat(length) } }, {});
    assert.equal((await send(1_024 - 11)).status, 201);
    assert.equal((await send(1_024 - 10)).body.errors[0].pointer, '/metadata');
  });

  it('symbols and currencies may be spelled in any letter case', async () => {
    const {
      source: from,
      destination: to,
      display,
    } = await created({
      display: { title: 'Tea', currency: 'eur' },
      source: { ...source, tokenSymbol: 'usdc', amount: '10' },
      destination: { ...destination, tokenSymbol: 'Usdt' },
    });
    assert.deepEqual([from.tokenSymbol, to.tokenSymbol, display.currency], ['USDC', 'USDT', 'EUR']);
    const { body } = await world.call('POST', base, {
      headers: world.keys.merchant,
      body: { source: { ...source, amount: '5' }, destination: { tokenSymbol: 'usdc' } },
    });
    assert.equal(body.destination.tokenSymbol, 'USDC');
  });

  it('a whole payment may be sent back, and creates another one like it', async () => {
    for (const type of ['exactIn', 'exactOut']) {
      const request =
        type === 'exactIn'
          ? { source: { ...source, amount: '10' }, destination }
          : { source, destination: { ...destination, amount: '10' } };
      const first = await created({ orderId: `again-${type}`, ...request });
      const again = await created({ ...first, orderId: `once-more-${type}` });
      assert.notEqual(again.id, first.id);
      assert.notEqual(again.source.receiverAddress, first.source.receiverAddress);
      assert.deepEqual(
        [again.type, again.source.amount, again.destination.amount],
        [first.type, first.source.amount, first.destination.amount],
      );
    }
    const odd = await created({ ...goodRequest(), id: 7, status: ['paid'], webhookUrl: 'https://other.example' });
    assert.deepEqual([odd.status, odd.webhookUrl], ['payment_unpaid', 'https://shop.example/hooks']);
  });

  describe('an unknown name', () => {
    const with_ = (more: object) => ({ ...goodRequest(), ...more });
    it('is refused with the nearest known one', async () => {
      await refused(with_({ oderId: '1' }), '/oderId', /nearest known name is orderId/);
      await refused(with_({ meta_data: {} }), '/meta_data', /nearest known name is metadata/);
      const wrong = { ...source, token_symbol: 'USDC' };
      await refused(with_({ source: wrong }), '/source/token_symbol', /nearest known name is tokenSymbol/);
      const list = await world.call('GET', `${base}?created_after=2026-01-01`, { headers: world.keys.walletAdmin });
      assert.match(list.body.message, /nearest known name is createdAfter/);
    });

    it('is distinguished from a revoked key, which is reported as revoked', async () => {
      const key = world.keys.wallet['X-API-Key'] ?? '';
      await refused(with_({ apiKey: 'x' }), '/apiKey', /X-API-Key header only: revoke/);
      await refused(with_({ color: key }), '/color', /X-API-Key header only: revoke/);
      const { body } = await create(with_({ source: { ...source, tokenName: 'USD Coin' } }));
      assert.doesNotMatch(body.message, /revoke/);
    });
  });

  it('an id is found in any letter case', async () => {
    const { id } = await created(goodRequest());
    const path = `${base}/${id.toUpperCase()}`;
    const { wallet: headers } = world.keys;
    assert.equal((await world.call('GET', path, { headers })).body.id, id);
    assert.equal((await world.call('GET', path)).body.id, id);
    assert.equal((await world.call('GET', `${path}/transactions`, { headers })).status, 200);
    const body = { txHash: `0x${'ab'.repeat(32)}`, fromAddress: receiver };
    assert.equal((await world.call('POST', `${path}/payin`, { headers, body })).body.id, id);
  });

  it('the payer may be named senderAddress, as in answers', async () => {
    const { id } = await created(goodRequest());
    const register = (body: object) =>
      world.call('POST', `${base}/${id}/payin`, {
        headers: world.keys.wallet,
        body: { txHash: `0x${'cd'.repeat(32)}`, ...body },
      });
    const { status, body } = await register({ senderAddress: receiver, fromAddress: null });
    assert.deepEqual([status, body.source.senderAddress], [200, receiver]);
    assert.equal((await register({ senderAddress: receiver.toLowerCase(), fromAddress: receiver })).status, 200);
    const pointers = [];
    for (const wrong of [{ senderAddress: 'me' }, { fromAddress: receiver, senderAddress: 'me' }, {}])
      pointers.push((await register(wrong)).body.errors[0].pointer);
    assert.deepEqual(pointers, ['/senderAddress', '/senderAddress', '/fromAddress']);
  });

  it('an empty X-API-Key counts as no key', async () => {
    const open = await create(goodRequest(), { 'X-API-Key': '' });
    assert.deepEqual([open.status, open.body.errors[0].pointer], [400, '/appId']);
    const keyless = await world.call('POST', base, {
      headers: { 'X-API-Key': '' },
      body: goodRequest({ appId: 'wallet_demo' }),
    });
    assert.equal(keyless.status, 201);
    const seen = await world.call('GET', `${base}/${keyless.body.id}`, { headers: { 'X-API-Key': ' ' } });
    assert.deepEqual([seen.status, seen.headers['access-control-allow-origin']], [200, '*']);
  });
});
