/** Deciders, refusals and events. */
import type { Instant } from './time.ts';

/**
 * A decision is a pure function of state and input that returns the events to append. `[]` means "already done". A refusal is an expected
 * answer; an exception is a broken invariant.
 */
export interface Decider<S, E> {
  /** Stream category: the stream of instance `x` is `<category>-x`. */
  readonly category: string;
  readonly initial: S;
  /** If set, the last `window` events determine the state, and only those are read. */
  readonly window?: number;
  evolve(state: S, event: E): S;
}

export type Decision<E> = readonly E[] | Refusal;

/** Stable codes. The HTTP edge maps each to a code of its own and a status. */
export type RefusalCode =
  | 'invalidRequest'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'paymentNotFound'
  | 'paymentNotUpdatable'
  | 'orderConflict'
  | 'settlementMissing'
  | 'memoRequired'
  | 'deliveryNotFound'
  | 'deliveryNotRedeliverable'
  | 'webhookUrlMissing'
  | 'routeUnavailable'
  | 'unavailable'
  | 'illegalStep'
  | 'treasuryBusy'
  | 'treasuryPaused'
  | 'treasuryBehindChain'
  | 'attemptsSpent'
  | 'codeWrong'
  | 'codeExpired'
  | 'appIdTaken'
  | 'registrationClosed'
  | 'refundAddressUnproven'
  | 'refundExceedsHeld'
  | 'refundTooSmall'
  | 'relayTooDear'
  | 'rateLimited';

export interface Refusal {
  readonly refused: RefusalCode;
  /** States what is wrong and what to do next. */
  readonly message: string;
  /** JSON pointer to the request's field that is at fault, if one is. */
  readonly pointer?: string;
  /** Other faults of the same request, so that a caller reads all of them at once. */
  readonly also?: readonly Refusal[];
  /** Seconds after which a repeated request may succeed. */
  readonly retryAfter_s?: number;
  /** Error that the operator has to read. Callers never receive it. */
  readonly cause?: unknown;
}

export const refuse = (refused: RefusalCode, message: string, pointer?: string): Refusal =>
  pointer === undefined ? { refused, message } : { refused, message, pointer };

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'refused' in value;

/** One refusal that names all faults of a request; undefined without any. */
export const refusedTogether = ([first, ...also]: readonly Refusal[]): Refusal | undefined =>
  first && (also.length > 0 ? { ...first, also } : first);

/** Thrown for an error of the program, never for input of a client or a chain. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new InvariantBroken(invariant);
}

export function unreachable(value: never): never {
  throw new InvariantBroken(`unexpected ${JSON.stringify(value)}`);
}

/** Folds events from the initial state. */
export const fold = <S, E>(decider: Decider<S, E>, events: readonly E[], from: S = decider.initial): S =>
  events.reduce((state, event) => decider.evolve(state, event), from);

/** Metadata of every event, for auditors: its position in the hash chain, and when and why it was written. */
export interface EventMetadata {
  /** SHA-256 (hex) over the predecessor in the stream (commands/codec.ts); null for the first event. */
  readonly prev: string | null;
  readonly at: Instant;
  /** Actor: a `Cause`. Events of older versions hold a request's id or a worker's name. */
  readonly cause: string;
  readonly appId: string | null;
  readonly schemaVersion: number;
  /** Id of the request behind the event, as in the logs. Its sender may have chosen the id, so it proves nothing. */
  readonly requestId?: string;
  /** HMAC over this event with a key of the service (src/security/masterKey.ts). Events from before sealing have none. */
  readonly seal?: string;
}

/**
 * Actor that caused an event: an API key by its id, a caller without a key, a payer with a payment's link, a signed-in person by
 * developerId, an operator by account name, or a worker with the observation behind its name. It comes from the service's own knowledge,
 * never from a request.
 */
export type Cause =
  | `key:${string}`
  | 'keyless'
  | 'payer'
  | `developer:${string}`
  | `operator:${string}`
  | `worker:${string}`;

const person = 'developer:';

/** Id of the person who caused an event; null for keys, operators and workers. */
export const personOf = (cause: string): string | null =>
  cause.startsWith(person) ? cause.slice(person.length) : null;

/** An event type as decisions write it; `data` is its stored JSON. */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

/** An event as the store holds it. `position` is its position in the whole log: opaque, strictly increasing, not dense. */
export interface StoredEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
}

/**
 * Position of an event in the log. Two logs with the same event at the same position are equal up to there, so a recorded position
 * identifies the log.
 */
export interface LogPlace {
  readonly position: bigint;
  readonly eventId: string;
}

export const placeOf = ({ position, id }: Pick<StoredEvent, 'position' | 'id'>): LogPlace => ({
  position,
  eventId: id,
});

/** The part of a stream's name before its first `-`: `payment` of `payment-0198…`. */
export const categoryOf = (stream: string): string => stream.slice(0, Math.max(0, stream.indexOf('-')));

/** The part after the first `-`. */
export const instanceOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
