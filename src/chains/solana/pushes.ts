/**
 * Notifications of Solana's nodes: slots as a heartbeat, and token accounts of catalogue tokens that a confirmed slot has changed
 * (programSubscribe). Only the owner of those is read.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc/src/rpc_subscriptions.rs
 */
import { base58 } from '@scure/base';
import type { Observable } from 'rxjs';
import type { Chain } from '../../../domain/chains.ts';
import { boundedMap } from '../../lib/cache.ts';
import type { Push } from '../family.ts';
import { type PushesOptions, pushesOf, type Subscription } from '../node/pushes.ts';
import { ownerSlice, tokenAccount_bytes, tokenProgram } from './tokenProgram.ts';

export interface SolanaPushesOptions extends PushesOptions {
  readonly chain: Pick<Chain, 'tokens'>;
}

export const createPushes = ({ chain, ...options }: SolanaPushesOptions): Observable<Push> =>
  pushesOf({ subscriptions: subscriptionsTo(chain), read: createReader() }, options);

const subscriptionsTo = ({ tokens }: Pick<Chain, 'tokens'>): readonly Subscription[] => [
  { method: 'slotSubscribe', params: [] },
  ...tokens.map(({ address }) => ({ method: 'programSubscribe', params: [tokenProgram, accountsOf(address)] })),
];

/** A token account begins with its mint. */
const accountsOf = (mint: string) => ({
  commitment: 'confirmed',
  encoding: 'base64',
  dataSlice: ownerSlice,
  filters: [{ dataSize: tokenAccount_bytes }, { memcmp: { offset: 0, bytes: mint } }],
});

/** Exchanges and pools change constantly: encoding an owner takes three times as long as parsing the whole message. */
const spelledMax = 20_000;

interface Said {
  readonly params?: {
    readonly result?: {
      readonly slot?: unknown;
      readonly value?: { readonly account?: { readonly data?: readonly unknown[] } };
    };
  };
}

function createReader(): (message: unknown) => Push | undefined {
  const spelled = boundedMap<string>(spelledMax);
  return (message) => {
    const { slot, value } = (message as Said).params?.result ?? {};
    if (typeof slot === 'number') return { kind: 'head' };
    const owner = ownerIn(value?.account?.data?.[0]);
    if (!owner) return undefined;
    const key = owner.toString('latin1');
    const to = spelled.get(key) ?? base58.encode(owner);
    spelled.set(key, to);
    return { kind: 'transfer', to };
  };
}

/** Nodes that support `dataSlice` return only the owner, others the whole account. */
function ownerIn(data: unknown): Buffer | undefined {
  if (typeof data !== 'string' || data.length > lettersMost) return undefined;
  const bytes = Buffer.from(data, 'base64');
  const { offset, length } = ownerSlice;
  if (bytes.length === length) return bytes;
  return bytes.length === tokenAccount_bytes ? bytes.subarray(offset, offset + length) : undefined;
}

const lettersMost = Math.ceil(tokenAccount_bytes / 3) * 4;
