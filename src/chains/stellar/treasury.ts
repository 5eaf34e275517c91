import { StrKey } from '@stellar/stellar-sdk';
import type { Reader } from '../../environment/reader.ts';
import { readAccount, type Treasury } from '../treasury.ts';
import { accountOfSecret, isSecret } from './signer/signer.ts';

export interface StellarTreasury extends Treasury {
  /** The contract of the intent `stellar_payin_contracts`; null: the intent is not offered. */
  readonly payinContract: string | null;
  /** Accounts that number payouts beside the treasury; none on an instance that does not sign. */
  readonly channels: readonly Channel[];
}

export interface Channel {
  /** G… */
  readonly account: string;
  /** S… */
  readonly secret: string;
}

/** Every payout asks for all of them. */
const channelsMax = 32;

export function readStellarTreasury(read: Reader): StellarTreasury | null {
  const names = { address: 'STELLAR_TREASURY_ADDRESS', key: 'STELLAR_TREASURY_SECRET' };
  const stated = read.accepted(names.address, StrKey.isValidEd25519PublicKey, 'an account of Stellar: G…');
  const key = read.accepted(names.key, isSecret, 'a secret of Stellar: S…');
  const payinContract = read.accepted('STELLAR_PAYIN_CONTRACT', StrKey.isValidContract, 'a contract of Stellar: C…');
  const treasury = readAccount(read, names, { stated, key, accountOf: accountOfSecret });
  return treasury && { ...treasury, payinContract, channels: readChannels(read, treasury) };
}

function readChannels(read: Reader, { address, key }: Treasury): readonly Channel[] {
  const name = 'STELLAR_CHANNEL_SECRETS';
  const stated = read.list(name);
  if (key === null) return [];
  if (!read.check(stated.every(isSecret), `${name} is not a list of secrets of Stellar: S…,S…`)) return [];
  const channels = stated.map((secret) => ({ account: accountOfSecret(secret), secret }));
  const accounts = new Set([address, ...channels.map(({ account }) => account)]);
  read.check(accounts.size === stated.length + 1, `${name}: each must be an account of its own, and none the treasury`);
  read.check(stated.length <= channelsMax, `${name}: ${stated.length} are more than ${channelsMax}`);
  return channels;
}
