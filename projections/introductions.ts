import type { DomainEvent, StoredEvent } from '../domain/decider.ts';
import { type WebhookTypesEvent, webhookTypes, webhookTypesInstance } from '../domain/webhookTypes.ts';

/** Where in the log each webhook type was introduced that came after the first release. */
export type Introductions = ReadonlyMap<string, bigint>;

export const introductionsStream = `${webhookTypes.category}-${webhookTypesInstance}`;

/** @param events of the stream of introductions */
export const introductionsIn = (
  events: readonly StoredEvent[],
  read: (stored: StoredEvent) => DomainEvent | undefined,
): Introductions =>
  new Map(
    events.flatMap((stored) => {
      const event = read(stored) as WebhookTypesEvent | undefined;
      return event ? [[event.data.eventType, stored.position]] : [];
    }),
  );
