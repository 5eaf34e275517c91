/** Buys one URL with the unmodified `@x402/axios`. Its version has no spend limit. Usage: node buyAxios.mjs <url> <private key> */
import { decodePaymentResponseHeader, wrapAxiosWithPayment, x402Client } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';

const [url, key] = process.argv.slice(2);
const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(key)));

const result = await wrapAxiosWithPayment(axios.create(), client)
  .get(url)
  .then(
    ({ status, data, headers }) => ({
      status,
      body: data,
      response: headers['payment-response'] && decodePaymentResponseHeader(headers['payment-response']),
    }),
    (error) => ({ error: error.message, status: error.response?.status, body: error.response?.data }),
  );
console.log(JSON.stringify(result));
