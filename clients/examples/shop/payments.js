/** The payment service, as far as the shop needs it. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const { PAYMENTS_URL, PAYMENTS_KEY, PAYMENTS_ADMIN_KEY, WEBHOOK_SECRET } = process.env;
const tolerance_ms = 5 * 60_000;

/** Idempotency key is the order: any number of requests creates one payment. */
export const createPayment = ({ id, goods, price }) =>
  call('/payment-api/payments', PAYMENTS_KEY, {
    orderId: id,
    type: 'exactOut',
    display: { title: goods, currency: 'USD' },
    source: { chainId: '8453', tokenSymbol: 'USDC' },
    destination: { amount: price },
  });

export const readPayment = (id) => call(`/payment-api/payments/${id}`, PAYMENTS_KEY);

/** Waits a while when there is nothing new. */
export const readFeed = (after) => call(`/payment-api/events?wait=20&after=${after}`, PAYMENTS_ADMIN_KEY);

/** @param body the raw bytes: JSON that was parsed and formatted again differs */
export function isGenuine(headers, body) {
  const timestamp = headers['x-service-timestamp'] ?? '';
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp)) > tolerance_ms) return false;
  const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.`).update(body).digest('hex');
  const [expected, given] = [`sha256=${mac}`, headers['x-service-signature'] ?? ''].map((text) => Buffer.from(text));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function call(path, key, body) {
  const response = await fetch(PAYMENTS_URL + path, {
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(45_000),
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  return response.json();
}
