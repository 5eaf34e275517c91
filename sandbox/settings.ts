import type { ChainId } from '../domain/chains.ts';
import type { SandboxKeys } from './keys.ts';
import { demoEmail } from './seed.ts';
import type { SolanaChain } from './solanaChain.ts';
import type { StellarChain } from './stellarChain.ts';
import type { World } from './world.ts';

/** Shortest poll interval. Seven chains polled more often would keep a laptop busy. */
const pollLeast_ms = 250;

/** The service's configuration for a local world: only URLs, keys and depths differ from production. */
export function settingsFor(world: World, keys: SandboxKeys, blockTime_s: number): Record<string, string> {
  const served = [...world.rpcUrls.keys(), ...(world.stellar ? [1500] : []), ...(world.solana ? [501] : [])];
  const poll_ms = Math.max(pollLeast_ms, (blockTime_s * 1_000) / 2);
  return {
    MODE: 'sandbox',
    LOG_LEVEL: 'error',
    // Any free port, because several sandboxes may run at once. The summary and sandbox.json state it.
    OPERATIONS_PORT: '0',
    DATABASE_URL: world.databaseUrl,
    MASTER_KEY: keys.masterKey,
    TREASURY_PRIVATE_KEY: keys.treasury,
    RELAY_PRIVATE_KEY: keys.relay,
    SMTP_URL: world.mailbox.smtpUrl,
    MAIL_FROM: 'Payment Intents <no-reply@sandbox.example>',
    MAILBOX_URL: world.mailbox.url,
    DEMO_EMAIL: demoEmail,
    HEADS_EVERY_MINUTES: '1',
    // Trials sign in often, always from one address.
    SIGN_IN_PER_ADDRESS: '1000',
    SIGN_IN_PER_EMAIL: '1000',
    SIGN_IN_PER_BROWSER: '1000',
    REGISTRATIONS_PER_ADDRESS: '1000',
    // Enabled for trials: in production nobody earns credit unless the operator allows it.
    CASHBACK_BASIS_POINTS: '100',
    WEBHOOK_CA_FILE: world.receiver.caFile,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.1/32,::1/128',
    ...Object.assign({}, ...[...world.rpcUrls].map(([chainId, rpcUrl]) => evmSettings(chainId, rpcUrl))),
    ...Object.fromEntries(served.map((chainId) => [`POLL_MS_${chainId}`, String(poll_ms)])),
    ...(world.stellar && stellarSettings(world.stellar, keys)),
    ...(world.solana && solanaSettings(world.solana, keys)),
  };
}

/** For a local EVM chain: its coins are free, and its gas is cheaper than on the real chain. */
export const evmSettings = (chainId: ChainId, rpcUrl: string): Record<string, string> => ({
  [`RPC_URLS_${chainId}`]: rpcUrl,
  [`CONFIRMATIONS_${chainId}`]: '2',
  [`CONFIRMATIONS_LARGE_${chainId}`]: '4',
  [`PAYOUT_CONFIRMATIONS_${chainId}`]: '2',
  [`COIN_PRICE_${chainId}`]: '0.01',
  [`SIGNER_MAX_HOUR_COIN_${chainId}`]: '1000',
});

const stellarSettings = ({ rpcUrl, contract }: StellarChain, keys: SandboxKeys): Record<string, string> => ({
  RPC_URLS_1500: rpcUrl,
  STELLAR_TREASURY_SECRET: keys.stellar.treasury,
  STELLAR_RELAY_SECRET: keys.stellar.relay,
  STELLAR_PAYIN_CONTRACT: contract,
});

const solanaSettings = ({ rpcUrl }: SolanaChain, keys: SandboxKeys): Record<string, string> => ({
  RPC_URLS_501: rpcUrl,
  SOLANA_TREASURY_PRIVATE_KEY: keys.solana.treasury,
  SOLANA_RELAY_PRIVATE_KEY: keys.solana.relay,
  SOLANA_DEPOSIT_SEED: keys.solana.depositSeed,
});
