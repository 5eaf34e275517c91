/** Calls of one node over HTTP connections that are kept open: time limits, and bounded retries. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';
import type { RpcParams } from './jsonRpc.ts';

const retries = 2;
const retryPause_ms = 150;
const answerUsualMax_bytes = 10 * 1024 * 1024;
const socketsMax = 16;

/** The node gave no answer that JSON-RPC knows. Its message names neither URL nor body. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  /** Whether the same call may succeed soon. */
  readonly passes: boolean;
  /** What the node asked for, by the header Retry-After. */
  readonly retryAfter_ms: number | undefined;
  constructor(detail: string, passes: boolean, retryAfter_ms?: number) {
    super(detail);
    this.passes = passes;
    this.retryAfter_ms = retryAfter_ms;
  }
}

/** The node answered well, with more than there is room for. */
export class AnswerTooLarge extends NoAnswer {
  constructor(max_bytes: number) {
    super(`the answer is larger than ${max_bytes} bytes`, false);
  }
}

/** What the node answered; `error` is its own refusal. */
export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string };
}

/** @throws NoAnswer; what the signal was aborted with */
export type Call = (method: string, params: RpcParams, signal?: AbortSignal) => Promise<RpcAnswer>;

/**
 * @param timeout_ms for one call, body and retries included
 * @param answerMax_bytes what is longer is not read to its end
 */
export function createTransport(url: string, timeout_ms: number, answerMax_bytes = answerUsualMax_bytes): Call {
  const target = new URL(url);
  const { Agent, request } = target.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax, maxFreeSockets: socketsMax });
  let calls = 0;

  const options = { ...urlToHttpOptions(target), method: 'POST', agent };

  /** The request is cut by hand: a signal of its own, and a stream read by `for await`, would cost a third more. */
  const once = (body: string, signal: AbortSignal): Promise<RpcAnswer> =>
    new Promise<RpcAnswer>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'accept-encoding': 'gzip',
      };
      const asked = request({ ...options, headers });
      const cut = () => void asked.destroy(new Error('the call was ended'));
      signal.addEventListener('abort', cut, { once: true });
      asked
        .once('response', (response) => {
          textOf(response, answerMax_bytes)
            .then((text) => answerOf(response, text))
            .then(resolve, reject);
        })
        .on('error', reject)
        .once('close', () => signal.removeEventListener('abort', cut))
        .end(body);
      if (signal.aborted) cut();
    });

  return async (method, params, signal) => {
    signal?.throwIfAborted();
    calls += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: calls, method, params });
    const limit = new AbortController();
    const stop = () => limit.abort();
    const timer = setTimeout(stop, timeout_ms);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      for (let tries = 0; ; tries += 1) {
        const answer = await once(body, limit.signal).catch(noAnswer);
        if (tries === retries || !passes(answer)) {
          if (answer instanceof NoAnswer) throw answer;
          return answer;
        }
        await sleep(pause_ms(answer, tries), undefined, { signal: limit.signal });
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw noAnswer(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  };
}

/** Refusals that pass: an internal error (-32603), and limits as providers spell them. */
const passingCodes: ReadonlySet<number> = new Set([-1, -32603, -32005, -32007, 429]);
const passingStatuses: ReadonlySet<number> = new Set([403, 408, 413, 429, 500, 502, 503, 504]);

const passes = (answer: RpcAnswer | NoAnswer): boolean =>
  answer instanceof NoAnswer ? answer.passes : passingCodes.has(answer.error?.code ?? 0);

const pause_ms = (answer: RpcAnswer | NoAnswer, tries: number): number =>
  (answer instanceof NoAnswer ? answer.retryAfter_ms : undefined) ?? retryPause_ms * 2 ** tries;

const noAnswer = (error: unknown): NoAnswer =>
  error instanceof NoAnswer ? error : new NoAnswer('connection failed or timed out', true);

const textOf = (response: IncomingMessage, max_bytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const stream = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response;
    // A body that breaks off ends the unpacked stream as well.
    if (stream !== response) response.once('error', (error) => stream.destroy(error));
    const chunks: Buffer[] = [];
    let bytes = 0;
    stream
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= max_bytes) return void chunks.push(chunk);
        reject(isGood(response) ? new AnswerTooLarge(max_bytes) : new NoAnswer(`HTTP ${response.statusCode}`, false));
        response.destroy();
      })
      .once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      .on('error', reject)
      .once('close', () => reject(new Error('the answer breaks off')));
  });

const isGood = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

/** A status of failure may carry an error of JSON-RPC, which says more. */
function answerOf(response: IncomingMessage, text: string): RpcAnswer {
  const { statusCode = 0, headers } = response;
  const answer = parsed(text);
  const ok = isGood(response);
  if (ok && answer) return answer;
  if (typeof answer?.error?.code === 'number' && typeof answer.error.message === 'string') return answer;
  const after_s = Number.parseInt(headers['retry-after'] ?? '', 10);
  const retryAfter_ms = after_s >= 0 ? after_s * 1_000 : undefined;
  throw new NoAnswer(ok ? 'no JSON' : `HTTP ${statusCode}`, ok || passingStatuses.has(statusCode), retryAfter_ms);
}

function parsed(text: string): RpcAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
