/** Calls of a client library of the event store. Limits, resends, queues and typed errors are the same over each library. */
import type { SealedEvent } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';

/** An optional client library cannot be used. The message says what to do. */
export class NoClient extends Error {
  override readonly name = 'NoClient';
}

export interface StoreCalls {
  readonly append: AppendCall;
  readonly read: (wanted: ReadQuery) => ReadCall;
  /** @param window events that the server examines between two checkpoints */
  readonly subscribe: (options: AllOptions, window: number, subscriber: Subscriber) => Promise<SubscriptionFlow>;
  /** Ends every call and the current connection: the next call searches the leader again. */
  readonly drop: () => void;
  readonly close: () => Promise<void>;
}

/** @param heard receives each sign of life of the server */
export type OpenCalls = (heard: () => void) => StoreCalls;

/** Receives the messages of one subscription in the order of the log. */
export interface Subscriber {
  /** @returns false to stop the flow until `resume` */
  said(news: StoredEvent | SubscriptionNews): boolean;
  failed(error: unknown): void;
}

export interface SubscriptionNews {
  /** Every event up to this position has been delivered. */
  readonly checkpoint?: bigint | undefined;
  readonly caughtUp?: boolean;
  readonly confirmed?: boolean;
}

export interface SubscriptionFlow {
  /** False while received events wait for `resume`. */
  readonly isEmpty: boolean;
  resume(): void;
  cancel(): void;
}

export interface Append {
  readonly stream: string;
  readonly expected: bigint | 'no_stream';
  readonly events: readonly SealedEvent[];
}

export interface AppendedAt {
  readonly revision: bigint;
  /** The server omits it for an append that was written before. */
  readonly position: bigint | null;
}

/** Settles with the server's answer, or rejects with an error of the client. Has no timeout of its own. */
export type AppendCall = (append: Append) => Promise<AppendedAt>;

export interface ReadQuery {
  /** Null for the whole log. */
  readonly stream: string | null;
  /**
   * First revision of a stream, or position of an event of the log (forwards: inclusive). Default: the end that the direction starts at.
   */
  readonly from?: bigint | undefined;
  readonly backwards: boolean;
  readonly max: number;
  /** For the whole log: only events of streams with one of these name prefixes. Default: all events. */
  readonly prefixes?: readonly string[];
}

/** Settles with all wanted events, or rejects with an error of the client. Has no timeout of its own. */
export interface ReadCall {
  readonly events: Promise<readonly StoredEvent[]>;
  /** No caller waits for it any more. */
  cancel(): void;
}

export interface AllOptions {
  readonly after: bigint | null;
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
}
