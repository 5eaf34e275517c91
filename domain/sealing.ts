/**
 * Where in the log seals begin, and where their key changes. Stream `sealing-begun`: its first event was written by the first start of a
 * version that seals. Events before its place in the log may be without a seal; one behind it without a good seal is not ours.
 * Behind a change only seals of the new key are good, up to it and for itself only those of the former one.
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
  /** `formerKeys`: what is needed of all former keys, encrypted under the new one. That only who has the new key can make it is its voucher. */
  SealingKeyChanged: Type.Object({ keyId: KeyId, formerKeyId: KeyId, formerKeys: Text(16_384) }, closed),
  SealingKeyChangeFinished: Type.Object({ keyId: KeyId }, closed),
} as const;

type Schemas = typeof sealingEventSchemas;
export type SealingEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];
export type KeyChange = Static<Schemas['SealingKeyChanged']>;

/** The state is the id of the key that seals are made with. */
export const sealing: Decider<string | null, SealingEvent> = {
  category: 'sealing',
  initial: null,
  evolve: (_, { data }) => data.keyId,
};

/** Seals begin once. */
export const beginSealing = (inForce: string | null, keyId: string): readonly SealingEvent[] =>
  inForce === null ? [{ type: 'SealingBegun', data: { keyId } }] : [];

export const changeKey = (inForce: string | null, change: KeyChange): Decision<SealingEvent> =>
  inForce === change.formerKeyId
    ? [{ type: 'SealingKeyChanged', data: change }]
    : refuse('illegalStep', `seals are made with key ${inForce}, not ${change.formerKeyId}: run it again`);

/** Everything that the former key encrypted is under this one. */
export const finishKeyChange = (inForce: string | null, keyId: string): Decision<SealingEvent> =>
  inForce === keyId
    ? [{ type: 'SealingKeyChangeFinished', data: { keyId } }]
    : refuse('illegalStep', `seals are made with key ${inForce}, not ${keyId}: run it again`);
