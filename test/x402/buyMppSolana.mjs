/**
 * Buys one URL with the unmodified `mppx` and `@solana/mpp` by the Payment scheme.
 * Usage: node buyMppSolana.mjs <url> <key of 64 bytes in base58> <URL of a node>
 */
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { Mppx, solana } from '@solana/mpp/client';
import { Receipt } from 'mppx';

const [url, key, rpcUrl] = process.argv.slice(2);
const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(key));
const client = Mppx.create({ methods: [solana.charge({ signer, rpcUrl })], polyfill: false });

const result = await client.fetch(url).then(
  async (response) => ({
    status: response.status,
    body: await response.json(),
    receipt: response.headers.has('Payment-Receipt') ? Receipt.fromResponse(response) : null,
  }),
  (error) => ({ error: error.message }),
);
console.log(JSON.stringify(result));
