/** API keys of an app. */
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { IssuedKey, MerchantEvent } from './events.ts';
import { readLabel } from './profile.ts';
import { type KnownKey, type MerchantState, ofRegistered, worksAt } from './state.ts';

export const keyNameMax = 100;
export const activeKeysMax = 50;
/** Maximum keys in an app's whole life: its stream names each of them. */
export const keysEverMax = 1_000;

/** @param key with a name that `readLabel` has checked */
export function issueKey(state: MerchantState, key: IssuedKey, now: Instant): Decision<MerchantEvent> {
  const active = state.keys.filter((issued) => worksAt(issued, now)).length;
  if (state.keys.some((issued) => issued.keyId === key.keyId)) return [];
  if (key.expiresAt !== null && key.expiresAt <= now)
    return refuse('invalidRequest', 'expiresAt must be in the future', '/expiresAt');
  if (active >= activeKeysMax)
    return refuse('forbidden', `the app has ${active} active keys (at most ${activeKeysMax}): revoke one first`, '');
  if (state.keys.length >= keysEverMax)
    return refuse('forbidden', `the app has had ${keysEverMax} keys: ask the operator for another app`, '');
  return ofRegistered(state, [{ type: 'ApiKeyIssued', data: key }]);
}

export function renameKey(state: MerchantState, keyId: string, text: string): Decision<MerchantEvent> {
  const name = readLabel(text, keyNameMax, '/name');
  if (isRefusal(name)) return name;
  const key = keyOf(state, keyId);
  if (isRefusal(key)) return key;
  return ofRegistered(state, key.name === name ? [] : [{ type: 'ApiKeyRenamed', data: { keyId, name } }]);
}

export function revokeKey(state: MerchantState, keyId: string): Decision<MerchantEvent> {
  const key = keyOf(state, keyId);
  if (isRefusal(key)) return key;
  return key.revoked ? [] : [{ type: 'ApiKeyRevoked', data: { keyId } }];
}

const keyOf = ({ keys }: MerchantState, keyId: string): KnownKey | Refusal =>
  keys.find((issued) => issued.keyId === keyId) ??
  refuse('notFound', `the app has no key ${keyId}: list its keys to see their ids`, '/id');
