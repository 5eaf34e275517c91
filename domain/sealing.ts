/**
 * Log positions where seals begin and where their key changes. Stream `sealing-begun`: its first event is written by the first start of a
 * version with seals. Events before it may have no seal; any later event needs a valid seal. After a key change only seals of the new key
 * are valid; up to the change, and for the change itself, only those of the former key.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, refuse } from './decider.ts';
import { closed, Text } from './schema.ts';

/** 2: the key can be changed. */
export const sealingSchemaVersion = 2;
/** There is one such stream. */
export const sealingInstance = 'begun';
export const keyChangesMax = 20;

const KeyId = Type.String({ pattern: '^[0-9a-f]{8}$' });

export const sealingEventSchemas = {
  SealingBegun: Type.Object({ keyId: KeyId }, closed),
  /**
   * `formerKeys`: the needed parts of all former keys, encrypted under the new one. Only an owner of the new key can make it, which
   * authenticates the change.
   */
  SealingKeyChanged: Type.Object({ keyId: KeyId, formerKeyId: KeyId, formerKeys: Text(16_384) }, closed),
  SealingKeyChangeFinished: Type.Object({ keyId: KeyId }, closed),
} as const;

type Schemas = typeof sealingEventSchemas;
export type SealingEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];
export type KeyChange = Static<Schemas['SealingKeyChanged']>;

/** The state is the id of the sealing key in force. */
export const sealing: Decider<string | null, SealingEvent> = {
  category: 'sealing',
  initial: null,
  evolve: (_, { data }) => data.keyId,
};

/** Records the start of sealing, once. */
export const beginSealing = (inForce: string | null, keyId: string): readonly SealingEvent[] =>
  inForce === null ? [{ type: 'SealingBegun', data: { keyId } }] : [];

export const changeKey = (inForce: string | null, change: KeyChange): Decision<SealingEvent> =>
  inForce === change.formerKeyId
    ? [{ type: 'SealingKeyChanged', data: change }]
    : refuse('illegalStep', `seals are made with key ${inForce}, not ${change.formerKeyId}: run it again`);

/** Records that everything encrypted under the former key is now under this one. */
export const finishKeyChange = (inForce: string | null, keyId: string): Decision<SealingEvent> =>
  inForce === keyId
    ? [{ type: 'SealingKeyChangeFinished', data: { keyId } }]
    : refuse('illegalStep', `seals are made with key ${inForce}, not ${keyId}: run it again`);
