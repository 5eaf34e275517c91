/** Buys one URL with the unmodified `@x402/fetch` and `@x402/svm`. Usage: node buySolana.mjs <url> <key of 64 bytes in base58> <URL of a node> */
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

const [url, key, rpcUrl] = process.argv.slice(2);
const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(key));
const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
client.setSpendControls({ maxAmountPerPayment: '$50' });

const result = await wrapFetchWithPayment(fetch, client)(url).then(
  async (response) => {
    const header = response.headers.get('PAYMENT-RESPONSE');
    return {
      status: response.status,
      body: await response.json(),
      response: header && decodePaymentResponseHeader(header),
    };
  },
  (error) => ({ error: error.message }),
);
console.log(JSON.stringify(result));
