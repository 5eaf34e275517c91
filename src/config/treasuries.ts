/** The accounts that pay out, one for each chain family that is served: with its key, or its address alone. */
import { Keypair, StrKey } from '@stellar/stellar-sdk';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainFamily } from '../../domain/chains.ts';
import { checksummed } from '../chains/evm/checksum.ts';
import { canonicalSolanaAddress } from '../chains/solana/addresses.ts';
import { parseSolanaKey } from '../chains/solana/signer/keys.ts';
import type { Reader } from '../environment/reader.ts';

export interface Treasury {
  /** As its chains spell it. */
  readonly address: string;
  /** Null on an instance that does not sign. */
  readonly key: string | null;
}

export interface StellarTreasury extends Treasury {
  /** The contract of the intent `stellar_payin_contracts`; null: the intent is not offered. */
  readonly payinContract: string | null;
  /** Secrets of the accounts that number payouts beside it; none on an instance that does not sign. */
  readonly channelKeys: readonly string[];
}

export interface SolanaTreasury extends Treasury {
  /** What the keys of deposits are derived from, 64 hex digits; null on an instance that does not sign. */
  readonly depositSeed: string | null;
}

/** Each is asked for at every payout. */
const channelsMax = 32;

/** Null for a family of which no chain is served. */
export interface Treasuries {
  readonly evm: Treasury | null;
  readonly solana: SolanaTreasury | null;
  readonly stellar: StellarTreasury | null;
}

/** The ten accounts of local development chains: everybody has their keys. */
const developmentAccounts: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
]);

/** A family needs its treasury as soon as one of its chains is served. */
export function readTreasuries(read: Reader, families: ReadonlySet<ChainFamily>, production: boolean): Treasuries {
  const evm = evmTreasury(read, families.has('evm'));
  const known = production && evm !== null && developmentAccounts.has(evm.address.toLowerCase());
  read.check(!known, 'the treasury is a well-known development account: anybody can spend from it');
  return {
    evm,
    solana: solanaTreasury(read, families.has('solana')),
    stellar: stellarTreasury(read, families.has('stellar')),
  };
}

function evmTreasury(read: Reader, needed: boolean): Treasury | null {
  const stated = read.matching('TREASURY_ADDRESS', /^0x[0-9a-fA-F]{40}$/, 'an EVM address');
  const key = read.hex('TREASURY_PRIVATE_KEY', /^0x[0-9a-f]{64}$/, '0x and 64 hex digits');
  const spelled = stated && checksummed(stated.slice(2).toLowerCase());
  const names = { address: 'TREASURY_ADDRESS', key: 'TREASURY_PRIVATE_KEY' };
  return oneAccount(read, names, { stated: spelled, key, accountOf: evmAccountOf, needed });
}

function solanaTreasury(read: Reader, needed: boolean): SolanaTreasury | null {
  const names = { address: 'SOLANA_TREASURY_ADDRESS', key: 'SOLANA_TREASURY_PRIVATE_KEY' };
  const isWallet = (text: string) => canonicalSolanaAddress(text) !== null;
  const isKey = (text: string) => solanaAccountOf(text) !== undefined;
  const stated = read.accepted(names.address, isWallet, 'a wallet of Solana: the base58 of 32 bytes');
  const key = read.accepted(names.key, isKey, 'a key of Solana: the base58 of 64 bytes, secret half and public half');
  const depositSeed = read.hex('SOLANA_DEPOSIT_SEED', /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`');
  const treasury = oneAccount(read, names, { stated, key, accountOf: solanaAccountOf, needed });
  if (!treasury?.key) return treasury && { ...treasury, depositSeed: null };
  const given = read.given('SOLANA_DEPOSIT_SEED');
  read.check(given, `SOLANA_DEPOSIT_SEED is required beside ${names.key}: the keys of deposits are derived from it`);
  return { ...treasury, depositSeed };
}

function stellarTreasury(read: Reader, needed: boolean): StellarTreasury | null {
  const names = { address: 'STELLAR_TREASURY_ADDRESS', key: 'STELLAR_TREASURY_SECRET' };
  const stated = read.accepted(names.address, StrKey.isValidEd25519PublicKey, 'an account of Stellar: G…');
  const key = read.accepted(names.key, StrKey.isValidEd25519SecretSeed, 'a secret of Stellar: S…');
  const payinContract = read.accepted('STELLAR_PAYIN_CONTRACT', StrKey.isValidContract, 'a contract of Stellar: C…');
  const treasury = oneAccount(read, names, { stated, key, accountOf: stellarAccountOf, needed });
  return treasury && { ...treasury, payinContract, channelKeys: channelKeys(read, treasury) };
}

function channelKeys(read: Reader, { address, key }: Treasury): readonly string[] {
  const name = 'STELLAR_CHANNEL_SECRETS';
  const stated = read.list(name);
  if (key === null) return [];
  if (!read.check(stated.every(StrKey.isValidEd25519SecretSeed), `${name} is not a list of secrets of Stellar: S…,S…`))
    return [];
  const accounts = new Set([address, ...stated.map(stellarAccountOf)]);
  read.check(accounts.size === stated.length + 1, `${name}: each must be an account of its own, and none the treasury`);
  read.check(stated.length <= channelsMax, `${name}: ${stated.length} are more than ${channelsMax}`);
  return stated;
}

interface Account {
  readonly stated: string | null;
  readonly key: string | null;
  readonly accountOf: (key: string) => string | undefined;
  readonly needed: boolean;
}

/** Of a key and an address the key decides; both together must be of one account. */
function oneAccount(
  read: Reader,
  names: { readonly address: string; readonly key: string },
  { stated, key, accountOf, needed }: Account,
): Treasury | null {
  if (!needed) return null;
  if (key === null) {
    const given = read.given(names.address) || read.given(names.key);
    read.check(stated !== null || given, `${names.address} or ${names.key} is required`);
    return { address: stated ?? '', key: null };
  }
  const address = accountOf(key);
  if (!read.check(address !== undefined, `${names.key} is no key of its curve`)) return null;
  const same = stated === null || stated === address;
  read.check(
    same,
    `${names.address} is not the account of ${names.key}: deposits would go to one and payouts leave the other`,
  );
  return { address: address ?? '', key };
}

/** Undefined when the curve has no such key. */
function evmAccountOf(privateKey: string): string | undefined {
  try {
    return privateKeyToAddress(privateKey as Hex);
  } catch {
    return undefined;
  }
}

const solanaAccountOf = (key: string): string | undefined => parseSolanaKey(key)?.address;

const stellarAccountOf = (secret: string): string => Keypair.fromSecret(secret).publicKey();
