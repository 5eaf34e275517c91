/** A shop that may be killed at any moment: no order is lost, and none is handed over twice. README.md says why. */
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { openOrders } from './orders.js';
import { createPayment, isGenuine, readFeed, readPayment } from './payments.js';

const { MODE = 'webhooks', PORT = '4000', SHOP_DATABASE = 'shop.db' } = process.env;
if (MODE !== 'webhooks' && MODE !== 'feed') throw new Error(`MODE is webhooks or feed, not ${MODE}`);
const goods = { sencha: { name: 'Sencha, 100 g', price: '4.50' }, pot: { name: 'A teapot', price: '24.00' } };
const orders = openOrders(SHOP_DATABASE);

/** Done again after a kill: the service answers with the same payment. */
async function ensurePayment(order) {
  if (!order.payment) orders.keepPayment(order.id, await createPayment(order));
  return orders.find(order.id);
}

const shown = ({ id, goods, price, link, status }) => ({ orderId: id, goods, price, payAt: link, status });

const app = express();

/** A buyer who got no answer sends the same key again, and has the same order. */
app.post('/orders', express.json({ limit: '2kb' }), async (request, response) => {
  const chosen = Object.hasOwn(goods, request.body?.goods) ? goods[request.body.goods] : undefined;
  const key = request.get('Idempotency-Key') ?? '';
  if (!chosen || !/^[\w-]{16,64}$/.test(key)) return response.status(400).json({ error: 'goods or key is missing' });
  response.status(201).json(shown(await ensurePayment(orders.place(key, chosen))));
});

app.get('/orders/:id', (request, response) => {
  const order = orders.find(request.params.id);
  if (order) response.json(shown(order));
  else response.status(404).json({ error: 'no such order' });
});

if (MODE === 'webhooks') {
  app.post('/webhooks', express.raw({ type: () => true, limit: '256kb' }), async (request, response) => {
    if (!isGenuine(request.headers, request.body ?? ''))
      return response.status(401).json({ error: 'invalid_signature' });
    const { type, data } = JSON.parse(request.body.toString('utf8'));
    const order = type !== 'webhook_test' && !data.keyless && data.orderId ? orders.find(data.orderId) : undefined;
    if (order) {
      await ensurePayment(order);
      // On disk before the answer: a webhook answered with 200 is not sent again.
      orders.learn({ orderId: data.orderId, paymentId: data.id, status: data.status });
    }
    response.json({ received: true });
  });
}

/** A webhook is sent once. Missing ones, because the shop was down, are queried. */
async function ask() {
  for (const { payment } of orders.toAsk()) {
    const { id, orderId, status } = await readPayment(payment);
    orders.learn({ orderId, paymentId: id, status });
  }
}

async function readOn() {
  const { data, nextCursor } = await readFeed(orders.cursor());
  for (const { orderId } of data) {
    const order = orderId && orders.find(orderId);
    if (order) await ensurePayment(order);
  }
  orders.learnPage(data, nextCursor);
}

const complain = (error) => console.error(error.message);

app.use((error, _request, response, _next) => {
  complain(error);
  response.status(error.status ?? 503).json({ error: 'not now: send the same again' });
});

/** For ever; what fails is tried again. */
async function keep(work, pause_ms) {
  for (;;) {
    await work().catch(complain);
    await sleep(pause_ms);
  }
}

keep(async () => {
  for (const order of orders.withoutPayment()) await ensurePayment(order).catch(complain);
}, 1_000);
if (MODE === 'webhooks') keep(ask, 10_000);
else keep(readOn, 100);
app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`the shop takes orders at http://127.0.0.1:${PORT}`);
});
