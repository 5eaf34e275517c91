/** What leaves the log in no export: whatever opens, derives or sends something, and what strangers answered. */
import { eventCodec } from '../../commands/codec.ts';
import type { StoredEvent } from '../../domain/decider.ts';

/**
 * Wherever they stand in an event: salts that ids and deposits are derived from, what is encrypted, signed transactions (whoever has one can
 * send it), webhooks' addresses (some hold a password) and what their receivers answered.
 */
const everywhere: ReadonlySet<string> = new Set([
  'idSalt',
  'salt',
  'ciphertext',
  'formerKeys',
  'bytes',
  'webhookUrl',
  'responsePreview',
]);

/** Where a name alone does not tell: the hash of an API key, addresses of webhooks. */
const inEvents: Readonly<Record<string, readonly string[]>> = {
  ApiKeyIssued: ['hash'],
  WebhookUrlSet: ['url'],
  WebhookSendStarted: ['url'],
};

export const isWithheld = (type: string, field: string): boolean =>
  everywhere.has(field) || (inEvents[type]?.includes(field) ?? false);

/** An event's data in today's form, without what is withheld; null for a type that this version does not know, which may hold anything. */
export function shownData(stored: StoredEvent): string | null {
  const event = eventCodec.read(stored);
  if (!event) return null;
  return JSON.stringify(event.data, (field, value: unknown) => (isWithheld(event.type, field) ? undefined : value));
}
