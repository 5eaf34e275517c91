/** The two compose files: their differences, and an operator's settings for a trial of each. */
import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { evmSettings } from '../../settings.ts';
import { type Chains, chainIds } from './chains.ts';
import { standIns } from './images.ts';

export type ShapeName = 'one' | 'scale';

export interface Shape {
  readonly name: ShapeName;
  readonly file: string;
  /** Started services: all except mail and monitoring. */
  readonly services: readonly string[];
  /** Services that run this product, and so need access to the chains. */
  readonly ours: readonly string[];
  /** Container for the operator's tools. */
  readonly tools: string;
  /** Nodes of the cluster; empty for a single node. */
  readonly eventStores: readonly string[];
  /** With a separate signer the other instances have no key. */
  readonly hasSigner: boolean;
}

export const shapes: Readonly<Record<ShapeName, Shape>> = {
  one: {
    name: 'one',
    file: 'docker-compose.yml',
    services: ['api', 'service'],
    ours: ['api', 'service'],
    tools: 'service',
    eventStores: [],
    hasSigner: false,
  },
  scale: {
    name: 'scale',
    file: 'docker-compose.scale.yml',
    services: ['balancer', 'api', 'projections', 'subscribers', 'signer'],
    ours: ['api', 'projections', 'subscribers', 'signer'],
    tools: 'subscribers',
    eventStores: ['eventstore-a', 'eventstore-b', 'eventstore-c'],
    hasSigner: true,
  },
};

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

/** `.env` of a shape. Production's checks apply. */
export function environment(shape: Shape, { treasury }: Keys, chains: Chains, isLocal: boolean): string {
  const ofChains = chainIds.map((chainId) => ({
    ...evmSettings(chainId, chains.url(chainId, 'service')),
    [`POLL_MS_${chainId}`]: '1000',
  }));
  return lines({
    ...Object.assign({}, ...ofChains),
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
