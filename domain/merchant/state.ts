/** An app that takes payments: whose it is, what it shows of itself, where it is paid, its webhook settings and API keys. */
import { type Decider, type Refusal, refuse } from '../decider.ts';
import { type AmountPolicy, holdAll } from '../payment/amountPolicy.ts';
import type { Instant } from '../time.ts';
import type {
  FeeTier,
  IssuedKey,
  MerchantEvent,
  PayFrom,
  Registration,
  RotatedSecret,
  SettlementChange,
  SettlementWallet,
} from './events.ts';

export interface KnownKey extends IssuedKey {
  readonly revoked: boolean;
}

export interface MerchantState {
  readonly registration: Registration | null;
  /** The person behind it; null while only the operator manages it. */
  readonly developerId: string | null;
  /** Digest of what it shows of itself; null before anything is set. */
  readonly profile: string | null;
  /** In force unless a change has come into effect: ask `settlementAt`. */
  readonly settlement: SettlementWallet | null;
  readonly settlementChange: SettlementChange | null;
  readonly webhookUrl: string | null;
  /** Types of webhooks that it gets besides the first two, sorted. */
  readonly webhookTypes: readonly string[];
  readonly webhookSecret: RotatedSecret | null;
  readonly keylessCreation: boolean;
  /** Origins that may show its payment pages in a frame, sorted. */
  readonly embeddingSites: readonly string[];
  /** What payers may choose to pay from, beside what each payment says itself. */
  readonly payFrom: PayFrom;
  /** What happens with money that is not what was agreed. */
  readonly policy: AmountPolicy;
  /** Its own, route by route; the installation's where there is none. */
  readonly fees: readonly FeeTier[];
  readonly keys: readonly KnownKey[];
  /** How many events there are. */
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
    keylessCreation: false,
    embeddingSites: [],
    payFrom: [],
    policy: holdAll,
    fees: [],
    keys: [],
    changes: 0,
  },
  evolve: (state, event) => ({ ...state, changes: state.changes + 1, ...changed(state, event) }),
};

function changed(state: MerchantState, event: MerchantEvent): Partial<MerchantState> {
  switch (event.type) {
    case 'MerchantRegistered':
      return { registration: event.data, developerId: event.data.developerId };
    case 'OwnerSet':
      return { developerId: event.data.developerId };
    case 'ProfileSet':
      return { profile: event.data.digest };
    case 'SettlementWalletSet':
      return { settlement: event.data, settlementChange: null };
    case 'SettlementChangeRequested':
      // A change that is still here came into effect: one that waits is cancelled before another is requested.
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
  }
}

const withKey = ({ keys }: MerchantState, keyId: string, change: Partial<KnownKey>): readonly KnownKey[] =>
  keys.map((key) => (key.keyId === keyId ? { ...key, ...change } : key));

/** The wallet that payments created now are paid out to: a change comes into effect by time alone. */
export function settlementAt({ settlement, settlementChange }: MerchantState, now: Instant): SettlementWallet | null {
  return settlementChange && settlementChange.effectiveAt <= now ? settlementChange.wallet : settlement;
}

/** The change that waits for its time. */
export const pendingChange = ({ settlementChange }: MerchantState, now: Instant): SettlementChange | null =>
  settlementChange && settlementChange.effectiveAt > now ? settlementChange : null;

export const worksAt = ({ revoked, expiresAt }: KnownKey, now: Instant): boolean =>
  !revoked && (expiresAt === null || expiresAt > now);

/** Far below what a stream may hold, so that what protects an app (to revoke, to cancel) is always possible. */
export const changesMax = 10_000;

/** The events of an ordinary change of settings: for apps that exist, and not without end. */
export function ofRegistered(
  state: MerchantState,
  events: readonly MerchantEvent[],
): readonly MerchantEvent[] | Refusal {
  if (!state.registration) return refuse('illegalStep', 'the app is not registered: register it first');
  if (events.length > 0 && state.changes >= changesMax)
    return refuse('forbidden', `the app was changed ${changesMax} times: ask the operator for another one`);
  return events;
}
