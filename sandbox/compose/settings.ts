/** An operator's settings, generated for one check. */
import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type Chains, chainIds } from './chains.ts';
import { standIns } from './images.ts';
import type { Shape } from './shapes.ts';

export interface Keys {
  readonly treasury: Hex;
  readonly payers: readonly Hex[];
}

const payers = 4;

export const newKeys = (): Keys => ({
  treasury: generatePrivateKey(),
  payers: Array.from({ length: payers }, generatePrivateKey),
});

const secret = (): string => randomBytes(24).toString('hex');

/** `.env` of a shape; depths are those of local chains. Production's checks apply. */
export function environment(shape: Shape, { treasury }: Keys, chains: Chains, isLocal: boolean): string {
  const ofChains = chainIds.flatMap((chainId) => [
    [`RPC_URLS_${chainId}`, chains.url(chainId, 'service')],
    [`CONFIRMATIONS_${chainId}`, '2'],
    [`CONFIRMATIONS_LARGE_${chainId}`, '4'],
    [`PAYOUT_CONFIRMATIONS_${chainId}`, '2'],
    [`POLL_MS_${chainId}`, '1000'],
    [`COIN_PRICE_${chainId}`, '0.01'],
    [`SIGNER_MAX_HOUR_COIN_${chainId}`, '1000'],
  ]);
  return lines({
    ...Object.fromEntries(ofChains),
    PUBLIC_URL: 'https://pay.example.com',
    HEADS_EVERY_MINUTES: '1',
    TREASURY_ADDRESS: privateKeyToAddress(treasury),
    ...(shape.hasSigner
      ? { EVENTSTORE_ADMIN_PASSWORD: secret() }
      : {
          MASTER_KEY: randomBytes(32).toString('hex'),
          TREASURY_PRIVATE_KEY: treasury,
          POSTGRES_PASSWORD: secret(),
          OPERATIONS_HOST: '0.0.0.0',
          ANALYST_PASSWORD: secret(),
        }),
    ...(isLocal && { EVENTSTORE_IMAGE: standIns.eventstore.image }),
    NODE_EXTRA_CA_CERTS: '/etc/chains-ca.pem',
  });
}

/** `.env.signer`: with separate nodes. */
export const signerEnvironment = (chains: Chains): string =>
  lines(Object.fromEntries(chainIds.map((chainId) => [`RPC_URLS_${chainId}`, chains.url(chainId, 'signer')])));

const lines = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
