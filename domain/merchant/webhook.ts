/** Webhook URL of an app, and the secret that signs its webhooks. */
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { laterWebhookEventTypes } from '../webhook.ts';
import type { MerchantEvent, RotatedSecret } from './events.ts';
import { readHttpsUrl } from './profile.ts';
import { type MerchantState, ofRegistered } from './state.ts';

/** @param url null stops webhooks for new payments; existing payments keep their URL */
export function setWebhookUrl(state: MerchantState, url: string | null): Decision<MerchantEvent> {
  const read = url === null ? null : readWebhookUrl(url);
  if (isRefusal(read)) return read;
  return ofRegistered(state, read === state.webhookUrl ? [] : [{ type: 'WebhookUrlSet', data: { url: read } }]);
}

/** Replaces the types that the app gets besides the first two, of payments created from now on. */
export function setWebhookTypes(state: MerchantState, types: readonly string[]): Decision<MerchantEvent> {
  const known: readonly string[] = laterWebhookEventTypes;
  const unknown = types.find((type) => !known.includes(type));
  if (unknown !== undefined) {
    const list = known.length === 0 ? 'this version has none' : `use ${known.join(', ')}`;
    return refuse('invalidRequest', `webhook type ${unknown} cannot be chosen: ${list}`, '/webhookTypes');
  }
  const next = [...new Set(types)].toSorted();
  const isSame = next.join() === state.webhookTypes.join();
  return ofRegistered(state, isSame ? [] : [{ type: 'WebhookTypesSet', data: { types: next } }]);
}

/** The old secret stops at once. */
export function rotateSecret(state: MerchantState, secret: RotatedSecret): Decision<MerchantEvent> {
  const same = state.webhookSecret?.fingerprint === secret.fingerprint;
  return ofRegistered(state, same ? [] : [{ type: 'WebhookSecretRotated', data: secret }]);
}

/**
 * Stores the same secret under another master key. The limit on changes does not apply.
 *
 * @param reseal ciphertext under the current key; the same text if it is already current
 */
export function resealSecret(
  { webhookSecret }: MerchantState,
  reseal: (ciphertext: string) => string,
): MerchantEvent[] {
  if (webhookSecret === null) return [];
  const ciphertext = reseal(webhookSecret.ciphertext);
  if (ciphertext === webhookSecret.ciphertext) return [];
  return [{ type: 'WebhookSecretResealed', data: { ciphertext, fingerprint: webhookSecret.fingerprint } }];
}

/**
 * The single rule for webhook URLs.
 *
 * @returns the canonical URL, which is stored, compared and displayed: `HTTPS://Shop.Example` is `https://shop.example/`
 */
export function readWebhookUrl(text: string): string | Refusal {
  if (!ownMachine.test(text)) return readHttpsUrl(text, 'webhookUrl', { fragment: false });
  return refuse(
    'invalidRequest',
    'webhookUrl must start with https://. For a program on your machine, set the sandbox’s webhook URL here and run: npm run listen -- --forward http://localhost:4000',
    '/webhookUrl',
  );
}

/** Allows plain HTTP to the caller's own machine, for a developer's first try. */
const ownMachine = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)/i;
