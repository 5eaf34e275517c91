/** One request until it went well, or as often as is worth it: in its turn, and within its time. What may pass is sent again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerTooLarge, createPost, type Reply } from './http.ts';
import { Crowded, type Leave, type Priority } from './limiter.ts';
import type { NodeLine } from './lines.ts';
import { NoAnswer, type Outcome } from './replies.ts';

/** How often the same is asked again. A node behind a balancer that lags has caught up by then, or another one answers. */
const againMost = { limited: 3, lags: 3, passes: 2 } as const;
const againPause_ms = { lags: 100, passes: 150 } as const;
const answerUsualMax_bytes = 10 * 1024 * 1024;

export interface Asking {
  readonly signal?: AbortSignal | undefined;
  readonly priority: Priority;
  /** Longest wait for the node to take a call; up to the time limit of the call when left out. */
  readonly patience_ms?: number | undefined;
  /** Of several calls: as BatchHow has it. */
  readonly together?: boolean | undefined;
  /** A refusal for too many calls is told at once. */
  readonly once?: boolean | undefined;
}

export interface ExchangeOptions {
  readonly url: string;
  /** For one call: waiting for its turn, body and retries included. */
  readonly timeout_ms: number;
  /** What is longer is not read to its end. */
  readonly answerMax_bytes?: number | undefined;
  readonly line: NodeLine;
  readonly random: () => number;
}

/** @throws NoAnswer; what the signal was aborted with */
export type Exchange = <T>(
  request: { readonly body: string; readonly cost: number },
  read: (reply: Reply) => Outcome<T>,
  asking: Asking,
) => Promise<T>;

export function createExchange(options: ExchangeOptions): Exchange {
  const { url, timeout_ms, answerMax_bytes = answerUsualMax_bytes, line, random } = options;
  const post = createPost(url, answerMax_bytes);

  async function leaveFor(cost: number, asking: Asking, left_ms: number): Promise<Leave> {
    const patience_ms = Math.max(0, Math.min(asking.patience_ms ?? left_ms, left_ms));
    try {
      return await line.limiter.leave({ ...asking, cost, patience_ms });
    } catch (error) {
      throw error instanceof Crowded ? new NoAnswer('limited', error.message) : error;
    }
  }

  return async (request, read, asking) => {
    const { signal, once = false } = asking;
    const end = new AbortController();
    const stop = () => end.abort();
    const begun_ms = performance.now();
    const timer = setTimeout(stop, timeout_ms);
    signal?.addEventListener('abort', stop, { once: true });
    const tries = { limited: once ? againMost.limited : 0, lags: 0, passes: 0 };
    try {
      for (;;) {
        const leave = await leaveFor(request.cost, asking, timeout_ms - (performance.now() - begun_ms));
        const outcome = await post(request.body, end.signal).then(read, broken);
        const { last, again, limited } = outcome;
        if (limited) line.limiter.refused(leave, limited.retryAfter_ms);
        else if (!(last instanceof NoAnswer)) line.limiter.taken(leave);
        if (again === undefined || tries[again] === againMost[again]) return settled(last);
        // For more calls the limiter waits.
        if (again !== 'limited') {
          const pause_ms = againPause_ms[again] * 2 ** tries[again] * (0.5 + random());
          await sleep(pause_ms, undefined, { signal: end.signal });
        }
        tries[again] += 1;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof NoAnswer ? error : unanswered();
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  };
}

function settled<T>(last: T | NoAnswer): T {
  if (last instanceof NoAnswer) throw last;
  return last;
}

const unanswered = (): NoAnswer => new NoAnswer('unreachable', 'connection failed or timed out');

function broken(error: unknown): Outcome<never> {
  if (!(error instanceof AnswerTooLarge)) return { last: unanswered(), again: 'passes' };
  // A page of an error that is so long tells nothing.
  const isAnswer = error.status >= 200 && error.status < 300;
  const kind = isAnswer ? 'tooLarge' : 'unreachable';
  return { last: new NoAnswer(kind, isAnswer ? error.message : `HTTP ${error.status}`) };
}
