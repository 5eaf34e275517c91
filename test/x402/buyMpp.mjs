/** Buys one URL with the unmodified `mppx` by the Payment scheme. Usage: node buyMpp.mjs <url> <private key> */
import { Receipt } from 'mppx';
import { evm, Mppx } from 'mppx/client';
import { privateKeyToAccount } from 'viem/accounts';

const [url, key] = process.argv.slice(2);
let used = null;
const client = Mppx.create({
  methods: [
    evm({ account: privateKeyToAccount(key), authorization: { name: 'USD Coin', version: '2' }, maxAtomicAmount: 50_000_000n }),
  ],
  fetch: (input, init) => {
    const headers = new Headers(init?.headers);
    used ??= headers.get('authorization') ? 'Payment' : headers.get('payment-signature') ? 'x402' : null;
    return globalThis.fetch(input, init);
  },
  polyfill: false,
});

const result = await client.fetch(url).then(
  async (response) => ({
    status: response.status,
    body: await response.json(),
    used,
    receipt: response.headers.has('Payment-Receipt') ? Receipt.fromResponse(response) : null,
  }),
  (error) => ({ error: error.message, used }),
);
console.log(JSON.stringify(result));
