import assert from 'node:assert/strict';
import type { By } from '../../commands/handle.ts';
import { refuse } from '../../domain/decider.ts';
import { noProfile } from '../../domain/merchant/profile.ts';
import { plus } from '../../domain/time.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { sampleView } from './samples.ts';
import { goodRequest, merchantApp, receiver, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const elsewhere = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const unknownId = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
const txHash = `0x${'ab'.repeat(32)}`;

describe('HTTP: access rights', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const create = (body: object, headers: Readonly<Record<string, string>> = world.keys.wallet) =>
    world.call('POST', base, { headers, body: goodRequest(body) });
  const get = (path: string, headers = {}) => world.call('GET', path, { headers });

  it('accepts a key as X-API-Key or as bearer token, and both if they are equal', async () => {
    const key = String(world.keys.wallet['X-API-Key']);
    const path = `${base}/order/wallet_demo/none`;
    for (const headers of [
      { 'X-API-Key': key },
      { Authorization: `Bearer ${key}` },
      { 'X-API-Key': key, Authorization: `bearer ${key}` },
    ]) {
      assert.equal((await get(path, headers)).body.error, 'paymentNotFound');
    }
  });

  it('accepts X-API-Key beside an Authorization header that is a proxy’s or empty', async () => {
    const path = `${base}/order/wallet_demo/none`;
    for (const authorization of ['Basic dXNlcjpwYXNz', '', ' ', 'Bearer', 'Bearer ', 'Negotiate abc=='])
      assert.equal(
        (await get(path, { ...world.keys.wallet, Authorization: authorization })).status,
        404,
        authorization,
      );
    const open = await create({ appId: 'wallet_demo' }, { Authorization: '' });
    assert.equal(open.status, 201);
  });

  it('answers 401 without a key, with another scheme, with two keys, and with a key in the wrong place', async () => {
    const path = `${base}/order/wallet_demo/none`;
    const key = String(world.keys.wallet['X-API-Key']);
    for (const headers of [
      {},
      { Authorization: 'Basic dXNlcjpwYXNz' },
      { Authorization: `Bearer ${key}`, 'X-API-Key': String(world.keys.other['X-API-Key']) },
      { 'X-API-Key': '' },
      { 'X-API-Key': newApiKey().key },
    ]) {
      assert.equal((await get(path, headers)).body.error, 'unauthenticated');
    }
    const inUrl = await get(`${base}?api_key=${key}`, world.keys.walletAdmin);
    assert.deepEqual([inUrl.status, inUrl.body.errors[0].pointer], [400, '/api_key']);
    assert.match(inUrl.body.message, /X-API-Key header only/);
  });

  it('refuses a mistyped key without looking it up, on open endpoints too', async () => {
    const key = String(world.keys.wallet['X-API-Key']);
    const mistyped = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    const before = world.lookUps();
    assert.equal((await get(`${base}/${unknownId}`, { 'X-API-Key': mistyped })).status, 401);
    assert.equal(world.lookUps(), before);
  });

  it('looks a key up once in half a second, and refuses it after it was revoked', async () => {
    const own = await startWorld();
    try {
      const ask = () => own.call('GET', `${base}/${unknownId}`, { headers: own.keys.wallet });
      await Promise.all(Array.from({ length: 20 }, ask));
      assert.equal(own.lookUps(), 1);
      own.revoke(own.keys.wallet);
      own.clock.advance(499);
      assert.equal((await ask()).status, 404);
      own.clock.advance(1);
      assert.equal((await ask()).status, 401);
    } finally {
      await own.stop();
    }
  });

  it('answers the same for an expired key and a revoked one, and records only uses of valid keys', async () => {
    const used: string[] = [];
    const own = await startWorld({
      findApiKey: async () => ({
        keyId: 'k1',
        appId: 'wallet_demo',
        scope: 'orders',
        expiresAt: plus(own.clock.now(), 200),
      }),
      keyUsed: (keyId) => void used.push(keyId),
    });
    try {
      const ask = () => own.call('GET', `${base}/${unknownId}`, { headers: own.keys.wallet });
      assert.equal((await ask()).status, 404);
      own.clock.advance(200);
      const expired = await ask();
      assert.deepEqual([expired.status, expired.body.error], [401, 'unauthenticated']);
      assert.match(expired.body.message, /expired or revoked/);
      assert.deepEqual(used, ['k1']);
    } finally {
      await own.stop();
    }
  });

  it('creates each payment with the settings that are in force when it is called', async () => {
    let webhookUrl = 'https://shop.example/before';
    let name = 'Before';
    const own = await startWorld({
      findApp: async () => ({ ...merchantApp, webhookUrl }),
      findProfile: async () => ({ ...noProfile, name }),
    });
    try {
      const created = () =>
        own.call('POST', base, {
          headers: own.keys.merchant,
          body: { type: 'exactIn', source: { chainId: '8453', tokenSymbol: 'USDC', amount: '10' } },
        });
      await created();
      webhookUrl = 'https://shop.example/after';
      name = 'After';
      const { body } = await created();
      assert.deepEqual([body.webhookUrl, body.merchant.name], ['https://shop.example/after', 'After']);
    } finally {
      await own.stop();
    }
  });

  it('reserves lists and the merchant API for admin keys', async () => {
    for (const path of [base, '/merchant-api/me/stats?period=today', '/merchant-api/me/webhook/deliveries']) {
      assert.equal((await get(path)).status, 401);
      const orders = await get(path, world.keys.wallet);
      assert.deepEqual([orders.status, orders.body.error], [403, 'scope_insufficient']);
      assert.equal((await get(path, world.keys.walletAdmin)).status, 200);
    }
  });

  it('lets a key act for its own app only', async () => {
    const { status, body } = await create({ appId: 'wallet_closed' });
    assert.deepEqual([status, body.error, body.errors[0].pointer], [403, 'forbidden', '/appId']);
    assert.equal((await create({ appId: 'wallet_demo' })).status, 201);
  });

  it("makes another app's payments invisible to every request", async () => {
    const { body } = await create({ orderId: 'mine' });
    const { other, otherAdmin } = world.keys;
    const payin = { headers: other, body: { txHash, fromAddress: receiver } };
    for (const answer of [
      await get(`${base}/${body.id}`, other),
      await get(`${base}/${body.id}`, otherAdmin),
      await get(`${base}/${body.id}/transactions`, other),
      await get(`${base}/order/wallet_demo/mine`, other),
      await get(`${base}/order/wallet_closed/mine`, other),
      await world.call('POST', `${base}/${body.id}/payin`, payin),
    ]) {
      assert.deepEqual([answer.status, answer.body.error], [404, 'paymentNotFound']);
    }
    assert.deepEqual((await get(base, otherAdmin)).body.data, []);
    const theirs = await create({ orderId: 'mine' }, other);
    assert.equal(theirs.status, 201);
    assert.notEqual(theirs.body.id, body.id);
  });

  it('records the key that caused an event, whatever the request id is', async () => {
    const said: By[] = [];
    const own = await startWorld({
      createPayment: async (_request, _app, { keyless, ...by }) => {
        said.push(by);
        return refuse('routeUnavailable', 'enough is known');
      },
      registerPayin: async (_own, _hint, by) => {
        said.push(by);
        return refuse('paymentNotFound', 'enough is known');
      },
    });
    try {
      const claims = { 'X-Request-Id': 'operator:root', 'X-Forwarded-User': 'root', 'X-Key-Id': 'k1' };
      const created = await own.call('POST', base, { headers: { ...own.keys.wallet, ...claims }, body: goodRequest() });
      assert.equal(created.status, 503);
      const payin = { headers: { ...own.keys.wallet, ...claims }, body: { txHash, fromAddress: receiver } };
      await own.call('POST', `${base}/${unknownId}/payin`, payin);
      await own.call('POST', base, { headers: claims, body: goodRequest({ appId: 'wallet_demo' }) });
    } finally {
      await own.stop();
    }
    const [creator, , nobody] = said;
    assert.match(creator?.cause ?? '', /^key:[0-9a-f]{8}-[0-9a-f-]{27}$/);
    assert.deepEqual(said, [creator, creator, nobody]);
    assert.deepEqual(nobody, { cause: 'keyless', requestId: 'operator:root' });
    assert.equal(creator?.requestId, 'operator:root');
  });

  describe('without a key', () => {
    const keyless = (body: object) => create(body, {});

    it('creates for a wallet app that is open for it, and shows nothing that belongs to the app', async () => {
      const { status, body } = await keyless({ appId: 'wallet_demo', orderId: 'k-1', metadata: { a: 'b' } });
      assert.deepEqual([status, body.appId, body.orderId], [201, 'wallet_demo', 'k-1']);
      for (const hidden of ['metadata', 'webhookUrl', 'webhookSecretSource', 'merchant']) {
        assert.equal(body[hidden], null, hidden);
      }
      assert.match(body.paymentLink, /\/pay\/[\w-]{43}$/);
      const again = await keyless({ appId: 'wallet_demo', orderId: 'k-1', metadata: { a: 'b' } });
      assert.deepEqual([again.status, again.body.id], [200, body.id]);
    });

    it('repeats an order only under the same terms and texts: other requests get payments of their own', async () => {
      const asked = goodRequest({ appId: 'wallet_demo', orderId: 'k-2' });
      const post = (more: object = {}) => world.call('POST', base, { headers: {}, body: { ...asked, ...more } });
      const destination = (more: object) => ({ destination: { ...(asked['destination'] as object), ...more } });
      const first = await post();
      assert.deepEqual([first.status, first.body.keyless], [201, true]);
      for (const body of [
        {},
        destination({ amount: '10' }),
        destination({ receiverAddress: receiver.toLowerCase() }),
      ]) {
        const again = await post(body);
        assert.deepEqual([again.status, again.body.id], [200, first.body.id]);
      }
      for (const body of [
        destination({ amount: '0.01' }),
        destination({ tokenSymbol: 'USDT' }),
        { source: { chainId: 137, tokenSymbol: 'USDC' } },
        { source: { chainId: 8453, tokenSymbol: 'USDC', senderAddress: receiver } },
        { display: { title: 'A stranger’s words', currency: 'USD' } },
        { metadata: { of: 'a stranger' } },
      ]) {
        const { status, body: answer } = await post(body);
        assert.deepEqual([status, answer.orderId], [201, 'k-2']);
        assert.ok(!JSON.stringify(answer).includes(first.body.id));
        const again = await post(body);
        assert.deepEqual([again.status, again.body.id], [200, answer.id]);
      }
      const honest = await post();
      assert.deepEqual([honest.status, honest.body.id], [200, first.body.id]);
      const stranger = await post(destination({ receiverAddress: elsewhere, amount: '0.01' }));
      assert.deepEqual([stranger.status, stranger.body.destination.receiverAddress], [201, elsewhere]);
    });

    it('leaves each receiver their own order, however early a stranger sends it', async () => {
      const body = (receiverAddress: string) =>
        goodRequest({
          appId: 'wallet_demo',
          orderId: 'early',
          destination: { chainId: 1, tokenSymbol: 'USDC', amount: '10.00', receiverAddress },
        });
      const post = (sent: object, headers = {}) => world.call('POST', base, { headers, body: sent });
      const stranger = await post(body(elsewhere));
      const honest = await post(body(receiver));
      assert.deepEqual([honest.status, honest.body.destination.receiverAddress], [201, receiver]);
      const byOrder = () => get(`${base}/order/wallet_demo/early`, world.keys.wallet);
      assert.deepEqual([stranger.status, (await byOrder()).status], [201, 404]);
      const own = await post(body(receiver), world.keys.wallet);
      assert.deepEqual([own.body.keyless, (await byOrder()).body.id], [false, own.body.id]);
    });

    it('does not reveal whether an order id is in use: an invalid body gets the same answer', async () => {
      await create({ orderId: 'known' });
      await keyless({ appId: 'wallet_demo', orderId: 'known' });
      for (const wrong of [
        { type: 'nonsense' },
        { source: { chainId: 8453, tokenSymbol: 'nonsense' } },
        { destination: { chainId: 1, tokenSymbol: 'USDC', amount: '10.00', receiverAddress: 'nonsense' } },
        { destination: null },
      ]) {
        for (const headers of [{}, world.keys.wallet]) {
          const answers = [];
          for (const orderId of ['known', 'unknown']) {
            const { status, body } = await create({ appId: 'wallet_demo', orderId, ...wrong }, headers);
            answers.push([status, body.error, body.errors]);
          }
          assert.equal(answers[0]?.[0], 400);
          assert.deepEqual(answers[0], answers[1]);
        }
      }
    });

    it('registers a payin of a payment that was created without a key, while its app is open', async () => {
      const { body } = await keyless({ appId: 'wallet_demo', orderId: 'k-3' });
      const keyed = await create({ orderId: 'k-3' });
      const register = (id: string) =>
        world.call('POST', `${base}/${id}/payin`, { headers: {}, body: { txHash, fromAddress: receiver } });
      for (const answer of [await register(body.id), await register(body.id)]) {
        assert.equal(answer.status, 200);
        assert.deepEqual([answer.body.source.txHash, answer.body.source.senderAddress], [txHash, receiver]);
        assert.deepEqual(answer.body.payment.source, { txHash, senderAddress: receiver });
        assert.deepEqual([answer.body.orderId, answer.body.metadata, answer.body.webhookUrl], [null, null, null]);
      }
      const [denied, nobody] = [await register(keyed.body.id), await register(unknownId)];
      assert.deepEqual([denied.status, denied.body.error], [401, 'unauthenticated']);
      assert.deepEqual([nobody.status, nobody.body.message], [401, denied.body.message]);
      const closed = await startWorld({
        getPayment: async () => ({ ...sampleView, keyless: true, appId: 'wallet_closed' }),
      });
      try {
        const payin = { headers: {}, body: { txHash, fromAddress: receiver } };
        const { status, body } = await closed.call('POST', `${base}/${unknownId}/payin`, payin);
        assert.deepEqual([status, body.message], [401, denied.body.message]);
      } finally {
        await closed.stop();
      }
    });

    it('does not create for any other app, and does not reveal which apps exist', async () => {
      const answers = [];
      for (const appId of ['wallet_closed', 'wallet_nobody', 'merchant_demo']) {
        const { status, body } = await keyless({ appId });
        answers.push([status, body.error, body.message.replace(appId, '')]);
      }
      assert.deepEqual(answers[1], answers[0]);
      assert.deepEqual(answers[2], answers[0]);
      assert.equal(answers[0]?.[0], 401);
    });

    it('needs the appId', async () => {
      const { status, body } = await keyless({});
      assert.deepEqual([status, body.errors[0].pointer], [400, '/appId']);
    });

    it('neither reads a key holder’s order nor occupies its id', async () => {
      const keyed = await create({ orderId: 'keyed' });
      const strange = await keyless({ appId: 'wallet_demo', orderId: 'keyed' });
      assert.deepEqual([strange.status, strange.body.id === keyed.body.id], [201, false]);
      const taken = await keyless({ appId: 'wallet_demo', orderId: 'keyless' });
      const own = await create({ orderId: 'keyless' });
      assert.deepEqual([own.status, own.body.id === taken.body.id], [201, false]);
    });
  });
});
