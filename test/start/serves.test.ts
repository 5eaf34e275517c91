import assert from 'node:assert/strict';
import { getBase58Decoder } from '@solana/kit';
import { Keypair } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { privateKeyToAddress } from 'viem/accounts';
import { readConfig, serves } from '../../src/config.ts';

const evmKey = `0x${'0123456789abcdef'.repeat(4)}` as const;
const stellar = Keypair.random();
const solana = SolanaKeypair.generate();
const secrets = {
  databasePassword: 'hunter2-database',
  storePassword: 'hunter2-store',
  sslPassword: 'hunter2-ssl',
  provider: 'hunter2-provider',
  masterKey: 'fedcba9876543210'.repeat(4),
  evmKey: evmKey.slice(2),
  stellarKey: stellar.secret(),
  solanaKey: getBase58Decoder().decode(solana.secretKey),
  depositSeed: '5eed'.repeat(16),
};
const env = {
  MODE: 'production',
  ROLES: 'api,subscribers',
  PUBLIC_URL: 'https://pay.example.com',
  DATABASE_URL: `postgres://operator:${secrets.databasePassword}@db.example.com:6432/payments?sslpassword=${secrets.sslPassword}`,
  EVENTSTORE_URL: `esdb://admin:${secrets.storePassword}@events.example.com:2113?tls=true`,
  MASTER_KEY: secrets.masterKey,
  TREASURY_PRIVATE_KEY: evmKey,
  STELLAR_TREASURY_SECRET: secrets.stellarKey,
  SOLANA_TREASURY_PRIVATE_KEY: secrets.solanaKey,
  SOLANA_DEPOSIT_SEED: secrets.depositSeed,
  RPC_URLS_8453: `https://base.example.com/${secrets.provider}`,
  RPC_URLS_1: `https://eth.example.com/${secrets.provider}`,
  RPC_URLS_1500: `https://stellar.example.com/${secrets.provider}`,
  RPC_URLS_501: `https://solana.example.com/${secrets.provider}`,
};

const told = () => {
  const config = readConfig(env);
  return serves(config, {
    url: 'http://127.0.0.1:3000',
    operationsUrl: 'http://127.0.0.1:3001',
    eventStoreUrl: config.eventStoreUrl ?? '',
  });
};

describe('an instance’s log line at its start', () => {
  it('names roles, chains, treasuries and stores', () => {
    assert.deepEqual(told(), {
      url: 'http://127.0.0.1:3000',
      operationsUrl: 'http://127.0.0.1:3001',
      mode: 'production',
      roles: ['api', 'subscribers'],
      chains: ['Base (8453)', 'Ethereum (1)', 'Solana (501)', 'Stellar (1500)'],
      treasuries: {
        evm: privateKeyToAddress(evmKey),
        solana: solana.publicKey.toBase58(),
        stellar: stellar.publicKey(),
      },
      database: 'postgres://db.example.com:6432/payments',
      eventStore: 'esdb://events.example.com:2113',
    });
  });

  it('holds no secret of the configuration', () => {
    const text = JSON.stringify(told());
    for (const [name, secret] of Object.entries(secrets)) assert.ok(!text.includes(secret), name);
    for (const user of ['operator', 'admin']) assert.ok(!text.includes(user), user);
  });
});
