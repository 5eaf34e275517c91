/**
 * A merchant's own server with the unmodified `@x402/express`, whose facilitator is our service. Each order is a payment of the merchant.
 * Usage: node shop.mjs <service url> <API key> <request of a payment as JSON>. Prints its URL, and ends with its standard input.
 */
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';

const [service, key, terms] = process.argv.slice(2);
const headers = { 'X-API-Key': key };
const facilitator = new HTTPFacilitatorClient({
  url: `${service}/x402`,
  createAuthHeaders: async () => ({ supported: headers, verify: headers, settle: headers }),
});

/** The same order is the same payment. */
async function paymentOf({ adapter }) {
  const answer = await fetch(`${service}/payment-api/payments`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...JSON.parse(terms), orderId: adapter.getQueryParam('order') }),
  });
  const payment = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(payment));
  return payment;
}

const networks = ['eip155:8453', 'eip155:1', 'eip155:42161', 'eip155:137'];
const server = networks.reduce(
  (known, network) => known.register(network, new ExactEvmScheme()),
  new x402ResourceServer(facilitator),
);
const accepts = {
  scheme: 'exact',
  network: `eip155:${JSON.parse(terms).source.chainId}`,
  async payTo(context) {
    return (await paymentOf(context)).source.receiverAddress;
  },
  async price(context) {
    const { amount, tokenAddress } = (await paymentOf(context)).source;
    return {
      asset: tokenAddress,
      amount: String(Math.round(Number(amount) * 1e6)),
      extra: { name: 'USD Coin', version: '2' },
    };
  },
};

let served = 0;
const app = express();
app.use(paymentMiddleware({ 'GET /tea': { accepts, description: 'Tea' } }, server));
app.get('/tea', (_request, response) => response.json({ tea: 'oolong', served: ++served }));
const listening = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listening.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
