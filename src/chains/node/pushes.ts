/**
 * Connections to nodes that push notifications over WebSockets. A notification is only a reason to read: nothing in it is trusted, and
 * polling finds lost ones.
 */
import { Observable } from 'rxjs';
import { WebSocket } from 'ws';
import { wireRequest } from './jsonRpc.ts';
import type { Ticker } from './limiter.ts';

export interface PushesOptions {
  /** They may contain API keys and are never logged. */
  readonly urls: readonly string[];
  readonly ticker: Pick<Ticker, 'after'>;
  /** Random from 0 to 1. */
  readonly random: () => number;
}

/** Subscriptions of a family, and the reader of their messages. */
export interface Pushing<T> {
  readonly subscriptions: readonly Subscription[];
  /** Undefined for messages without a notification, such as subscription answers. An error counts as undefined. */
  readonly read: (message: unknown) => T | undefined;
}

export interface Subscription {
  readonly method: string;
  readonly params: readonly unknown[];
}

const firstPause_ms = 1_000;
const pauseMax_ms = 60_000;
/** A connection silent for this long is dead, whatever TCP reports. */
const silence_ms = 60_000;
/** Longer messages are not ours: the connection closes as soon as one is announced, or its fragments exceed this. */
const messageMax_bytes = 100_000;
/** Period for limiting the bytes read of a connection; further bytes wait outside the process, until the node gives up. */
const second_ms = 1_000;
export const readMost_bytes = 4_000_000;
/** Minimum cost of a message: short ones take time too. */
export const messageLeast_bytes = 500;

/** @returns notifications of all nodes while subscribed; lost connections are reopened with growing delays */
export function pushesOf<T>({ subscriptions, read }: Pushing<T>, options: PushesOptions): Observable<T> {
  const { urls, ticker, random } = options;
  return new Observable<T>((out) => {
    const stop = new AbortController();
    const ended = urls.map((url) => keep(url, stop.signal, (push) => out.next(push)));
    Promise.all(ended).catch((error: unknown) => out.error(error));
    return () => stop.abort();
  });

  async function keep(url: string, signal: AbortSignal, tell: (push: T) => void): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      let heard = false;
      await listen(url, signal, (push) => {
        heard = true;
        tell(push);
      });
      if (heard) failures = 0;
      const longest_ms = Math.min(pauseMax_ms, firstPause_ms * 2 ** Math.min(failures, 10));
      if (!signal.aborted) await rest(ticker, longest_ms * (0.5 + random() / 2), signal);
    }
  }

  /** Resolves when the connection has ended for any reason. */
  function listen(url: string, signal: AbortSignal, tell: (push: T) => void): Promise<void> {
    return new Promise((resolve) => {
      const socket = new WebSocket(url, { maxPayload: messageMax_bytes, perMessageDeflate: false });
      const measured = throttled(socket, ticker);
      let callOff = () => {};
      const end = () => {
        callOff();
        measured.end();
        signal.removeEventListener('abort', end);
        socket.terminate();
        resolve();
      };
      const expectMore = () => {
        callOff();
        callOff = ticker.after(silence_ms, end);
      };
      expectMore();
      signal.addEventListener('abort', end, { once: true });
      socket.once('open', () => {
        for (const [id, asked] of subscriptions.entries()) socket.send(JSON.stringify(wireRequest(id, asked)));
      });
      socket.on('message', (data) => {
        const text = String(data);
        measured.heard(text.length);
        expectMore();
        const push = readText(text);
        if (push !== undefined) tell(push);
      });
      socket.on('error', end);
      socket.once('close', end);
    });
  }

  function readText(text: string): T | undefined {
    try {
      return read(JSON.parse(text));
    } catch {
      return undefined;
    }
  }
}

/** Pauses a connection that exceeds its limit until the next second. */
function throttled(socket: Pick<WebSocket, 'pause' | 'resume'>, ticker: PushesOptions['ticker']) {
  let read_bytes = 0;
  let callOff: (() => void) | undefined;
  return {
    heard(bytes: number): void {
      read_bytes += Math.max(bytes, messageLeast_bytes);
      callOff ??= ticker.after(second_ms, () => {
        callOff = undefined;
        read_bytes = 0;
        socket.resume();
      });
      if (read_bytes >= readMost_bytes) socket.pause();
    },
    end: (): void => callOff?.(),
  };
}

/** Resolves early when the signal aborts. */
const rest = (ticker: PushesOptions['ticker'], duration_ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      callOff();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const callOff = ticker.after(duration_ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
