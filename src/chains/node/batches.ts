/** Several calls in one request, up to the node's limit (JSON-RPC 2.0, section 6). Its refusals reveal the limit. */

import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../lib/concurrency.ts';
import { AnswerTooLarge, createPost, type Reply } from './http.ts';
import {
  methodCost,
  mostSaid,
  NoAnswer,
  type NodeRefusal,
  parsed,
  type RpcAnswer,
  type RpcCall,
  type RpcOutcome,
  readAnswer,
  readReply,
  refusalIn,
  wireRequest,
} from './jsonRpc.ts';
import { type NodeLimits, type NodeLine, type Permit, type Priority, QueueFull } from './limiter.ts';

/** Limit of the public nodes of Base and Optimism. */
const callsFirst = 10;
const requestsAtOnce = 4;
const callsAtOnce = 8;

export type CallMany = (calls: readonly RpcCall[], asking: CallOptions) => Promise<readonly RpcAnswer[]>;

interface Parts {
  readonly exchange: Exchange;
  readonly call: (call: RpcCall, asking: CallOptions) => Promise<RpcAnswer>;
  readonly limits: NodeLimits;
}

/** Answers as far as the node returned them, or its refusal of all. */
type Together = { readonly answers: readonly (RpcAnswer | undefined)[] } | { readonly refusal: NodeRefusal };

export function createBatches({ exchange, call, limits }: Parts): CallMany {
  /** Largest number that has succeeded. */
  let proven = 1;
  const most = (): number => limits.most('calls') ?? callsFirst;

  const oneByOne: CallMany = (calls, asking) => inParallel(calls, callsAtOnce, (each) => call(each, asking));

  async function many(calls: readonly RpcCall[], asking: CallOptions): Promise<readonly RpcAnswer[]> {
    if (calls.length <= 1 || (most() === 1 && !asking.together)) return oneByOne(calls, asking);
    if (calls.length > most()) {
      if (asking.together) return calls.map(() => notTogether);
      const parts = chunked(calls, most());
      return (await inParallel(parts, requestsAtOnce, (part) => many(part, asking))).flat();
    }
    const read = (reply: Reply) => readMany(reply, calls.length, asking.together === true);
    const found = await exchange(requestOf(calls), read, asking).catch(orFailure);
    if (found instanceof NoAnswer) return without(found, calls, asking);
    if ('refusal' in found) {
      const said = mostSaid(found.refusal.words) ?? calls.length;
      limits.learn('calls', said < calls.length ? said : Math.floor(calls.length / 2));
      return many(calls, asking);
    }
    proven = Math.max(proven, calls.length);
    // Missing answers and transient failures are requested again one by one.
    return inParallel(calls, callsAtOnce, async (each, at) => found.answers[at] ?? call(each, asking));
  }

  /** A node may refuse too many calls without an answer (Erigon closes the connection): a single call reveals whether it is reachable. */
  async function without(failure: NoAnswer, calls: readonly RpcCall[], asking: CallOptions) {
    const [first, ...others] = calls;
    if (failure.kind === 'tooLarge' && !asking.together) return oneByOne(calls, asking);
    if (failure.kind === 'tooLarge' || !first || failure.kind === 'limited' || calls.length <= proven) throw failure;
    const answer = await call(first, asking);
    limits.learn('calls', Math.floor(calls.length / 2));
    if (asking.together) return calls.map(() => notTogether);
    return [answer, ...(await many(others, asking))];
  }

  return many;
}

const chunked = <T>(all: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));

function requestOf(calls: readonly RpcCall[]) {
  const asked = calls.map((call, id) => wireRequest(id, call));
  return { body: JSON.stringify(asked), cost: calls.reduce((sum, { method }) => sum + methodCost(method), 0) };
}

function orFailure(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  throw error;
}

/** @param together requires all answers from this reply */
function readMany(reply: Reply, count: number, together: boolean): RpcOutcome<Together> {
  const json = parsed(reply.text);
  if (!Array.isArray(json)) {
    const { last, ...more } = readReply(reply);
    if (last instanceof NoAnswer) return { last, ...more };
    if ('refusal' in last) return { last, ...more };
    return { last: new NoAnswer('malformed', 'one answer to several calls') };
  }
  const whole = json.map(refusalIn).find((refusal) => refusal && /\bbatch/i.test(refusal.words));
  if (whole) return { last: { refusal: whole } };
  const byId = new Map(json.map((each) => [Number(each?.id ?? -1), readAnswer(each, reply)]));
  const outcomes = Array.from({ length: count }, (_, id) => byId.get(id) ?? leftOut);
  const limited = outcomes.find((outcome) => outcome.limited)?.limited;
  if (!together) return { last: { answers: outcomes.map(answerIn) }, ...(limited && { limited }) };
  if (limited)
    return { last: new NoAnswer('limited', 'it does not take so many calls now'), again: 'limited', limited };
  const again = outcomes.find((outcome) => outcome.again)?.again;
  return { last: { answers: outcomes.map(answerOrRefusal) }, again };
}

const leftOut: RpcOutcome<never> = { last: new NoAnswer('malformed', 'it left this call out'), again: 'passes' };

const answerIn = ({ last, again }: RpcOutcome<RpcAnswer>): RpcAnswer | undefined =>
  again || last instanceof NoAnswer ? undefined : last;

const answerOrRefusal = ({ last }: RpcOutcome<RpcAnswer>): RpcAnswer =>
  last instanceof NoAnswer ? { refusal: last.refusal ?? inWords(last.message) } : last;

const inWords = (message: string): NodeRefusal => ({ code: undefined, message, words: message });

const notTogether: RpcAnswer = { refusal: inWords('it does not take so many calls together') };

/** Maximum repetitions. By then a lagging node behind a balancer has caught up, or another one answers. */
const againMost = { limited: 3, lags: 3, passes: 2 } as const;
const againPause_ms = { lags: 100, passes: 150 } as const;
const answerUsualMax_bytes = 10 * 1024 * 1024;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly priority: Priority;
  /** Maximum wait for a permit. Default: the call's timeout. */
  readonly patience_ms?: number | undefined;
  /** For several calls: as in BatchHow. */
  readonly together?: boolean | undefined;
  /** Reports a refusal for too many calls at once. */
  readonly once?: boolean | undefined;
}

export interface ExchangeOptions {
  readonly url: string;
  /** For one call, including its wait, body and retries. */
  readonly timeout_ms: number;
  /** Longer answers are not read to their end. */
  readonly answerMax_bytes?: number | undefined;
  readonly line: NodeLine;
  readonly random: () => number;
}

/** @throws NoAnswer; the signal's reason */
export type Exchange = <T>(
  request: { readonly body: string; readonly cost: number },
  read: (reply: Reply) => RpcOutcome<T>,
  asking: CallOptions,
) => Promise<T>;

/** Sends one request until it succeeds, or its attempts or its time are used up. Retries transient failures. */
export function createExchange(options: ExchangeOptions): Exchange {
  const { url, timeout_ms, answerMax_bytes = answerUsualMax_bytes, line, random } = options;
  const post = createPost(url, answerMax_bytes);

  async function permitFor(cost: number, asking: CallOptions, left_ms: number): Promise<Permit> {
    const patience_ms = Math.max(0, Math.min(asking.patience_ms ?? left_ms, left_ms));
    try {
      return await line.limiter.acquire({ ...asking, cost, patience_ms });
    } catch (error) {
      throw error instanceof QueueFull ? new NoAnswer('limited', error.message) : error;
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
        const permit = await permitFor(request.cost, asking, timeout_ms - (performance.now() - begun_ms));
        const outcome = await post(request.body, end.signal).then(read, broken);
        const { last, again, limited } = outcome;
        if (limited) line.limiter.refused(permit, limited.retryAfter_ms);
        else if (!(last instanceof NoAnswer)) line.limiter.taken(permit);
        if (again === undefined || tries[again] === againMost[again]) return settled(last);
        // The limiter waits after too many calls.
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

function broken(error: unknown): RpcOutcome<never> {
  if (!(error instanceof AnswerTooLarge)) return { last: unanswered(), again: 'passes' };
  // An error page of this length contains nothing useful.
  const isAnswer = error.status >= 200 && error.status < 300;
  const kind = isAnswer ? 'tooLarge' : 'unreachable';
  return { last: new NoAnswer(kind, isAnswer ? error.message : `HTTP ${error.status}`) };
}
