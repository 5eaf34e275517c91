/** How an app begins, whose it is, and what its kind allows. */
import { type Decision, fold, isRefusal, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { MerchantEvent, SealedSecret, SettlementWallet } from './events.ts';
import { setProfile } from './profile.ts';
import { setSettlement } from './settlement.ts';
import { type MerchantState, merchant, ofRegistered } from './state.ts';
import { rotateSecret, setWebhookUrl } from './webhook.ts';

/** What an app may do follows from its kind: a merchant is paid at its settlement wallet, a wallet app names a receiver each time. */
export type AppKind = 'merchant' | 'wallet';

/** `merchant_<slug>` or `wallet_<slug>`; undefined for anything else. */
export function appKind(appId: string): AppKind | undefined {
  const match = /^(merchant|wallet)_[a-z0-9](?:[a-z0-9_-]{0,46}[a-z0-9])?$/.exec(appId);
  return match?.[1] as AppKind | undefined;
}

export interface NewApp {
  readonly appId: string;
  /** Null: the operator's. */
  readonly developerId: string | null;
  /** 32 random bytes as hex, from which the app's payment ids are derived. */
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  readonly secret: SealedSecret;
  readonly settlement: SettlementWallet | null;
  /** Digest of a profile with a name in it. */
  readonly profile: string | null;
  readonly now: Instant;
}

/**
 * An app begins with its settings, in one append. Repeating it changes nothing: what the first said stays.
 * An id that is somebody else's is refused.
 */
export function register(state: MerchantState, app: NewApp): Decision<MerchantEvent> {
  const { appId, developerId, idSalt, webhookUrl, secret, settlement, profile, now } = app;
  if (state.registration) {
    const isTaken = developerId !== null && state.developerId !== developerId;
    return isTaken ? taken(appId) : [];
  }
  if (!appKind(appId)) {
    return refuse(
      'invalidRequest',
      `appId ${appId} is not of the form merchant_<slug> or wallet_<slug> (slug: 1 to 48 of a-z, 0-9, _ and -)`,
      '/appId',
    );
  }
  const begun: MerchantEvent = {
    type: 'MerchantRegistered',
    data: { appId, developerId, idSalt, registeredAt: now },
  };
  return inTurn(state, [
    () => [begun],
    (sofar) => setWebhookUrl(sofar, webhookUrl),
    (sofar) => rotateSecret(sofar, { ...secret, rotatedAt: now }),
    (sofar) => (settlement ? setSettlement(sofar, settlement) : []),
    (sofar) => (profile ? setProfile(sofar, { digest: profile, changed: ['name'] }, null) : []),
  ]);
}

export const taken = (appId: string): Refusal =>
  refuse('appIdTaken', `the app id ${appId} is taken: choose another slug`, '/slug');

type Decide = (state: MerchantState) => Decision<MerchantEvent>;

/** One decision after the other, each on what the former ones leave. */
function inTurn(state: MerchantState, decisions: readonly Decide[]): Decision<MerchantEvent> {
  const events: MerchantEvent[] = [];
  for (const decide of decisions) {
    const decision = decide(fold(merchant, events, state));
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}

/** Gives the app to a person, who manages it from then on. */
export const setOwner = (state: MerchantState, developerId: string): Decision<MerchantEvent> =>
  ofRegistered(state, state.developerId === developerId ? [] : [{ type: 'OwnerSet', data: { developerId } }]);

/** Lets payments be created without a key: only where each payment states its receiver. */
export function setKeylessCreation(state: MerchantState, allowed: boolean): Decision<MerchantEvent> {
  const appId = state.registration?.appId ?? '';
  if (allowed && state.registration && appKind(appId) !== 'wallet') {
    return refuse('forbidden', `${appId} is not a wallet_ app: only wallet_ apps can allow payments without a key`);
  }
  return ofRegistered(
    state,
    allowed === state.keylessCreation ? [] : [{ type: 'KeylessCreationSet', data: { allowed } }],
  );
}
