/** Buys one URL with the unmodified `@x402/fetch`. Usage: node buy.mjs <url> <private key> [maximum per payment, such as $50] */
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const [url, key, maxAmountPerPayment] = process.argv.slice(2);
const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(key)));
if (maxAmountPerPayment) client.setSpendControls({ maxAmountPerPayment });

const result = await wrapFetchWithPayment(fetch, client)(url).then(
  async (response) => {
    const header = response.headers.get('PAYMENT-RESPONSE');
    return {
      status: response.status,
      body: await response.json(),
      response: header && decodePaymentResponseHeader(header),
      reason: response.headers.has('PAYMENT-REQUIRED')
        ? JSON.parse(Buffer.from(response.headers.get('PAYMENT-REQUIRED'), 'base64').toString()).error
        : null,
    };
  },
  (error) => ({ error: error.message }),
);
console.log(JSON.stringify(result));
