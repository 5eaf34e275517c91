/** Webhook URL of an app, its further endpoints, and the secrets that sign its webhooks. */
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { laterWebhookEventTypes, webhookEndpointsMax, webhookEventTypes } from '../webhook.ts';
import type { MerchantEvent, RotatedSecret, WebhookEndpoint } from './events.ts';
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
 * Stores the same secrets under another master key. The limit on changes does not apply.
 *
 * @param reseal ciphertext under the current key; the same text if it is already current. The endpoint is null for the webhook URL's secret
 */
export function resealWebhookSecrets(
  { webhookSecret, webhookEndpoints }: MerchantState,
  reseal: (ciphertext: string, endpointId: string | null) => string,
): MerchantEvent[] {
  const own: MerchantEvent[] = [];
  if (webhookSecret !== null) {
    const { fingerprint } = webhookSecret;
    const ciphertext = reseal(webhookSecret.ciphertext, null);
    if (ciphertext !== webhookSecret.ciphertext)
      own.push({ type: 'WebhookSecretResealed', data: { ciphertext, fingerprint } });
  }
  const further = webhookEndpoints.flatMap(({ endpointId, fingerprint, ciphertext: before }): MerchantEvent[] => {
    const ciphertext = reseal(before, endpointId);
    if (ciphertext === before) return [];
    return [{ type: 'WebhookEndpointSecretResealed', data: { endpointId, ciphertext, fingerprint } }];
  });
  return [...own, ...further];
}

// Endpoints besides the webhook URL. Each has its own secret and gets only the types that it names.

/** Adds an endpoint for payments created from now on. */
export function addEndpoint(state: MerchantState, endpoint: WebhookEndpoint): Decision<MerchantEvent> {
  const url = readWebhookUrl(endpoint.url, 'url');
  if (isRefusal(url)) return url;
  const types = readEndpointTypes(endpoint.types);
  if (isRefusal(types)) return types;
  const { webhookEndpoints } = state;
  if (webhookEndpoints.some(({ endpointId }) => endpointId === endpoint.endpointId)) return [];
  if (webhookEndpoints.some((each) => each.url === url) || state.webhookUrl === url)
    return refuse('invalidRequest', 'url already receives webhooks of this app: change its types instead', '/url');
  if (webhookEndpoints.length >= webhookEndpointsMax)
    return refuse(
      'forbidden',
      `the app has ${webhookEndpointsMax} further endpoints, the maximum: remove one first`,
      '',
    );
  return ofRegistered(state, [{ type: 'WebhookEndpointAdded', data: { ...endpoint, url, types } }]);
}

/** Replaces the endpoint's types, for payments created from now on. */
export function setEndpointTypes(
  state: MerchantState,
  endpointId: string,
  asked: readonly string[],
): Decision<MerchantEvent> {
  const endpoint = endpointOf(state, endpointId);
  if (isRefusal(endpoint)) return endpoint;
  const types = readEndpointTypes(asked);
  if (isRefusal(types)) return types;
  const isSame = types.join() === endpoint.types.join();
  return ofRegistered(state, isSame ? [] : [{ type: 'WebhookEndpointTypesSet', data: { endpointId, types } }]);
}

/** The old secret of the endpoint stops at once. */
export function rotateEndpointSecret(
  state: MerchantState,
  endpointId: string,
  secret: RotatedSecret,
): Decision<MerchantEvent> {
  const endpoint = endpointOf(state, endpointId);
  if (isRefusal(endpoint)) return endpoint;
  const isSame = endpoint.fingerprint === secret.fingerprint;
  return ofRegistered(state, isSame ? [] : [{ type: 'WebhookEndpointSecretRotated', data: { endpointId, ...secret } }]);
}

/** Stops the endpoint's webhooks at once, also those of existing payments. Always allowed, because it protects the app. */
export function removeEndpoint(state: MerchantState, endpointId: string): Decision<MerchantEvent> {
  const endpoint = endpointOf(state, endpointId);
  return isRefusal(endpoint) ? endpoint : [{ type: 'WebhookEndpointRemoved', data: { endpointId } }];
}

/** Also used for ids of deliveries, which keep the id of a removed endpoint. */
export const endpointOf = ({ webhookEndpoints }: MerchantState, endpointId: string): WebhookEndpoint | Refusal =>
  webhookEndpoints.find((each) => each.endpointId === endpointId) ??
  refuse('notFound', 'the app has no webhook endpoint with this id: read its settings to see the ids', '/id');

function readEndpointTypes(asked: readonly string[]): string[] | Refusal {
  const known: readonly string[] = webhookEventTypes;
  const unknown = asked.find((type) => !known.includes(type));
  if (unknown !== undefined)
    return refuse('invalidRequest', `webhook type ${unknown} does not exist: use ${known.join(', ')}`, '/types');
  if (asked.length === 0) return refuse('invalidRequest', 'types must contain at least one type', '/types');
  return [...new Set(asked)].toSorted();
}

/**
 * The single rule for webhook URLs.
 *
 * @param field name of the request's field
 * @returns the canonical URL, which is stored, compared and displayed: `HTTPS://Shop.Example` is `https://shop.example/`
 */
export function readWebhookUrl(text: string, field: 'webhookUrl' | 'url' = 'webhookUrl'): string | Refusal {
  if (!ownMachine.test(text)) return readHttpsUrl(text, field, { fragment: false });
  return refuse(
    'invalidRequest',
    `${field} must start with https://. For a program on your machine, set the sandbox’s webhook URL here and run: npm run listen -- --forward http://localhost:4000`,
    `/${field}`,
  );
}

/** Allows plain HTTP to the caller's own machine, for a developer's first try. */
const ownMachine = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)/i;
