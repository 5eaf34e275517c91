/**
 * Beginning of each webhook type that was added after the first release. Stream `webhookTypes-introduced`: one event per type, whose log
 * position is the beginning. No app is notified of earlier events, however often read models are rebuilt.
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

/** A type is introduced once: reinstalling a version does not move its beginning. */
export const introduceTypes = (introduced: readonly string[], types: readonly string[]): readonly WebhookTypesEvent[] =>
  types
    .filter((eventType) => !introduced.includes(eventType))
    .map((eventType) => ({ type: 'WebhookTypeIntroduced', data: { eventType } }));
