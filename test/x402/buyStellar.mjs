/**
 * Buys one URL with the unmodified `@x402/fetch` and `@x402/stellar`. Usage: node buyStellar.mjs <url> <secret S…> <https URL of a node>
 */
import { createEd25519Signer } from '@x402/stellar';
import { ExactStellarScheme } from '@x402/stellar/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';

const [url, secret, rpcUrl] = process.argv.slice(2);
const signer = createEd25519Signer(secret, 'stellar:pubnet');
const client = new x402Client().register('stellar:pubnet', new ExactStellarScheme(signer, { url: rpcUrl }));
// Its version names no default asset of Stellar, so the limits of this client are off.
client.setSpendControls(false);

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
