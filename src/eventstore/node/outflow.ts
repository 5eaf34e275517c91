import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';

/** What one call may have waiting for a slow client. */
const bufferedMost = 256;

/** The writing side of a call, as fast as its client takes it (HTTP/2 flow control). */
export interface Outflow<T> {
  readonly cancelled: boolean;
  /** Whether the client is behind: then wait before the next message. */
  readonly full: boolean;
  write(message: T): void;
  /** Resolves when there is room again, or the call has ended. */
  room(): Promise<void>;
  /** Called once when the client goes away. */
  onCancel(listener: () => void): void;
}

export function outflow<Req, T>(call: ServerWritableStream<Req, T> | ServerDuplexStream<Req, T>): Outflow<T> {
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

  return {
    get cancelled() {
      return over || call.cancelled;
    },
    get full() {
      return call.writableLength >= bufferedMost;
    },
    write(message) {
      if (!over && !call.cancelled) call.write(message);
    },
    room() {
      if (over || call.writableLength < bufferedMost) return Promise.resolve();
      return new Promise((resolve) => {
        const roomy = (): void => {
          call.off('drain', roomy);
          listeners.delete(roomy);
          resolve();
        };
        call.on('drain', roomy);
        listeners.add(roomy);
      });
    },
    onCancel(listener) {
      listeners.add(listener);
    },
  };
}
