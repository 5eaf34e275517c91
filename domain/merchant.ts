/**
 * An app that takes payments: its settlement wallet, webhook settings and API keys. Stream `merchant-<appId>`.
 * The schemas ARE the storage format and must be versioned with care.
 */
import Type, { type Static } from 'typebox';
import { type ChainId, chainIds, chainOf, findToken, memoProblem } from './chains.ts';
import { type Decider, type Decision, isRefusal, type Refusal, refuse } from './decider.ts';
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
const webhookUrlMax = 2_048;

/**
 * An app begins with its webhook settings, in one append.
 *
 * @param input idSalt: 32 random bytes as hex, from which the app's payment ids are derived
 */
export function register(
  state: MerchantState,
  input: Registration,
  webhookUrl: string | null,
  secret: SealedSecret,
): Decision<MerchantEvent> {
  if (state.registration) return [];
  if (!appKind(input.appId)) {
    return refuse(
      'invalidRequest',
      `appId ${input.appId} is not of the form merchant_<slug> or wallet_<slug> (slug: 1 to 48 of a-z, 0-9, _ and -)`,
      '/appId',
    );
  }
  const registered: MerchantEvent = { type: 'MerchantRegistered', data: input };
  const rotated: MerchantEvent = { type: 'WebhookSecretRotated', data: secret };
  const urlSet = setWebhookUrl(merchant.evolve(state, registered), webhookUrl);
  return isRefusal(urlSet) ? urlSet : [registered, ...urlSet, rotated];
}

/** @param wallet its address already checked and spelled in the chain's canonical way */
export function setSettlement(state: MerchantState, wallet: SettlementWallet): Decision<MerchantEvent> {
  const chain = chainOf(wallet.chainId);
  const token = findToken(chain, wallet.token.symbol);
  if (token?.address !== wallet.token.address || token.decimals !== wallet.token.decimals) {
    return refuse('invalidRequest', `chain ${wallet.chainId} pays out no ${wallet.token.symbol}`, '/tokenSymbol');
  }
  const { receiverAddress, receiverMemo } = wallet;
  const problem = receiverMemo === null ? undefined : memoProblem(chain, receiverAddress, receiverMemo);
  if (problem) return refuse('invalidRequest', problem, '/receiverMemo');
  const now = state.settlement;
  const same =
    now?.chainId === wallet.chainId &&
    now.token.address === wallet.token.address &&
    now.receiverAddress === receiverAddress &&
    now.receiverMemo === receiverMemo;
  return ofRegistered(state, same ? [] : [{ type: 'SettlementWalletSet', data: wallet }]);
}

/** @param url null stops webhooks for payments created from now on; payments that exist keep theirs */
export function setWebhookUrl(state: MerchantState, url: string | null): Decision<MerchantEvent> {
  const read = url === null ? null : readWebhookUrl(url);
  if (isRefusal(read)) return read;
  return ofRegistered(state, read === state.webhookUrl ? [] : [{ type: 'WebhookUrlSet', data: { url: read } }]);
}

/** The old secret stops at once. */
export function rotateSecret(state: MerchantState, secret: SealedSecret): Decision<MerchantEvent> {
  const same = state.webhookSecret?.fingerprint === secret.fingerprint;
  return ofRegistered(state, same ? [] : [{ type: 'WebhookSecretRotated', data: secret }]);
}

/** Lets payments be created without a key: only where each payment states its receiver. */
export function setKeylessCreation(state: MerchantState, allowed: boolean): Decision<MerchantEvent> {
  const appId = state.registration?.appId ?? '';
  if (allowed && state.registration && appKind(appId) !== 'wallet') {
    return refuse('forbidden', `${appId} is no wallet_ app: payments without a key need an app that states receivers`);
  }
  return ofRegistered(
    state,
    allowed === state.keylessCreation ? [] : [{ type: 'KeylessCreationSet', data: { allowed } }],
  );
}

export function issueKey(state: MerchantState, key: IssuedKey): Decision<MerchantEvent> {
  const active = state.keys.filter((issued) => !issued.revoked).length;
  if (state.keys.some((issued) => issued.keyId === key.keyId)) return [];
  if (active >= activeKeysMax || state.keys.length >= keysEverMax) {
    return refuse('forbidden', `the app has ${active} active keys (at most ${activeKeysMax}): revoke one first`);
  }
  return ofRegistered(state, [{ type: 'ApiKeyIssued', data: key }]);
}

export function revokeKey(state: MerchantState, keyId: string): Decision<MerchantEvent> {
  const key = state.keys.find((issued) => issued.keyId === keyId);
  if (!key) return refuse('invalidRequest', `the app has no key ${keyId}: list its keys to see their ids`, '/keyId');
  return key.revoked ? [] : [{ type: 'ApiKeyRevoked', data: { keyId } }];
}

const ofRegistered = (state: MerchantState, events: readonly MerchantEvent[]): readonly MerchantEvent[] | Refusal =>
  state.registration ? events : refuse('illegalStep', 'the app is not registered: register it first');

/**
 * The one rule for webhook URLs, whoever states them. Scheme and host may be in any case. What a URL parser would drop or bend without
 * a word is refused: spaces, control characters, backslashes, and a fragment, which is never sent.
 *
 * @returns the canonical URL, which is what is kept, compared and shown: `HTTPS://Shop.Example` is `https://shop.example/`
 */
export function readWebhookUrl(text: string): string | Refusal {
  const refused = (problem: string) => refuse('invalidRequest', `webhookUrl ${problem}`, '/webhookUrl');
  if (!/^https:\/\/[^/]/i.test(text)) return refused('must start with https:// and a host');
  if (/[\s\\\p{C}]/u.test(text))
    return refused('must hold no space, control character or backslash: write it percent-encoded');
  if (!URL.canParse(text)) return refused('is no URL');
  const url = new URL(text);
  if (url.username || url.password) return refused('must not hold a user name or password: they would be stored');
  if (text.includes('#')) return refused('must not hold a fragment (#): it is never sent');
  if (url.href.length > webhookUrlMax) return refused(`is longer than ${webhookUrlMax} characters`);
  return url.href;
}
