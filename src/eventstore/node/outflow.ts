import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import { unsentMost, unsentMost_bytes } from './bounds.ts';

/** The writing side of a call, as fast as its client takes it (HTTP/2 flow control). */
export interface Outflow {
  readonly cancelled: boolean;
  /** Whether the client is behind: then wait before the next message. */
  readonly full: boolean;
  /** A whole message in bytes. */
  write(message: Buffer): void;
  /** Resolves when there is room again, or the call has ended. */
  room(): Promise<void>;
  /** Called once when the client goes away. */
  onCancel(listener: () => void): void;
}

type Call<Req> = ServerWritableStream<Req, Buffer> | ServerDuplexStream<Req, Buffer>;

export function outflow<Req>(call: Call<Req>): Outflow {
  const waitingForRoom = new Set<() => void>();
  let waiting = 0;
  let waiting_bytes = 0;
  const listeners = new Set<() => void>();
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    for (const listener of listeners) listener();
  };
  call.on('cancelled', end);
  call.on('close', end);
  call.on('error', end);

  const isFull = (share: number): boolean => waiting >= unsentMost * share || waiting_bytes >= unsentMost_bytes * share;
  /** Half of it is free again: woken for each message, a reader would wait for each. */
  function wakeWhenRoomy(): void {
    if (!over && isFull(0.5)) return;
    for (const wake of waitingForRoom) wake();
    waitingForRoom.clear();
  }
  listeners.add(wakeWhenRoomy);

  return {
    get cancelled() {
      return over || call.cancelled;
    },
    get full() {
      return isFull(1);
    },
    write(message) {
      if (over || call.cancelled) return;
      waiting++;
      waiting_bytes += message.length;
      call.write(message, () => {
        waiting--;
        waiting_bytes -= message.length;
        wakeWhenRoomy();
      });
    },
    room() {
      if (over || !isFull(1)) return Promise.resolve();
      return new Promise((resolve) => waitingForRoom.add(resolve));
    },
    onCancel(listener) {
      listeners.add(listener);
    },
  };
}
