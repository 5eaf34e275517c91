/**
 * An app that takes payments: its settlement wallet, webhook settings and API keys. Stream `merchant-<appId>`.
 * The schemas ARE the storage format and must be versioned with care.
 */
import Type, { type Static } from 'typebox';
import { type ChainId, chainIds, chains, findToken } from './chains.ts';
import { type Decider, type Decision, type Refusal, refuse } from './decider.ts';
import { TokenRef } from './payment/events.ts';
import { closed, Digest, Id, nullable, oneOf, Text, Time, Url } from './schema.ts';

export const merchantSchemaVersion = 1;
export const keyScopes = ['orders', 'admin'] as const;
export type KeyScope = (typeof keyScopes)[number];

const SettlementWallet = Type.Object(
  {
    chainId: Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] }),
    token: TokenRef,
    receiverAddress: Id,
    receiverMemo: nullable(Text(128)),
  },
  closed,
);

const IssuedKey = Type.Object(
  {
    keyId: Id,
    scope: oneOf(keyScopes),
    /** SHA-256 of the key: the key itself is shown once and never stored. */
    hash: Digest,
    /** What people recognise it by: prefix and last four characters. */
    hint: Text(32),
    name: Text(100),
  },
  closed,
);

const SealedSecret = Type.Object(
  { ciphertext: Text(1_024), fingerprint: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }) },
  closed,
);

export const merchantEventSchemas = {
  MerchantRegistered: Type.Object({ appId: Id, idSalt: Digest, registeredAt: Time }, closed),
  SettlementWalletSet: SettlementWallet,
  WebhookUrlSet: Type.Object({ url: nullable(Url) }, closed),
  WebhookSecretRotated: SealedSecret,
  KeylessCreationSet: Type.Object({ allowed: Type.Boolean() }, closed),
  ApiKeyIssued: IssuedKey,
  ApiKeyRevoked: Type.Object({ keyId: Id }, closed),
} as const;

type Schemas = typeof merchantEventSchemas;
export type MerchantEventType = keyof Schemas;
export type MerchantEvent = {
  [T in MerchantEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[MerchantEventType];
export type SettlementWallet = Static<typeof SettlementWallet>;
export type IssuedKey = Static<typeof IssuedKey>;
export type SealedSecret = Static<typeof SealedSecret>;
export type Registration = Static<Schemas['MerchantRegistered']>;

export interface MerchantState {
  readonly registration: Registration | null;
  readonly settlement: SettlementWallet | null;
  readonly webhookUrl: string | null;
  readonly webhookSecret: SealedSecret | null;
  readonly keylessCreation: boolean;
  readonly keys: readonly (IssuedKey & { readonly revoked: boolean })[];
}

export const merchant: Decider<MerchantState, MerchantEvent> = {
  category: 'merchant',
  initial: {
    registration: null,
    settlement: null,
    webhookUrl: null,
    webhookSecret: null,
    keylessCreation: false,
    keys: [],
  },
  evolve(state, event) {
    switch (event.type) {
      case 'MerchantRegistered':
        return { ...state, registration: event.data };
      case 'SettlementWalletSet':
        return { ...state, settlement: event.data };
      case 'WebhookUrlSet':
        return { ...state, webhookUrl: event.data.url };
      case 'WebhookSecretRotated':
        return { ...state, webhookSecret: event.data };
      case 'KeylessCreationSet':
        return { ...state, keylessCreation: event.data.allowed };
      case 'ApiKeyIssued':
        return { ...state, keys: [...state.keys, { ...event.data, revoked: false }] };
      case 'ApiKeyRevoked':
        return {
          ...state,
          keys: state.keys.map((key) => (key.keyId === event.data.keyId ? { ...key, revoked: true } : key)),
        };
    }
  },
};

/** What an app may do follows from its kind: a merchant is paid at its settlement wallet, a wallet app names a receiver each time. */
export type AppKind = 'merchant' | 'wallet';

/** `merchant_<slug>` or `wallet_<slug>`; undefined for anything else. */
export function appKind(appId: string): AppKind | undefined {
  const match = /^(merchant|wallet)_[a-z0-9](?:[a-z0-9_-]{0,46}[a-z0-9])?$/.exec(appId);
  return match?.[1] as AppKind | undefined;
}

const activeKeysMax = 50;
const keysEverMax = 1_000;
