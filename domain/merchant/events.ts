/**
 * Stored events of an app that accepts payments. Stream `merchant-<appId>`. The schemas ARE the storage format and must be versioned with
 * care.
 */
import Type, { type Static } from 'typebox';
import { type ChainId, chainIds, tokenSymbols } from '../chains.ts';
import { AmountPolicy } from '../payment/amountPolicy.ts';
import { TokenRef } from '../payment/events.ts';
import { Amount, closed, Digest, Id, nullable, oneOf, Text, Time, type Upcasters, Url } from '../schema.ts';
import { EndpointWebhookType, LaterWebhookType, laterWebhookTypesMax } from '../webhook.ts';
import { memberRoles } from './roles.ts';

/**
 * 2: an owner, profiles, a cool-down for wallet changes, expiry and names of keys, the time of a secret's rotation. 3: sites that may frame
 * payment pages, and tokens that payers may choose. 4: a webhook secret under another master key. 5: a policy for wrong amounts, and fees
 * of the app's own. 6: further types of webhooks that the app chose. 7: members with roles. 8: notifications that members choose, and
 * further webhook endpoints.
 */
export const merchantSchemaVersion = 8;

export const keyScopes = ['orders', 'admin'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** Fields that an app shows to payers. `logo` is a picture's digest. */
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

/** Fee of payments from one chain to another; null matches every chain. */
const FeeTier = Type.Object(
  {
    sourceChainId: nullable(Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] })),
    destinationChainId: nullable(Type.Unsafe<ChainId>({ type: 'integer', enum: [...chainIds] })),
    fixed_microUsd: Amount,
    basisPoints: Type.Integer({ minimum: 0, maximum: 1_000 }),
    /** The operator accepted that the fee may be below the payout's cost. */
    belowCost: Type.Boolean(),
  },
  closed,
);

const KeyName = Text(100);

const IssuedKey = Type.Object(
  {
    keyId: Id,
    scope: oneOf(keyScopes),
    /** SHA-256 of the key. The key itself is shown once and never stored. */
    hash: Digest,
    /** Prefix and last four characters, by which people recognise the key. */
    hint: Text(32),
    name: KeyName,
    /** The key is refused from then on; null for never. */
    expiresAt: nullable(Time),
  },
  closed,
);

const NoticeKinds = Type.Array(
  oneOf(['moneyHeld', 'webhookFailing', 'largePayment', 'firstPayment', 'dailySummary', 'weeklySummary']),
  { maxItems: 6 },
);

const sealed = { ciphertext: Text(1_024), fingerprint: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }) };

const EndpointTypes = Type.Array(EndpointWebhookType, { minItems: 1, maxItems: laterWebhookTypesMax });

export const merchantEventSchemas = {
  /** `developerId` identifies a person without personal data in the log. Null for an app that the operator made. */
  MerchantRegistered: Type.Object({ appId: Id, developerId: nullable(Id), idSalt: Digest, registeredAt: Time }, closed),
  OwnerSet: Type.Object({ developerId: Id }, closed),
  /** Digest of the whole profile with a random salt: it proves what was shown and reveals nothing. */
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
  /** A further endpoint with a secret of its own. It gets only the types that it names, of all types. */
  WebhookEndpointAdded: Type.Object(
    { endpointId: Id, url: Url, types: EndpointTypes, ...sealed, rotatedAt: Time },
    closed,
  ),
  WebhookEndpointTypesSet: Type.Object({ endpointId: Id, types: EndpointTypes }, closed),
  WebhookEndpointSecretRotated: Type.Object({ endpointId: Id, ...sealed, rotatedAt: Time }, closed),
  /** The same secret under another master key. */
  WebhookEndpointSecretResealed: Type.Object({ endpointId: Id, ...sealed }, closed),
  WebhookEndpointRemoved: Type.Object({ endpointId: Id }, closed),
  /** Origins in the spelling of browsers. */
  EmbeddingSitesSet: Type.Object({ sites: Type.Array(Text(300), { maxItems: 10 }) }, closed),
  KeylessCreationSet: Type.Object({ allowed: Type.Boolean() }, closed),
  PayFromSet: Type.Object({ payFrom: PayFrom }, closed),
  PolicySet: AmountPolicy,
  /** All fees of the app, one per route. */
  FeesSet: Type.Object({ fees: Type.Array(FeeTier, { maxItems: 64 }) }, closed),
  ApiKeyIssued: IssuedKey,
  ApiKeyRenamed: Type.Object({ keyId: Id, name: KeyName }, closed),
  ApiKeyRevoked: Type.Object({ keyId: Id }, closed),
  /** The invited person can join until `expiresAt`. */
  MemberInvited: Type.Object({ developerId: Id, role: oneOf(memberRoles), expiresAt: Time }, closed),
  /** The owner cancelled the invitation, or the invited person declined it. */
  InvitationEnded: Type.Object({ developerId: Id }, closed),
  MemberJoined: Type.Object({ developerId: Id, role: oneOf(memberRoles) }, closed),
  MemberRoleSet: Type.Object({ developerId: Id, role: oneOf(memberRoles) }, closed),
  MemberRemoved: Type.Object({ developerId: Id }, closed),
  /** Kinds of notifications that a member gets by mail and in the dashboard's bell. Payments from the amount on are large. */
  NotificationsSet: Type.Object(
    { developerId: Id, mail: NoticeKinds, bell: NoticeKinds, large_microUsd: Amount },
    closed,
  ),
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
export type TeamMemberData = Static<Schemas['MemberJoined']>;
export type Invitation = Static<Schemas['MemberInvited']>;
export type NotificationsSet = Static<Schemas['NotificationsSet']>;
export type WebhookEndpoint = Static<Schemas['WebhookEndpointAdded']>;
export type RotatedSecret = Static<Schemas['WebhookSecretRotated']>;
/** A webhook secret as stored: encrypted, with the hint by which its owner recognises it. */
export type SealedSecret = Omit<RotatedSecret, 'rotatedAt'>;
export type Registration = Static<Schemas['MerchantRegistered']>;

export const merchantUpcasters: Upcasters = {
  'MerchantRegistered@1': (data) => ({ ...data, developerId: null }),
  'WebhookSecretRotated@1': (data, at) => ({ ...data, rotatedAt: at }),
  'ApiKeyIssued@1': (data) => ({ ...data, expiresAt: null }),
};
