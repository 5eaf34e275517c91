/**
 * Keeps connections to nodes that push over WebSockets what is new. It is only a sign to look: nothing of it is believed, and what is lost on
 * the way is found by polling.
 */
import { Observable } from 'rxjs';
import { WebSocket } from 'ws';
import { wireRequest } from './jsonRpc.ts';
import type { Ticker } from './limiter.ts';

export interface PushesOptions {
  /** They may hold API keys and are never logged. */
  readonly urls: readonly string[];
  readonly ticker: Pick<Ticker, 'after'>;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** What a family's nodes are asked to push, and how it is read. */
export interface Pushing<T> {
  readonly subscriptions: readonly Subscription[];
  /** Undefined for what says nothing of the chain: answers to the subscriptions, and whatever else is sent. What it throws counts as that. */
  readonly read: (message: unknown) => T | undefined;
}

export interface Subscription {
  readonly method: string;
  readonly params: readonly unknown[];
}

const firstPause_ms = 1_000;
const pauseMax_ms = 60_000;
/** A connection that has said nothing for so long is dead, whatever TCP says of it. */
const silence_ms = 60_000;
/** Longer messages are none of ours: the connection ends as soon as one is announced, or its parts have come to more. */
const messageMax_bytes = 100_000;
/** So much is read of a connection in a second; what comes beyond waits outside the process, until its node gives up. */
const second_ms = 1_000;
export const readMost_bytes = 4_000_000;
/** Each message counts as so much at least: short ones take time, too. */
export const messageLeast_bytes = 500;

/** @returns what any of the nodes pushes, as long as it is subscribed to: lost connections are made again, ever more seldom */
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

  /** Resolves when the connection has ended, for whatever reason. */
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

/** Stops reading a connection that has said too much in a second, until the next one. */
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
