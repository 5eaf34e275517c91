/** What decisions are made of: deciders, refusals and events. */
import type { Instant } from './time.ts';

/**
 * The decider style: a decision is a pure function of state and input; its answer is the events to append.
 * `[]` means "already done". A refusal is an expected answer; an exception is a broken invariant.
 */
export interface Decider<S, E> {
  /** Stream category: the stream of instance `x` is `<category>-x`. */
  readonly category: string;
  readonly initial: S;
  /** When given, the state follows from the stream's last `window` events alone, and only those are read. */
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
  /** What is wrong and what to do next. */
  readonly message: string;
  /** JSON pointer to the field of the request, when one is at fault. */
  readonly pointer?: string;
  /** When asking again may help, in seconds. */
  readonly retryAfter_s?: number;
  /** Error that the operator has to read. Callers never receive it. */
  readonly cause?: unknown;
}

export const refuse = (refused: RefusalCode, message: string, pointer?: string): Refusal =>
  pointer === undefined ? { refused, message } : { refused, message, pointer };

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'refused' in value;

/** Thrown where the program is wrong, never for what a client or a chain can do. */
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

/** What every event's metadata holds, for auditors: where it stands in the hash chain, when and why it was written. */
export interface EventMetadata {
  /** SHA-256 (hex) over the predecessor in the stream (commands/codec.ts); null for the first event. */
  readonly prev: string | null;
  readonly at: Instant;
  /** Who did it: a `Cause`. Events of old hold a request's id or a worker's name instead. */
  readonly cause: string;
  readonly appId: string | null;
  readonly schemaVersion: number;
  /** The request that it was done for, as the logs name it. Its sender may have chosen the id: it proves nothing. */
  readonly requestId?: string;
  /** HMAC over this event with a key of the service (src/security/seals.ts). Events from before seals began have none. */
  readonly seal?: string;
}

/**
 * Who caused an event: an API key by its id, a caller without one, whoever has a payment's link, a signed-in person by the developerId, an operator by the name of
 * his account, or a worker, with what it saw behind its name. It is made from what the service itself knows, never from what a request says.
 */
export type Cause =
  | `key:${string}`
  | 'keyless'
  | 'payer'
  | `developer:${string}`
  | `operator:${string}`
  | `worker:${string}`;

/** An event type as decisions write it; `data` is its stored JSON. */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

/** An event as the store holds it. `position` is its place in the whole log: opaque, strictly increasing, not dense. */
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
 * An event's place in the log. Two logs that hold the same event at the same position are the same log up to there, so a place that was
 * recorded recognizes the log again.
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
