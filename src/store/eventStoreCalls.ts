/** The event store through `@eventstore/db-client`, with messages that are written and read here. */
import { createAppendCall } from './append.ts';
import type { OpenCalls } from './calls.ts';
import { openClient } from './connection.ts';
import { readCall } from './read.ts';
import { subscribeCall } from './subscription.ts';

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
