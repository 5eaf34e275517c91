import { StrKey } from '@stellar/stellar-sdk';
import type { Reader } from '../../environment/reader.ts';
import { readTreasuryAccount, type Treasury } from '../family.ts';
import { accountOfSecret, isSecret } from './signer/signer.ts';

export interface StellarTreasury extends Treasury {
  /** Contract of the intent `stellar_payin_contracts`; null: the intent is not offered. */
  readonly payinContract: string | null;
  /** Accounts that number payouts besides the treasury; none on an instance without payouts. */
  readonly channels: readonly Channel[];
  /** Account that sends payers' authorization entries and pays their fees; null where no payment takes them. */
  readonly relay: Treasury | null;
}

export interface Channel {
  /** G… */
  readonly account: string;
  /** S…; null if the signer has it. */
  readonly secret: string | null;
}

/** Every payout queries all of them. */
const channelsMax = 32;

export function readStellarTreasury(read: Reader): StellarTreasury | null {
  const names = { address: 'STELLAR_TREASURY_ADDRESS', key: 'STELLAR_TREASURY_SECRET' };
  const stated = read.accepted(names.address, StrKey.isValidEd25519PublicKey, 'an account of Stellar: G…');
  const key = read.accepted(names.key, isSecret, 'a secret of Stellar: S…');
  const payinContract = read.accepted('STELLAR_PAYIN_CONTRACT', StrKey.isValidContract, 'a contract of Stellar: C…');
  const treasury = readTreasuryAccount(read, names, { stated, key, accountOf: accountOfSecret });
  if (!treasury) return null;
  const channels = readChannels(read, treasury);
  return { ...treasury, payinContract, channels, relay: readRelay(read, treasury, channels) };
}

/** Reads the relay account. It holds lumens only, so its key cannot move the treasury's money. */
function readRelay(read: Reader, { address }: Treasury, channels: readonly Channel[]): Treasury | null {
  const names = { address: 'STELLAR_RELAY_ADDRESS', key: 'STELLAR_RELAY_SECRET' };
  const stated = read.accepted(names.address, StrKey.isValidEd25519PublicKey, 'an account of Stellar: G…');
  const key = read.accepted(names.key, isSecret, 'a secret of Stellar: S…');
  if (stated === null && key === null) return null;
  const relay = readTreasuryAccount(read, names, { stated, key, accountOf: accountOfSecret });
  const others = [address, ...channels.map(({ account }) => account)];
  read.check(
    relay === null || !others.includes(relay.address),
    'STELLAR_RELAY_ADDRESS is the treasury or a channel: relays need an account of their own, or a flood of them delays payouts',
  );
  return relay;
}

/** By secrets if the treasury has its secret, else by accounts, for an instance with a separate signer. */
function readChannels(read: Reader, { address, key }: Treasury): readonly Channel[] {
  const secrets = listOf(read, 'STELLAR_CHANNEL_SECRETS', isSecret, 'secrets of Stellar: S…,S…');
  const stated = listOf(read, 'STELLAR_CHANNEL_ACCOUNTS', StrKey.isValidEd25519PublicKey, 'accounts of Stellar: G…,G…');
  const channels =
    key === null
      ? stated.map((account) => ({ account, secret: null }))
      : secrets.map((secret) => ({ account: accountOfSecret(secret), secret }));
  const name = key === null ? 'STELLAR_CHANNEL_ACCOUNTS' : 'STELLAR_CHANNEL_SECRETS';
  const accounts = new Set([address, ...channels.map(({ account }) => account)]);
  read.check(
    accounts.size === channels.length + 1,
    `${name}: each must be an account of its own, and none the treasury`,
  );
  read.check(channels.length <= channelsMax, `${name}: ${channels.length} are more than ${channelsMax}`);
  return channels;
}

function listOf(read: Reader, name: string, isOne: (text: string) => boolean, what: string): readonly string[] {
  const stated = read.list(name);
  return read.check(stated.every(isOne), `${name} is not a list of ${what}`) ? stated : [];
}
