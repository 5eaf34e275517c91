import assert from 'node:assert/strict';
import { registrationsMax } from '../../domain/payment/payins.ts';
import { goodRequest, receiver, startWorld, type World } from './world.ts';

const txHash = `0x${'ab'.repeat(32)}`;
const base = '/payment-api/payments';

describe('HTTP: payments', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const create = (body: object = {}, headers = world.keys.wallet) =>
    world.call('POST', base, { headers, body: goodRequest(body) });

  describe('creating', () => {
    it('answers 201 with the payment, its address, and the payment page', async () => {
      const { status, body, headers } = await create({ orderId: 'c-1', metadata: { cart: '7' } });
      assert.equal(status, 201);
      assert.equal(headers['location'], `${base}/${body.id}`);
      assert.equal(body.appId, 'wallet_demo');
      assert.equal(body.orderId, 'c-1');
      assert.equal(body.status, 'payment_unpaid');
      assert.deepEqual(body.display, {
        title: 'Coffee beans',
        name: 'Coffee beans',
        description: null,
        currency: 'USD',
      });
      assert.match(body.source.receiverAddress, /^0x[0-9a-fA-F]{40}$/);
      assert.deepEqual([body.source.chainId, body.source.amount, body.source.fee], ['8453', '10.01', '0.01']);
      assert.deepEqual([body.destination.chainId, body.destination.amount], ['1', '10.00']);
      assert.deepEqual(body.metadata, { cart: '7' });
      assert.equal(body.webhookSecret, null);
      assert.equal(body.source.receiverAddressContract, null);
    });

    it('is the same endpoint at /payment-api', async () => {
      const { status, body } = await world.call('POST', '/payment-api', {
        headers: world.keys.wallet,
        body: goodRequest(),
      });
      assert.equal(status, 201);
      assert.equal((await world.call('GET', `${base}/${body.id}`, { headers: world.keys.wallet })).status, 200);
    });

    it('answers a repeated orderId with the existing payment, whatever the body contains', async () => {
      const first = await create({ orderId: 'c-2' });
      const again = await create({ orderId: 'c-2', source: { chainId: 1, tokenSymbol: 'USDT' } });
      assert.equal(again.status, 200);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      assert.deepEqual(again.body, first.body);
      assert.equal(first.headers['idempotent-replayed'], undefined);
    });

    it('answers fifty requests with one orderId at once with one payment', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, () => create({ orderId: 'c-3' })));
      assert.equal(new Set(all.map(({ body }) => body.id)).size, 1);
      assert.deepEqual(
        all
          .map(({ status }) => status)
          .sort()
          .slice(-2),
        [200, 201],
      );
    });

    it('pays a merchant app out to its settlement wallet, destination unset or null', async () => {
      const body = { type: 'exactIn', source: { chainId: '56', tokenSymbol: 'USDC', amount: '5' } };
      for (const destination of [{}, { destination: null }, { destination: { receiverAddress: null, amount: null } }]) {
        const { status, body: payment } = await world.call('POST', '/payment-api', {
          headers: world.keys.merchant,
          body: { ...body, ...destination },
        });
        assert.equal(status, 201);
        assert.equal(payment.destination.receiverAddress, receiver);
        assert.equal(payment.destination.chainId, '8453');
      }
    });

    it('refuses another receiver for a merchant app, and one without a settlement wallet', async () => {
      const other = await create({}, world.keys.merchant);
      assert.deepEqual(
        [other.status, other.body.error, other.body.errors[0].pointer],
        [403, 'forbidden', '/destination/chainId'],
      );
      const bare = await create({ destination: undefined }, world.keys.bare);
      assert.deepEqual([bare.status, bare.body.error], [409, 'settlementMissing']);
    });

    it('reads display.name as title, null as omitted, and chain 900 as 501', async () => {
      const { body } = await create({ display: { name: 'Tea', description: null }, orderId: null, metadata: null });
      assert.deepEqual([body.display.title, body.display.name, body.display.currency], ['Tea', 'Tea', 'USD']);
      const solana = await create({ source: { chainId: 900, tokenSymbol: 'USDC' } });
      assert.match(solana.body.message, /Solana is not offered/);
    });
  });

  describe('reading', () => {
    it('returns the whole payment to its app and the public part to everybody else, cross-origin', async () => {
      const created = await create({ orderId: 'r-1', metadata: { note: 'secret' } });
      const path = `${base}/${created.body.id}`;
      const own = await world.call('GET', path, { headers: world.keys.wallet });
      assert.deepEqual(own.body, created.body);
      assert.equal(own.headers['access-control-allow-origin'], undefined);

      const open = await world.call('GET', path);
      assert.equal(open.headers['access-control-allow-origin'], '*');
      assert.equal(open.headers['access-control-allow-credentials'], undefined);
      assert.deepEqual(open.body.source, created.body.source);
      assert.deepEqual(Object.keys(open.body), Object.keys(own.body));
      assert.equal(open.body.appId, 'wallet_demo');
      for (const hidden of ['orderId', 'metadata', 'paymentLink', 'webhookUrl', 'webhookSecret', 'merchant']) {
        assert.equal(open.body[hidden], null, hidden);
      }
    });

    describe('as of a time', () => {
      const ask = (id: string, asOf: string, headers?: Readonly<Record<string, string>>) =>
        world.call('GET', `${base}/${id}?asOf=${encodeURIComponent(asOf)}`, headers && { headers });

      it('is as it was then, folded from its events, and hides from strangers the usual fields', async () => {
        const created = await create({ orderId: 'as-of', metadata: { note: 'secret' } });
        const { id, createdAt } = created.body;
        const past = await ask(id, createdAt, world.keys.wallet);
        world.clock.advance(1_000);
        const hint = { txHash, fromAddress: receiver };
        await world.call('POST', `${base}/${id}/payin`, { headers: world.keys.wallet, body: hint });
        const now = (await world.call('GET', `${base}/${id}`, { headers: world.keys.wallet })).body;
        assert.equal(now.source.txHash, txHash);
        assert.deepEqual(past.body, created.body);
        const then = await ask(id, createdAt, world.keys.wallet);
        assert.deepEqual([then.status, then.body], [200, created.body]);
        assert.deepEqual((await ask(id, '9999999999999', world.keys.wallet)).body.source, now.source);

        const open = await ask(id, createdAt);
        assert.equal(open.headers['access-control-allow-origin'], '*');
        for (const hidden of ['orderId', 'metadata', 'paymentLink', 'webhookUrl', 'merchant'])
          assert.equal(open.body[hidden], null, hidden);
      });

      it('did not exist before it was created, and never exists for another app', async () => {
        const { id, createdAt } = (await create()).body;
        const early = await ask(id, '2020-01-01T00:00:00Z', world.keys.wallet);
        assert.deepEqual([early.status, early.body.error], [404, 'paymentNotFound']);
        assert.match(early.body.message, new RegExp(`created at ${createdAt}: ask for that time or a later one`));
        const other = await ask(id, '2020-01-01T00:00:00Z', world.keys.merchant);
        assert.deepEqual([other.status, other.body.message.includes(createdAt)], [404, false]);
        assert.equal((await ask('no-id', createdAt)).status, 404);
      });

      it('must be a time or a position', async () => {
        const { id } = (await create()).body;
        for (const bad of ['', 'yesterday', '-1', '1e9', '2026-13-01T00:00:00Z', '9223372036854775808', '2026-11-22']) {
          const { status, body } = await ask(id, bad);
          assert.deepEqual([status, body.error, body.errors?.[0]?.pointer], [400, 'invalidRequest', '/asOf'], bad);
        }
      });
    });

    it('finds a payment by its order id, also one that needs percent-encoding', async () => {
      const orderId = 'ä/1 %?#';
      const created = await create({ orderId });
      const path = `${base}/order/wallet_demo/${encodeURIComponent(orderId)}`;
      const found = await world.call('GET', path, { headers: world.keys.wallet });
      assert.equal(found.body.id, created.body.id);
    });

    it('lists newest first, page by page, with filters', async () => {
      const { walletAdmin: headers } = world.keys;
      const ids = [];
      for (const orderId of ['l-1', 'l-2', 'l-3']) ids.unshift((await create({ orderId })).body.id);
      const first = await world.call('GET', `${base}?limit=2`, { headers });
      assert.deepEqual(
        first.body.data.map(({ id }: { id: string }) => id),
        ids.slice(0, 2),
      );
      assert.equal(first.body.hasMore, true);
      const next = await world.call('GET', `${base}?limit=1&cursor=${first.body.nextCursor}`, { headers });
      assert.equal(next.body.data[0].id, ids[2]);
      const one = await world.call('GET', `${base}?orderId=l-2&status=payment_unpaid`, { headers });
      assert.deepEqual([one.body.data.length, one.body.hasMore, one.body.nextCursor], [1, false, null]);
      const later = await world.call('GET', `${base}?createdAfter=2026-11-21T11:00:00%2B02:00`, { headers });
      assert.deepEqual(later.body.data, []);
      const cursor = await world.call('GET', `${base}?cursor=nonsense`, { headers });
      assert.equal(cursor.body.errors[0].pointer, '/cursor');
    });

    it('lists the transactions of a payment', async () => {
      const { body } = await create();
      const answer = await world.call('GET', `${base}/${body.id}/transactions`, { headers: world.keys.wallet });
      assert.deepEqual(answer.body, { data: [] });
    });
  });

  describe('registering a payin', () => {
    const payin = { txHash, fromAddress: receiver };

    it('returns the payment and the short form; repeats and other hashes are accepted, up to a limit', async () => {
      const { body: created } = await create();
      const path = `${base}/${created.id}/payin`;
      const { status, body } = await world.call('POST', path, { headers: world.keys.wallet, body: payin });
      assert.equal(status, 200);
      assert.equal(body.success, true);
      assert.equal(body.source.txHash, txHash);
      assert.deepEqual(body.payment, {
        id: created.id,
        status: 'payment_unpaid',
        source: { txHash, senderAddress: receiver },
      });
      const register = (hash: string) =>
        world.call('POST', path, { headers: world.keys.wallet, body: { ...payin, txHash: hash } });
      assert.deepEqual((await register(txHash)).body, body);
      for (let n = 1; n < registrationsMax; n++) {
        const other = `0x${String(n).padStart(64, '0')}`;
        assert.equal((await register(other)).body.payment.source.txHash, other);
      }
      const refused = await register(txHash);
      assert.deepEqual([refused.status, refused.body.error], [409, 'paymentNotUpdatable']);
    });

    it('answers 404 for a payment that does not exist', async () => {
      const path = `${base}/f47ac10b-58cc-4372-a567-0e02b2c3d479/payin`;
      const { status, body } = await world.call('POST', path, { headers: world.keys.wallet, body: payin });
      assert.deepEqual([status, body.error], [404, 'paymentNotFound']);
    });
  });

  describe('the merchant API', () => {
    it('answers statistics for each period and the newest deliveries', async () => {
      const { walletAdmin: headers } = world.keys;
      for (const period of ['today', '7d', '30d']) {
        const { body } = await world.call('GET', `/merchant-api/me/stats?period=${period}`, { headers });
        assert.equal(body.period, period);
      }
      const deliveries = await world.call('GET', '/merchant-api/me/webhook/deliveries?limit=5', { headers });
      assert.equal(deliveries.body.data[0].status, 'exhausted');
      const wrong = await world.call('GET', '/merchant-api/me/stats?period=1y', { headers });
      assert.deepEqual([wrong.status, wrong.body.errors[0].pointer], [400, '/period']);
    });
  });
});
