/**
 * What is stored of an app that takes payments. Stream `merchant-<appId>`.
 * The schemas ARE the storage format and must be versioned with care.
 */
import Type, { type Static } from 'typebox';
import { type ChainId, chainIds, tokenSymbols } from '../chains.ts';
import { AmountPolicy } from '../payment/amountPolicy.ts';
import { TokenRef } from '../payment/events.ts';
import { Amount, closed, Digest, Id, nullable, oneOf, Text, Time, type Upcasters, Url } from '../schema.ts';
import { LaterWebhookType, laterWebhookTypesMax } from '../webhook.ts';

/**
 * 2: an owner, profiles, changes of the wallet that cool down, expiry and names of keys, the time of a secret's rotation.
 * 3: sites that may show payment pages in a frame, what payers may choose to pay from.
 * 4: a webhook secret under another master key.
 * 5: a policy for money that is not what was agreed, fees of the app's own.
 * 6: further types of webhooks that the app chose.
 */
export const merchantSchemaVersion = 6;

export const keyScopes = ['orders', 'admin'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** What an app shows of itself. `logo` is the digest of a picture. */
export const profileFields = ['name', 'supportContact', 'returnUrlTemplate', 'colour', 'logo'] as const;
export type ProfileField = (typeof profileFields)[number];

const SettlementWallet = Type.Object(
  {
    chainId: Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] }),
    token: TokenRef,
    receiverAddress: Id,
    receiverMemo: nullable(Text(128)),
  },
  closed,
);

const PayFrom = Type.Array(
  Type.Object(
    { chainId: Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] }), tokenSymbol: oneOf(tokenSymbols) },
    closed,
  ),
  { maxItems: 12 },
);

/** Of payments from one chain to another; null stands for every chain. */
const FeeTier = Type.Object(
  {
    sourceChainId: nullable(Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] })),
    destinationChainId: nullable(Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] })),
    fixed_microUsd: Amount,
    basisPoints: Type.Integer({ minimum: 0, maximum: 1_000 }),
    /** The operator said that it may be less than what the payout costs. */
    belowCost: Type.Boolean(),
  },
  closed,
);

const KeyName = Text(100);

const IssuedKey = Type.Object(
  {
    keyId: Id,
    scope: oneOf(keyScopes),
    /** SHA-256 of the key: the key itself is shown once and never stored. */
    hash: Digest,
    /** What people recognise it by: prefix and last four characters. */
    hint: Text(32),
    name: KeyName,
    /** From then on it is refused; null for never. */
    expiresAt: nullable(Time),
  },
  closed,
);

const sealed = { ciphertext: Text(1_024), fingerprint: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }) };

export const merchantEventSchemas = {
  /** `developerId` stands for a person: who that is, the log does not know. Null for an app that the operator made. */
  MerchantRegistered: Type.Object({ appId: Id, developerId: nullable(Id), idSalt: Digest, registeredAt: Time }, closed),
  OwnerSet: Type.Object({ developerId: Id }, closed),
  /** The digest is of the profile as a whole, with a random salt in it: it proves what was shown and tells nothing. */
  ProfileSet: Type.Object(
    { digest: Digest, changed: Type.Array(oneOf(profileFields), { maxItems: profileFields.length }) },
    closed,
  ),
  SettlementWalletSet: SettlementWallet,
  SettlementChangeRequested: Type.Object({ changeId: Id, wallet: SettlementWallet, effectiveAt: Time }, closed),
  SettlementChangeCancelled: Type.Object({ changeId: Id }, closed),
  WebhookUrlSet: Type.Object({ url: nullable(Url) }, closed),
  /** All types that the app chose besides the first two. */
  WebhookTypesSet: Type.Object({ types: Type.Array(LaterWebhookType, { maxItems: laterWebhookTypesMax }) }, closed),
  WebhookSecretRotated: Type.Object({ ...sealed, rotatedAt: Time }, closed),
  /** The same secret under another master key. */
  WebhookSecretResealed: Type.Object(sealed, closed),
  /** Origins as browsers spell them. */
  EmbeddingSitesSet: Type.Object({ sites: Type.Array(Text(300), { maxItems: 10 }) }, closed),
  KeylessCreationSet: Type.Object({ allowed: Type.Boolean() }, closed),
  PayFromSet: Type.Object({ payFrom: PayFrom }, closed),
  PolicySet: AmountPolicy,
  /** All that the app has, each route once. */
  FeesSet: Type.Object({ fees: Type.Array(FeeTier, { maxItems: 64 }) }, closed),
  ApiKeyIssued: IssuedKey,
  ApiKeyRenamed: Type.Object({ keyId: Id, name: KeyName }, closed),
  ApiKeyRevoked: Type.Object({ keyId: Id }, closed),
} as const;

type Schemas = typeof merchantEventSchemas;
export type MerchantEventType = keyof Schemas;
export type MerchantEvent = {
  [T in MerchantEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[MerchantEventType];
export type SettlementWallet = Static<typeof SettlementWallet>;
export type SettlementChange = Static<Schemas['SettlementChangeRequested']>;
export type PayFrom = Static<typeof PayFrom>;
export type FeeTier = Static<typeof FeeTier>;
export type IssuedKey = Static<typeof IssuedKey>;
export type RotatedSecret = Static<Schemas['WebhookSecretRotated']>;
/** A webhook secret as it is kept: encrypted, and by what its owner knows it. */
export type SealedSecret = Omit<RotatedSecret, 'rotatedAt'>;
export type Registration = Static<Schemas['MerchantRegistered']>;

export const merchantUpcasters: Upcasters = {
  'MerchantRegistered@1': (data) => ({ ...data, developerId: null }),
  'WebhookSecretRotated@1': (data, at) => ({ ...data, rotatedAt: at }),
  'ApiKeyIssued@1': (data) => ({ ...data, expiresAt: null }),
};
