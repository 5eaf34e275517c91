/**
 * Where each type of webhook begins that came after the first release. Stream `webhookTypes-introduced`: one event per type, and its
 * place in the log is the beginning. Of what happened before it no app is told, however often read models are rebuilt.
 */
import Type, { type Static } from 'typebox';
import type { Decider } from './decider.ts';
import { closed } from './schema.ts';
import { LaterWebhookType } from './webhook.ts';

export const webhookTypesSchemaVersion = 1;
/** There is one such stream. */
export const webhookTypesInstance = 'introduced';

export const webhookTypesEventSchemas = {
  WebhookTypeIntroduced: Type.Object({ eventType: LaterWebhookType }, closed),
} as const;

export interface WebhookTypesEvent {
  readonly type: 'WebhookTypeIntroduced';
  readonly data: Static<(typeof webhookTypesEventSchemas)['WebhookTypeIntroduced']>;
}

export const webhookTypes: Decider<readonly string[], WebhookTypesEvent> = {
  category: 'webhookTypes',
  initial: [],
  evolve: (introduced, { data }) => [...introduced, data.eventType],
};

/** A type is introduced once: a version that comes back does not move its beginning. */
export const introduceTypes = (introduced: readonly string[], types: readonly string[]): readonly WebhookTypesEvent[] =>
  types
    .filter((eventType) => !introduced.includes(eventType))
    .map((eventType) => ({ type: 'WebhookTypeIntroduced', data: { eventType } }));
