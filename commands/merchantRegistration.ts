/** Registration of an app: all checks first, without a write; carried out once the requester is known. */

import { createHash } from 'node:crypto';
import { type Chain, type ChainId, chainOf, findToken } from '../domain/chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import * as apps from '../domain/merchant/app.ts';
import type { MerchantEvent, SealedSecret, SettlementWallet } from '../domain/merchant/events.ts';
import {
  changedFields,
  noProfile,
  type Profile,
  type ProfileChange,
  readProfileChange,
  setProfile,
} from '../domain/merchant/profile.ts';
import { type MerchantState, merchant } from '../domain/merchant/state.ts';
import { readWebhookUrl } from '../domain/merchant/webhook.ts';
import type { Instant } from '../domain/time.ts';
import { type By, currentState, type Handle, type Handled } from './handle.ts';
import { askReceiver, notOffered } from './paymentRequest.ts';
import type { Clock, Ids, Logo, ProfileStore, ReceiverChecks } from './ports.ts';

// An app's public profile: changed field by field, stored outside the log, which holds only its digest.

export interface ProfileDeps {
  readonly handle: Handle;
  readonly ids: Pick<Ids, 'secret'>;
  readonly profiles: ProfileStore;
  /** Decodes an uploaded picture and re-encodes it; a refusal says what is wrong with it. */
  readonly readLogo: (bytes: Uint8Array) => Promise<Logo | Refusal>;
}

type Outcome = Handled<MerchantState> | Refusal;
type Change = (appId: string, decide: (state: MerchantState) => Decision<MerchantEvent>) => Promise<Outcome>;

/** Maximum attempts after concurrent changes of the profile. */
const triesMax = 5;

/** @param change appends the decision, with its actor */
export async function changeProfile(
  deps: ProfileDeps,
  appId: string,
  stated: ProfileChange,
  change: Change,
): Promise<Outcome> {
  const read = readProfileChange(stated);
  return isRefusal(read) ? read : applyChange(deps, appId, read, change);
}

/** @param bytes null removes the logo */
export async function changeLogo(
  deps: ProfileDeps,
  appId: string,
  bytes: Uint8Array | null,
  change: Change,
): Promise<Outcome> {
  if (bytes === null) return applyChange(deps, appId, { logo: null }, change);
  const logo = await deps.readLogo(bytes);
  if (isRefusal(logo)) return logo;
  await deps.profiles.keepLogo(appId, logo);
  return applyChange(deps, appId, { logo: logo.digest }, change);
}

/** Stores an app's first profile. @returns its digest */
export async function firstProfile(deps: ProfileDeps, appId: string, name: string): Promise<string | Refusal> {
  const read = readProfileChange({ name });
  return isRefusal(read) ? read : keep(deps, appId, { ...noProfile, ...read });
}

/**
 * The row is written before the event that names it: a crash in between leaves a row that nothing uses. A decision on a stale profile is
 * decided again, so no change undoes another.
 */
async function applyChange(
  deps: ProfileDeps,
  appId: string,
  fields: Partial<Profile>,
  change: Change,
): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const { profile: before } = await currentState(deps.handle, merchant, appId);
    const shown = (before === null ? null : await deps.profiles.find(before)) ?? noProfile;
    const next: Profile = { ...shown, ...fields };
    const changed = changedFields(shown, next);
    if (changed.length === 0) return change(appId, () => []);
    const digest = await keep(deps, appId, next);
    const outcome = await change(appId, (state) => setProfile(state, { digest, changed }, before));
    if (!isRefusal(outcome) || outcome.refused !== 'conflict' || tries === triesMax) return outcome;
  }
}

/** The salt prevents guessing a name from its digest. */
async function keep({ profiles, ids }: ProfileDeps, appId: string, profile: Profile): Promise<string> {
  const content = JSON.stringify({ salt: ids.secret(), ...profile });
  const digest = createHash('sha256').update(content).digest('hex');
  await profiles.keep(appId, { digest, content });
  return digest;
}

export interface RegistrationDeps extends ProfileDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Encrypts under the master key, bound to its context. */
  readonly seal: (plain: string, context: string) => string;
  /** The chain's canonical spelling of a receiver's address; undefined for any other text. */
  readonly canonicalAddress: (chainId: ChainId, text: string) => string | undefined;
  readonly canReceive: ReceiverChecks;
  /** True if this installation pays out there. */
  readonly offers: (chain: Chain) => boolean;
  /** False for a URL to whose host no webhook would ever be sent. The host's addresses are checked at each delivery. */
  readonly isAllowedTarget: (url: string) => boolean;
}

/** `position`: log position to wait for before reading one's own write; null if nothing changed. */
export interface Changed {
  readonly position: bigint | null;
}

export interface SettlementRequest {
  readonly chainId: ChainId;
  readonly tokenSymbol: string;
  readonly receiverAddress: string;
  readonly receiverMemo?: string | null;
}

/** Request to register an app. */
export interface RegistrationRequest {
  readonly webhookUrl: string | null;
  readonly settlement: SettlementRequest | null;
}

/** A registration that can be carried out later: plain JSON. Its only secret is `webhookSecret`, which goes to its owner. */
export interface PreparedRegistration {
  /** In canonical form. */
  readonly webhookUrl: string | null;
  readonly settlement: SettlementWallet | null;
  readonly secret: SealedSecret;
  readonly webhookSecret: string;
}

/** Omitted fields are unset. */
export interface NewRegistration {
  /** Person who owns the app; omitted for an operator's app. */
  readonly developerId?: string | null;
  /** Display name. */
  readonly name?: string | null;
  readonly webhookUrl?: string | null;
  readonly settlement?: SettlementWallet | null;
  /** Made when the registration was prepared. Default: made now and returned. */
  readonly secret?: SealedSecret;
}

/** Current registration, made by this call or an earlier one. */
export interface Registered extends Changed {
  readonly created: boolean;
  readonly webhookUrl: string | null;
  /** Set if this call made the secret. */
  readonly webhookSecret: string | null;
  readonly webhookSecretFingerprint: string | null;
  readonly webhookSecretRotatedAt: Instant | null;
}

/** Refuses what `register` would refuse: a bad id, URL or wallet, an id in use. Makes the app's secret. */
export async function prepare(
  deps: RegistrationDeps,
  appId: string,
  { webhookUrl, settlement }: RegistrationRequest,
): Promise<PreparedRegistration | Refusal> {
  const url = webhookUrl === null ? null : readWebhookUrl(webhookUrl);
  if (isRefusal(url)) return url;
  const wallet = settlement && (await readSettlement(deps, settlement));
  if (isRefusal(wallet)) return within('settlement', wallet);
  const { webhookSecret, secret } = makeSecret(deps, webhookSecretContext(appId));
  const asked = { webhookUrl: url, settlement: wallet, secret };
  const unfit = refuseTarget(deps, url) ?? apps.register(merchant.initial, newApp(deps, appId, asked, secret, null));
  if (isRefusal(unfit)) return unfit;
  const { registration } = await currentState(deps.handle, merchant, appId);
  return registration ? apps.taken(appId) : { ...asked, webhookSecret };
}

/** Crash before the append: only an unused profile row exists. After it: repeating the call returns the registration. */
export async function register(
  deps: RegistrationDeps,
  appId: string,
  registration: NewRegistration,
  by: By,
): Promise<Registered | Refusal> {
  const { name = null, webhookUrl = null, secret: given } = registration;
  const refused = refuseTarget(deps, webhookUrl);
  if (refused) return refused;
  const profile = name === null ? null : await firstProfile(deps, appId, name);
  if (isRefusal(profile)) return profile;
  const made = makeSecret(deps, webhookSecretContext(appId));
  const app = newApp(deps, appId, registration, given ?? made.secret, profile);
  const facts = { ...by, appId, expectNew: true };
  const handled = await deps.handle(merchant, appId, (state) => apps.register(state, app), facts);
  if (isRefusal(handled)) return handled;
  const { state, appended, position } = handled;
  return {
    position,
    created: appended > 0,
    webhookUrl: state.webhookUrl,
    webhookSecret: appended > 0 && !given ? made.webhookSecret : null,
    webhookSecretFingerprint: state.webhookSecret?.fingerprint ?? null,
    webhookSecretRotatedAt: state.webhookSecret?.rotatedAt ?? null,
  };
}

const newApp = (
  { ids, clock }: RegistrationDeps,
  appId: string,
  { developerId = null, webhookUrl = null, settlement = null }: NewRegistration,
  secret: SealedSecret,
  profile: string | null,
): apps.NewApp => ({
  appId,
  developerId,
  idSalt: ids.secret(),
  webhookUrl,
  secret,
  settlement,
  profile,
  now: clock.now(),
});

const within = (field: string, refusal: Refusal): Refusal =>
  refusal.pointer === undefined ? refusal : { ...refusal, pointer: `/${field}${refusal.pointer}` };

/** Context of a sealed webhook secret: the ciphertext of one app opens for no other. */
export const webhookSecretContext = (appId: string): string => `webhookSecret:${appId}`;
export const endpointSecretContext = (appId: string, endpointId: string): string =>
  `webhookEndpointSecret:${appId}:${endpointId}`;

/** @param secret 64 hex characters; the hash covers the characters, not the bytes that they encode */
export const fingerprintOf = (secret: string): string => `sha256:${createHash('sha256').update(secret).digest('hex')}`;

/** A webhook secret: in plain text for its owner, and sealed for storage. @param context `webhookSecretContext` or `endpointSecretContext` */
export function makeSecret(
  { ids, seal }: Pick<RegistrationDeps, 'ids' | 'seal'>,
  context: string,
): Pick<PreparedRegistration, 'webhookSecret' | 'secret'> {
  const webhookSecret = ids.secret();
  const ciphertext = seal(webhookSecret, context);
  return { webhookSecret, secret: { ciphertext, fingerprint: fingerprintOf(webhookSecret) } };
}

export function refuseTarget(
  { isAllowedTarget }: RegistrationDeps,
  text: string | null,
  field: 'webhookUrl' | 'url' = 'webhookUrl',
): Refusal | undefined {
  const url = text === null ? null : readWebhookUrl(text, field);
  if (url === null || isRefusal(url)) return url ?? undefined;
  if (isAllowedTarget(url)) return undefined;
  return refuse('invalidRequest', `${field} must be publicly reachable: its host is not`, `/${field}`);
}

/** The wallet to store, after its chain confirms that it can receive the token. */
export async function readSettlement(
  deps: RegistrationDeps,
  request: SettlementRequest,
): Promise<SettlementWallet | Refusal> {
  const { chainId, tokenSymbol, receiverMemo = null } = request;
  const chain = chainOf(chainId);
  if (!deps.offers(chain)) return notOffered(chain, '/chainId');
  const token = findToken(chain, tokenSymbol);
  if (!token) return refuse('invalidRequest', `chain ${chainId} has no ${tokenSymbol}`, '/tokenSymbol');
  const receiverAddress = deps.canonicalAddress(chainId, request.receiverAddress);
  if (!receiverAddress) {
    return refuse('invalidRequest', `receiverAddress is not an address of chain ${chainId}`, '/receiverAddress');
  }
  const ask = deps.canReceive[chain.family];
  const receiving = { chain, token, receiver: receiverAddress, amount: null, receiverMemo };
  const unreceivable = ask && (await askReceiver(ask, receiving, '/receiverAddress', '/receiverMemo'));
  return unreceivable ?? { chainId, token, receiverAddress, receiverMemo };
}
