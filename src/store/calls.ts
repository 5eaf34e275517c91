/** Calls of a client library of the event store. Limits, resends, queues and typed errors are the same over each library. */
import type { StoredEvent } from '../../domain/decider.ts';
import { type AppendCall, createAppendCall } from './append.ts';
import { openClient } from './connection.ts';
import { type ReadCall, type ReadQuery, readCall } from './read.ts';
import { type AllOptions, subscribeCall } from './subscription.ts';

/** An optional client library cannot be used. The message says what to do. */
export class NoClient extends Error {
  override readonly name = 'NoClient';
}

export interface StoreCalls {
  readonly append: AppendCall;
  readonly read: (wanted: ReadQuery) => ReadCall;
  /** @param window events that the server examines between two checkpoints */
  readonly subscribe: (options: AllOptions, window: number, subscriber: Subscriber) => Promise<Flow>;
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

export interface Flow {
  /** False while received events wait for `resume`. */
  readonly isEmpty: boolean;
  resume(): void;
  cancel(): void;
}

/** Calls of `@eventstore/db-client`. @throws RangeError for an unusable address: the problem with EVENTSTORE_URL, without secrets */
export function eventStoreCalls(url: string): OpenCalls {
  const { client, drop, close } = openClient(url);
  return (heard) => ({
    append: createAppendCall(client, heard),
    read: (wanted) => readCall(client, heard, wanted),
    subscribe: (options, window, subscriber) => subscribeCall(client, options, window, subscriber),
    drop,
    close,
  });
}
