/**
 * Where in the log seals begin. Stream `sealing-begun`: one event, written by the first start of a version that seals. Events before its
 * place in the log may be without a seal; one behind it without a good seal is not ours.
 */
import Type, { type Static } from 'typebox';
import type { Decider } from './decider.ts';
import { closed } from './schema.ts';

export const sealingSchemaVersion = 1;
/** There is one such stream. */
export const sealingInstance = 'begun';

export const sealingEventSchemas = {
  SealingBegun: Type.Object({ keyId: Type.String({ pattern: '^[0-9a-f]{8}$' }) }, closed),
} as const;

export interface SealingEvent {
  readonly type: 'SealingBegun';
  readonly data: Static<(typeof sealingEventSchemas)['SealingBegun']>;
}

/** The state is the id of the key that the first seal was made with. */
export const sealing: Decider<string | null, SealingEvent> = {
  category: 'sealing',
  initial: null,
  evolve: (_, { data }) => data.keyId,
};

/** Seals begin once. */
export const beginSealing = (begunWith: string | null, keyId: string): readonly SealingEvent[] =>
  begunWith === null ? [{ type: 'SealingBegun', data: { keyId } }] : [];
