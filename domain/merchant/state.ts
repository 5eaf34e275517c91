/** An app that accepts payments: owner, profile, settlement wallet, webhook settings and API keys. */
import { type Decider, type Refusal, refuse } from '../decider.ts';
import { type AmountPolicy, holdAll } from '../payment/amountPolicy.ts';
import type { Instant } from '../time.ts';
import type {
  FeeTier,
  Invitation,
  IssuedKey,
  MerchantEvent,
  NotificationsSet,
  PayFrom,
  Registration,
  RotatedSecret,
  SettlementChange,
  SettlementWallet,
  TeamMemberData,
  WebhookEndpoint,
} from './events.ts';

export type { Invitation, TeamMemberData };

export interface KnownKey extends IssuedKey {
  readonly revoked: boolean;
}

export interface MerchantState {
  readonly registration: Registration | null;
  /** Person who owns the app; null while only the operator manages it. */
  readonly developerId: string | null;
  /** Digest of the profile; null before a profile is set. */
  readonly profile: string | null;
  /** In force unless a change has come into effect: use `settlementAt`. */
  readonly settlement: SettlementWallet | null;
  readonly settlementChange: SettlementChange | null;
  readonly webhookUrl: string | null;
  /** Types of webhooks that it gets besides the first two, sorted. */
  readonly webhookTypes: readonly string[];
  readonly webhookSecret: RotatedSecret | null;
  /** Endpoints besides the webhook URL, oldest first. */
  readonly webhookEndpoints: readonly WebhookEndpoint[];
  readonly keylessCreation: boolean;
  /** Origins that may frame the app's payment pages, sorted. */
  readonly embeddingSites: readonly string[];
  /** Sources that payers may choose besides a payment's own. */
  readonly payFrom: PayFrom;
  /** Policy for wrong amounts. */
  readonly policy: AmountPolicy;
  /** The app's own fees by route. Other routes use the installation's fee. */
  readonly fees: readonly FeeTier[];
  readonly keys: readonly KnownKey[];
  /** Members besides the owner. */
  readonly members: readonly TeamMemberData[];
  /** Invitations that were neither accepted nor ended: some have expired. At most one for a person. */
  readonly invitations: readonly Invitation[];
  /** Choices of notifications by person, with the number of changes. Also of people who have left the team. */
  readonly notifications: readonly (NotificationsSet & { readonly times: number })[];
  /** Number of events. */
  readonly changes: number;
}

export const merchant: Decider<MerchantState, MerchantEvent> = {
  category: 'merchant',
  initial: {
    registration: null,
    developerId: null,
    profile: null,
    settlement: null,
    settlementChange: null,
    webhookUrl: null,
    webhookTypes: [],
    webhookSecret: null,
    webhookEndpoints: [],
    keylessCreation: false,
    embeddingSites: [],
    payFrom: [],
    policy: holdAll,
    fees: [],
    keys: [],
    members: [],
    invitations: [],
    notifications: [],
    changes: 0,
  },
  evolve: (state, event) => ({ ...state, changes: state.changes + 1, ...changed(state, event) }),
};

function changed(state: MerchantState, event: MerchantEvent): Partial<MerchantState> {
  switch (event.type) {
    case 'MerchantRegistered':
      return { registration: event.data, developerId: event.data.developerId };
    case 'OwnerSet':
      return {
        developerId: event.data.developerId,
        members: without(state.members, event.data),
        invitations: without(state.invitations, event.data),
      };
    case 'ProfileSet':
      return { profile: event.data.digest };
    case 'SettlementWalletSet':
      return { settlement: event.data, settlementChange: null };
    case 'SettlementChangeRequested':
      // A change that is still here has come into effect: a pending change is cancelled before a new request.
      return { settlement: state.settlementChange?.wallet ?? state.settlement, settlementChange: event.data };
    case 'SettlementChangeCancelled':
      return { settlementChange: null };
    case 'WebhookUrlSet':
      return { webhookUrl: event.data.url };
    case 'WebhookTypesSet':
      return { webhookTypes: event.data.types };
    case 'WebhookSecretRotated':
      return { webhookSecret: event.data };
    case 'WebhookSecretResealed':
      return { webhookSecret: state.webhookSecret && { ...state.webhookSecret, ...event.data } };
    case 'WebhookEndpointAdded':
      return { webhookEndpoints: [...state.webhookEndpoints, event.data] };
    case 'WebhookEndpointTypesSet':
    case 'WebhookEndpointSecretRotated':
    case 'WebhookEndpointSecretResealed':
      return { webhookEndpoints: withEndpoint(state, event.data) };
    case 'WebhookEndpointRemoved':
      return {
        webhookEndpoints: state.webhookEndpoints.filter(({ endpointId }) => endpointId !== event.data.endpointId),
      };
    case 'KeylessCreationSet':
      return { keylessCreation: event.data.allowed };
    case 'EmbeddingSitesSet':
      return { embeddingSites: event.data.sites };
    case 'PayFromSet':
      return { payFrom: event.data.payFrom };
    case 'PolicySet':
      return { policy: event.data };
    case 'FeesSet':
      return { fees: event.data.fees };
    case 'ApiKeyIssued':
      return { keys: [...state.keys, { ...event.data, revoked: false }] };
    case 'ApiKeyRenamed':
      return { keys: withKey(state, event.data.keyId, { name: event.data.name }) };
    case 'ApiKeyRevoked':
      return { keys: withKey(state, event.data.keyId, { revoked: true }) };
    case 'MemberInvited':
      return { invitations: [...without(state.invitations, event.data), event.data] };
    case 'InvitationEnded':
      return { invitations: without(state.invitations, event.data) };
    case 'MemberJoined':
      return {
        members: [...without(state.members, event.data), event.data],
        invitations: without(state.invitations, event.data),
      };
    case 'MemberRoleSet':
      return { members: state.members.map((each) => (isOf(each, event.data) ? event.data : each)) };
    case 'NotificationsSet': {
      const times = (state.notifications.find((each) => isOf(each, event.data))?.times ?? 0) + 1;
      return { notifications: [...without(state.notifications, event.data), { ...event.data, times }] };
    }
    case 'MemberRemoved':
      return { members: without(state.members, event.data) };
  }
}

const withKey = ({ keys }: MerchantState, keyId: string, change: Partial<KnownKey>): readonly KnownKey[] =>
  keys.map((key) => (key.keyId === keyId ? { ...key, ...change } : key));

type EndpointChange = Partial<WebhookEndpoint> & Pick<WebhookEndpoint, 'endpointId'>;
const withEndpoint = ({ webhookEndpoints }: MerchantState, change: EndpointChange): readonly WebhookEndpoint[] =>
  webhookEndpoints.map((each) => (each.endpointId === change.endpointId ? { ...each, ...change } : each));

type Person = Pick<TeamMemberData, 'developerId'>;
const isOf = (one: Person, other: Person): boolean => one.developerId === other.developerId;
const without = <P extends Person>(people: readonly P[], gone: Person): readonly P[] =>
  people.filter((each) => !isOf(each, gone));

/** Wallet for payments created now. A pending change comes into effect by time alone. */
export function settlementAt({ settlement, settlementChange }: MerchantState, now: Instant): SettlementWallet | null {
  return settlementChange && settlementChange.effectiveAt <= now ? settlementChange.wallet : settlement;
}

/** Change that waits for its cool-down. */
export const pendingChange = ({ settlementChange }: MerchantState, now: Instant): SettlementChange | null =>
  settlementChange && settlementChange.effectiveAt > now ? settlementChange : null;

export const worksAt = ({ revoked, expiresAt }: KnownKey, now: Instant): boolean =>
  !revoked && (expiresAt === null || expiresAt > now);

/** Far below a stream's limit, so protective actions (revoke, cancel) always remain possible. */
export const changesMax = 10_000;

/** Events of an ordinary change of settings: only for existing apps, and up to `changesMax`. */
export function ofRegistered(
  state: MerchantState,
  events: readonly MerchantEvent[],
): readonly MerchantEvent[] | Refusal {
  if (!state.registration) return refuse('illegalStep', 'the app is not registered: register it first');
  if (events.length > 0 && state.changes >= changesMax)
    return refuse('forbidden', `the app was changed ${changesMax} times: ask the operator for another one`);
  return events;
}
