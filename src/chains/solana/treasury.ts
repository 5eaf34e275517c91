import type { Reader } from '../../environment/reader.ts';
import { readTreasuryAccount, type Treasury } from '../family.ts';
import { canonicalSolanaAddress } from './addresses.ts';
import { priorityUsualMax_lamports, solanaChain } from './config.ts';
import { parseSolanaKey, referenceKey } from './signer/keys.ts';

/** Below this, even the minimum price would exceed it. */
const priorityLeastMax_lamports = 1_000n;
const lamportsPerSol = 1_000_000_000n;

export interface SolanaTreasury extends Treasury {
  /** Seed of the deposits' keys, 64 hex digits; null on an instance that does not sign. */
  readonly depositSeed: string | null;
  /** Key of payout references; null on an instance that prepares none. It cannot move money. */
  readonly referenceKey: Uint8Array | null;
  /** Maximum priority cost of one transaction. */
  readonly priorityMax_lamports: bigint;
  /** Account that pays the fees of payers' transactions; null where no payment takes them. */
  readonly relay: Treasury | null;
}

export function readSolanaTreasury(read: Reader): SolanaTreasury | null {
  const names = { address: 'SOLANA_TREASURY_ADDRESS', key: 'SOLANA_TREASURY_PRIVATE_KEY' };
  const isWallet = (text: string) => canonicalSolanaAddress(solanaChain(), text) !== null;
  const isKey = (text: string) => accountOf(text) !== undefined;
  const stated = read.accepted(names.address, isWallet, 'a wallet of Solana: the base58 of 32 bytes');
  const key = read.accepted(names.key, isKey, 'a key of Solana: the base58 of 64 bytes, secret half and public half');
  const depositSeed = read.hex('SOLANA_DEPOSIT_SEED', /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`');
  const treasury = readTreasuryAccount(read, names, { stated, key, accountOf });
  const priorityMax_lamports = read.whole('SOLANA_PRIORITY_MAX_LAMPORTS', priorityUsualMax_lamports);
  const fits = priorityMax_lamports >= priorityLeastMax_lamports && priorityMax_lamports <= lamportsPerSol;
  read.check(fits, `SOLANA_PRIORITY_MAX_LAMPORTS: from ${priorityLeastMax_lamports} to ${lamportsPerSol}, one SOL`);
  const reference = read.hex(
    'SOLANA_REFERENCE_KEY',
    /^[0-9a-f]{64}$/,
    '64 hex digits, as `npm run keystore -- public` names them',
  );
  const relay = treasury && readRelay(read, treasury);
  if (!treasury?.key) {
    const own = reference === null ? null : Buffer.from(reference, 'hex');
    return treasury && { ...treasury, depositSeed: null, referenceKey: own, priorityMax_lamports, relay };
  }
  const given = read.given('SOLANA_DEPOSIT_SEED');
  read.check(given, `SOLANA_DEPOSIT_SEED is required beside ${names.key}: the keys of deposits are derived from it`);
  return {
    ...treasury,
    depositSeed,
    referenceKey: depositSeed === null ? null : referenceKey(depositSeed),
    priorityMax_lamports,
    relay,
  };
}

/** Reads the relay account. It holds SOL only, so its key cannot move the treasury's money. */
function readRelay(read: Reader, treasury: Treasury): Treasury | null {
  const names = { address: 'SOLANA_RELAY_ADDRESS', key: 'SOLANA_RELAY_PRIVATE_KEY' };
  const isWallet = (text: string) => canonicalSolanaAddress(solanaChain(), text) !== null;
  const stated = read.accepted(names.address, isWallet, 'a wallet of Solana: the base58 of 32 bytes');
  const isKey = (text: string) => accountOf(text) !== undefined;
  const key = read.accepted(names.key, isKey, 'a key of Solana: the base58 of 64 bytes, secret half and public half');
  if (stated === null && key === null) return null;
  const relay = readTreasuryAccount(read, names, { stated, key, accountOf });
  read.check(
    relay === null || relay.address !== treasury.address,
    `${names.address} is the treasury: relays need an account of their own, or a flood of them delays payouts`,
  );
  return relay;
}

const accountOf = (key: string): string | undefined => parseSolanaKey(key)?.address;
