/**
 * What nodes push over WebSockets (`eth_subscribe`): that there is a new block, and to whom a token of the catalogue was sent. It is only
 * a sign to look: nothing of it is believed, and what is lost on the way is found by polling.
 */
import { Observable } from 'rxjs';
import { WebSocket } from 'ws';
import type { Chain } from '../../../domain/chains.ts';
import type { Push } from '../family.ts';
import type { Ticker } from '../node/ticker.ts';
import { addressIn } from './addresses.ts';
import { transferTopic } from './reads.ts';

export interface PushesOptions {
  readonly chain: Pick<Chain, 'tokens'>;
  /** They may hold API keys and are never logged. */
  readonly urls: readonly string[];
  readonly ticker: Pick<Ticker, 'after'>;
  /** From 0 to 1. */
  readonly random: () => number;
}

const firstPause_ms = 1_000;
const pauseMax_ms = 60_000;
/** A connection that has said nothing for so long is dead, whatever TCP says of it. */
const silence_ms = 60_000;
/** Longer messages are none of ours: the connection ends as soon as one is announced, or its parts have come to more. */
const messageMax_bytes = 100_000;

/** @returns what any of the nodes pushes, as long as it is subscribed to: lost connections are made again, ever more seldom */
export function createPushes({ chain, urls, ticker, random }: PushesOptions): Observable<Push> {
  return new Observable<Push>((out) => {
    const stop = new AbortController();
    const ended = urls.map((url) => keep(url, stop.signal, (push) => out.next(push)));
    Promise.all(ended).catch((error: unknown) => out.error(error));
    return () => stop.abort();
  });

  async function keep(url: string, signal: AbortSignal, tell: (push: Push) => void): Promise<void> {
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
  function listen(url: string, signal: AbortSignal, tell: (push: Push) => void): Promise<void> {
    return new Promise((resolve) => {
      const socket = new WebSocket(url, { maxPayload: messageMax_bytes, perMessageDeflate: false });
      let callOff = () => {};
      const end = () => {
        callOff();
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
        for (const [id, asked] of subscriptionsTo(chain).entries())
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params: asked }));
      });
      socket.on('message', (data) => {
        expectMore();
        const push = pushOf(String(data));
        if (push) tell(push);
      });
      socket.on('error', end);
      socket.once('close', end);
    });
  }
}

/** Resolves early when the signal aborts. */
const rest = (ticker: Pick<Ticker, 'after'>, duration_ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      callOff();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const callOff = ticker.after(duration_ms, end);
    signal.addEventListener('abort', end, { once: true });
  });

const subscriptionsTo = ({ tokens }: Pick<Chain, 'tokens'>) => [
  ['newHeads'],
  ['logs', { address: tokens.map(({ address }) => address), topics: [transferTopic] }],
];

/** Undefined for what says nothing of the chain: answers to the subscription, and whatever else is sent. */
function pushOf(text: string): Push | undefined {
  try {
    const { params } = JSON.parse(text) as { params?: { result?: { topics?: readonly unknown[]; number?: unknown } } };
    const { topics, number } = params?.result ?? {};
    const receiver = topics?.[2];
    if (typeof receiver === 'string' && /^0x[0-9a-fA-F]{64}$/.test(receiver))
      return { kind: 'transfer', to: addressIn(receiver) };
    return typeof number === 'string' ? { kind: 'head' } : undefined;
  } catch {
    return undefined;
  }
}
