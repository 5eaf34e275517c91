/** Registration of an app, its owner, and the permissions of each app kind. */

import { chainOf, findToken, memoProblem } from '../chains.ts';
import { type Decision, fold, isRefusal, type Refusal, refuse } from '../decider.ts';
import { type Instant, plus } from '../time.ts';
import type { MerchantEvent, SealedSecret, SettlementWallet } from './events.ts';
import { setProfile } from './profile.ts';
import { type MerchantState, merchant, ofRegistered, pendingChange, settlementAt } from './state.ts';
import { rotateSecret, setWebhookUrl } from './webhook.ts';

/** The kind decides an app's permissions: a merchant is paid at its settlement wallet; a wallet app names a receiver per payment. */
export type AppKind = 'merchant' | 'wallet';

/** `merchant_<slug>` or `wallet_<slug>`; undefined for anything else. */
export function appKind(appId: string): AppKind | undefined {
  const match = /^(merchant|wallet)_[a-z0-9](?:[a-z0-9_-]{0,46}[a-z0-9])?$/.exec(appId);
  return match?.[1] as AppKind | undefined;
}

export interface NewApp {
  readonly appId: string;
  /** Null: the operator manages the app. */
  readonly developerId: string | null;
  /** 32 random bytes as hex, from which the app's payment ids are derived. */
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  readonly secret: SealedSecret;
  readonly settlement: SettlementWallet | null;
  /** Digest of a profile that has a name. */
  readonly profile: string | null;
  readonly now: Instant;
}

/** Registers an app with its settings in one append. A repeated request changes nothing. Refuses an id that another owner has. */
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

/** Applies decisions in order, each to the state after the previous ones. */
function inTurn(state: MerchantState, decisions: readonly Decide[]): Decision<MerchantEvent> {
  const events: MerchantEvent[] = [];
  for (const decide of decisions) {
    const decision = decide(fold(merchant, events, state));
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}

/** Gives the app to a person, who manages it from now on. */
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

// Wallet that receives an app's payouts.

/**
 * Sets the wallet at once and replaces any pending change. For operators.
 *
 * @param wallet its address checked and in the chain's canonical spelling
 */
export function setSettlement(state: MerchantState, wallet: SettlementWallet): Decision<MerchantEvent> {
  const unfit = unfitness(wallet);
  if (unfit) return unfit;
  const done = isSame(state.settlement, wallet) && state.settlementChange === null;
  return ofRegistered(state, done ? [] : [{ type: 'SettlementWalletSet', data: wallet }]);
}

export interface RequestedChange {
  readonly changeId: string;
  readonly wallet: SettlementWallet;
  readonly now: Instant;
  readonly coolDown_ms: number;
}

/**
 * For owners: the first wallet is in force at once. A later one waits for the cool-down and can be cancelled meanwhile, so a stolen session
 * cannot redirect the money. Requesting the wallet in force cancels a pending change.
 */
export function requestSettlement(state: MerchantState, request: RequestedChange): Decision<MerchantEvent> {
  const { changeId, wallet, now, coolDown_ms } = request;
  const unfit = unfitness(wallet);
  if (unfit) return unfit;
  const inForce = settlementAt(state, now);
  if (!inForce) return ofRegistered(state, [{ type: 'SettlementWalletSet', data: wallet }]);
  const pending = pendingChange(state, now);
  if (isSame(pending?.wallet, wallet)) return [];
  const cancelled = pending ? [cancellation(pending.changeId)] : [];
  if (isSame(inForce, wallet)) return cancelled;
  const requested: MerchantEvent = {
    type: 'SettlementChangeRequested',
    data: { changeId, wallet, effectiveAt: plus(now, coolDown_ms) },
  };
  return ofRegistered(state, [...cancelled, requested]);
}

/** Keeps the wallet in force and cancels a pending change. */
export function cancelSettlement(state: MerchantState, now: Instant): Decision<MerchantEvent> {
  const pending = pendingChange(state, now);
  if (pending) return [cancellation(pending.changeId)];
  return refuse('conflict', 'no change of the wallet waits: it was cancelled, or is in force');
}

const cancellation = (changeId: string): MerchantEvent => ({ type: 'SettlementChangeCancelled', data: { changeId } });

function unfitness(wallet: SettlementWallet): Refusal | undefined {
  const { chainId, token, receiverAddress, receiverMemo } = wallet;
  const chain = chainOf(chainId);
  const known = findToken(chain, token.symbol);
  if (known?.address !== token.address || known.decimals !== token.decimals)
    return refuse('invalidRequest', `chain ${chainId} pays out no ${token.symbol}`, '/tokenSymbol');
  const problem = receiverMemo === null ? undefined : memoProblem(chain, receiverAddress, receiverMemo);
  return problem === undefined ? undefined : refuse('invalidRequest', problem, '/receiverMemo');
}

const isSame = (a: SettlementWallet | null | undefined, b: SettlementWallet): boolean =>
  a?.chainId === b.chainId &&
  a.token.address === b.token.address &&
  a.receiverAddress === b.receiverAddress &&
  a.receiverMemo === b.receiverMemo;
