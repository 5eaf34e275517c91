import { randomUUID } from 'node:crypto';
import type { SealedEvent } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';

const metadata = { prev: null, at: instant(0), cause: 'test', appId: null, schemaVersion: 1 };

/** One event to append, with a new id. */
export const event = (type = 'Happened', data: object = {}): SealedEvent => ({
  id: randomUUID(),
  type,
  data,
  metadata,
});

export const events = (count: number): SealedEvent[] =>
  Array.from({ length: count }, (_, n) => event('Happened', { n }));

/** A category without other users, so that tests may share one store. */
export const freshCategory = (): string => `test${randomUUID().replaceAll('-', '')}`;

export const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
