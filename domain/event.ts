import type { Instant } from './time.ts';

/** What every event's metadata holds, for auditors: where it stands in the hash chain, when and why it was written. */
export interface EventMetadata {
  /** SHA-256 (hex) over the predecessor in the stream (commands/seal.ts); null for the first event. */
  readonly prev: string | null;
  readonly at: Instant;
  /** Who did it: a `Cause`. Events of old hold a request's id or a worker's name instead. */
  readonly cause: string;
  readonly appId: string | null;
  readonly schemaVersion: number;
  /** The request that it was done for, as the logs name it. Its sender may have chosen the id: it proves nothing. */
  readonly requestId?: string;
}

/**
 * Who caused an event: an API key by its id, a caller without one, an operator by the name of his account, or a worker, with what it
 * saw behind its name. It is made from what the service itself knows, never from what a request says.
 */
export type Cause = `key:${string}` | 'keyless' | `operator:${string}` | `worker:${string}`;

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

/** The part of a stream's name before its first `-`: `payment` of `payment-0198…`. */
export const categoryOf = (stream: string): string => stream.slice(0, Math.max(0, stream.indexOf('-')));

/** The part after the first `-`. */
export const instanceOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
