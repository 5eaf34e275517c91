/** The demo shop: against any sender and any number of kills, it delivers paid orders once and loses no order. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentStatus } from '../../domain/payment/view.ts';
import { openBook } from '../../sandbox/shop/book.ts';
import { createKeeper } from '../../sandbox/shop/keeper.ts';
import type { Order } from '../../sandbox/shop/orders.ts';
import { writeSettings } from '../../sandbox/shop/settings.ts';
import { startShop } from '../../sandbox/shop/start.ts';
import { receiveWebhook } from '../../sandbox/shop/webhook.ts';
import { minute } from '../support/payments.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const secret = 'ab'.repeat(32);
const paymentId = '0198f3c2-0000-8000-8000-000000000001';
const now_ms = Date.parse(minute(5));

function shopWithOrder() {
  const file = join(temporaryDirectory(), 'orders.jsonl');
  const book = openBook(file);
  const at = minute(0);
  book.write({ type: 'OrderPlaced', orderId: 'T-1', goods: 'Sencha', price: '4.50', chainId: '8453', at });
  book.write({ type: 'PaymentMade', orderId: 'T-1', paymentId, page: '/pay/x', amount: '4.51', at });
  const keeper = createKeeper(book, () => null);
  const order = (): Order => book.now().orders.get('T-1') ?? assert.fail();
  const lines = () => readFileSync(file, 'utf8').split('\n').length;
  return { file, book, keeper, order, lines };
}

const bodyOf = (status: PaymentStatus, more: object = {}, type: string = status) =>
  Buffer.from(
    JSON.stringify({ event_id: 'e', type, data: { id: paymentId, orderId: 'T-1', keyless: false, status, ...more } }),
  );
const signed = (body: Buffer, { key = secret, at_ms = now_ms } = {}) => ({
  'x-service-timestamp': String(at_ms),
  'x-service-signature': `sha256=${createHmac('sha256', key).update(`${at_ms}.`).update(body).digest('hex')}`,
});

describe('sandbox: the demo shop and webhooks', () => {
  const receive = ({ book, keeper }: ReturnType<typeof shopWithOrder>, headers: Record<string, string>, body: Buffer) =>
    receiveWebhook({ keeper, learning: () => book.now().learning, secret: () => secret }, headers, body, now_ms);
  const done = bodyOf('payment_payout_completed');

  it('accepts the service’s signed webhooks, and delivers when they say so', () => {
    const shop = shopWithOrder();
    assert.equal(receive(shop, signed(done), done), 200);
    assert.deepEqual(
      [shop.order().status, shop.order().news.map(({ by }) => by)],
      ['payment_payout_completed', ['webhook']],
    );
  });

  it('accepts no other: forged, changed, old, unsigned, signed before a secret is known', () => {
    const shop = shopWithOrder();
    const forged: readonly [Record<string, string>, Buffer][] = [
      [signed(done, { key: 'cd'.repeat(32) }), done],
      [signed(bodyOf('payment_payin_completed')), done],
      [signed(done), Buffer.concat([done, Buffer.from(' ')])],
      [signed(done, { at_ms: now_ms - 301_000 }), done],
      [signed(done, { at_ms: now_ms + 301_000 }), done],
      [{}, done],
      [{ 'x-service-timestamp': String(now_ms), 'x-service-signature': 'sha256=' }, done],
    ];
    for (const [headers, body] of forged) assert.equal(receive(shop, headers, body), 401);
    const noSecret = { keeper: shop.keeper, learning: () => 'webhook' as const, secret: () => undefined };
    assert.equal(receiveWebhook(noSecret, signed(done, { key: '' }), done, now_ms), 401);
    assert.equal(shop.order().status, 'payment_unpaid');
  });

  it('accepts one twice, and a late one, without another step', () => {
    const shop = shopWithOrder();
    for (let times = 0; times < 3; times++) assert.equal(receive(shop, signed(done), done), 200);
    const late = bodyOf('payment_payin_completed');
    assert.equal(receive(shop, signed(late), late), 200);
    assert.deepEqual([shop.order().status, shop.order().news.length, shop.lines()], ['payment_payout_completed', 1, 4]);
  });

  it('delivers nothing for an unknown order, though the service signed it', () => {
    const shop = shopWithOrder();
    const others = [
      bodyOf('payment_payout_completed', { keyless: true }),
      bodyOf('payment_payout_completed', { id: '0198f3c2-0000-8000-8000-000000000002' }),
      bodyOf('payment_payout_completed', { orderId: 'T-2' }),
      bodyOf('payment_payout_completed', { orderId: null }),
      bodyOf('payment_payout_completed', {}, 'webhook_test'),
    ];
    for (const body of others) assert.equal(receive(shop, signed(body), body), 200);
    assert.deepEqual([shop.order().status, shop.order().news], ['payment_unpaid', []]);
  });

  it('accepts none while it uses the feed alone', () => {
    const shop = shopWithOrder();
    shop.keeper.learnBy('feed');
    assert.equal(receive(shop, signed(done), done), 404);
    assert.equal(shop.order().status, 'payment_unpaid');
  });
});

describe('sandbox: the demo shop’s book', () => {
  it('is the same after a kill, wherever that cut the last line', () => {
    const { file, book } = shopWithOrder();
    const before = book.now();
    appendFileSync(file, '{"type":"LearningSet","lear');
    assert.deepEqual(openBook(file).now(), before);
    assert.ok(openBook(file).write({ type: 'LearningSet', learning: 'feed' }));
    assert.equal(openBook(file).now().learning, 'feed');
  });

  it('saves a page of the feed together with its cursor, and uses nothing from it twice', () => {
    const { file, book, order } = shopWithOrder();
    const news = { orderId: 'T-1', by: 'feed', status: 'payment_started', at: minute(1) } as const;
    book.write({ type: 'FeedRead', after: '7', news: [news, { ...news, status: 'payment_payout_completed' }, news] });
    assert.deepEqual([order().status, order().news.length], ['payment_payout_completed', 2]);
    assert.equal(openBook(file).now().after, '7');
  });
});

describe('sandbox: the demo shop’s process', () => {
  it('keeps an order without a payment over a kill; answers its own pages alone', async () => {
    const folder = temporaryDirectory();
    const options = { port: 0, webhookPort: 0, folder, certificates: folder, errorFile: join(folder, 'shop.log') };
    const chains = [{ id: '8453', name: 'Base' }];
    const key = { appId: 'merchant_shop', ordersKey: 'k', adminKey: 'k', webhookSecret: secret, chains };
    // No server listens there.
    writeSettings(folder, { serviceUrl: 'http://127.0.0.1:9', ...key });
    const shop = await startShop(options);
    const post = (body: string, headers: Record<string, string>, path = '/orders') =>
      fetch(`${shop.url}${path}`, { method: 'POST', body, headers, redirect: 'manual' });
    const own = { Origin: shop.url };
    for (const headers of [
      {},
      { Origin: 'null' },
      { Origin: 'https://evil.test' },
      { Origin: `${shop.url}.evil.test` },
    ])
      assert.equal((await post('goods=sencha&chainId=8453', headers as Record<string, string>)).status, 403);
    for (const body of ['', 'goods=none&chainId=8453', 'goods=sencha&chainId=1', 'goods=__proto__&chainId=8453'])
      assert.equal((await post(body, own)).status, 400, body);
    assert.equal((await post('x'.repeat(5_000), own)).status, 403);
    const led = await post('learning=feed&back=https://evil.test', own, '/learning');
    assert.deepEqual([led.status, led.headers.get('location')], [303, '/']);
    const placed = await post('goods=sencha&chainId=8453', own);
    const path = placed.headers.get('location') ?? '';
    assert.match(path, /^\/orders\/T-[0-9a-f]{8}$/);
    process.kill(shop.pid, 'SIGKILL');

    const again = await startShop(options);
    const answer = await fetch(`${again.url}${path}`);
    assert.match(await answer.text(), /The payment is being made/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /script-src 'self' http:\/\/127\.0\.0\.1:9;/);
    assert.match(policy, /frame-ancestors 'none'/);
    for (const odd of [
      '/orders/T-none',
      '/assets/../main.ts',
      '/assets/settings.json',
      '/assets/constructor',
      '/settings.json',
      '/constructor',
    ])
      assert.equal((await fetch(`${again.url}${odd}`)).status, 404, odd);
    await again.stop();
  });
});
