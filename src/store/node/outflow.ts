import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import { unsentMost, unsentMost_bytes } from './room.ts';

/** The writing side of a call, at the speed of its client (HTTP/2 flow control). */
export interface ReplyStream {
  readonly cancelled: boolean;
  /** True if the client is behind: then wait before the next message. */
  readonly full: boolean;
  /** A whole message in bytes. */
  write(message: Buffer): void;
  /** Resolves when there is room again, or the call has ended. */
  room(): Promise<void>;
  /** Called once when the client disconnects. */
  onCancel(listener: () => void): void;
}

type Call<Req> = ServerWritableStream<Req, Buffer> | ServerDuplexStream<Req, Buffer>;

export function outflow<Req>(call: Call<Req>): ReplyStream {
  const waitingForRoom = new Set<() => void>();
  /** Bytes written since the queue was last empty. Messages are sent in order, so only the last one needs a check. */
  let written_bytes = 0;
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

  const isFull = (waiting: number): boolean => waiting >= unsentMost || written_bytes >= unsentMost_bytes;
  function wake(): void {
    for (const resolve of waitingForRoom) resolve();
    waitingForRoom.clear();
  }
  /** After a message that left no room: it and those before it are sent. */
  function sent(): void {
    if (call.writableLength === 0) written_bytes = 0;
    if (!isFull(call.writableLength)) wake();
  }
  listeners.add(wake);

  return {
    get cancelled() {
      return over || call.cancelled;
    },
    get full() {
      return isFull(call.writableLength);
    },
    write(message) {
      if (over || call.cancelled) return;
      if (call.writableLength === 0) written_bytes = 0;
      written_bytes += message.length;
      if (isFull(call.writableLength + 1)) call.write(message, sent);
      else call.write(message);
    },
    room() {
      if (over || !isFull(call.writableLength)) return Promise.resolve();
      return new Promise((resolve) => waitingForRoom.add(resolve));
    },
    onCancel(listener) {
      listeners.add(listener);
    },
  };
}
