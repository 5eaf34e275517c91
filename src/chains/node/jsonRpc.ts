/** JSON-RPC with one node, over HTTP connections that are kept open: time limits, bounded retries, and answers that are read on the spot. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';
import { TransientError } from '../../../commands/ports.ts';

/**
 * A node gave no usable answer. `refused`: it answered with an error (`code`, `detail`); `unreachable`: no answer in time; `tooLarge`:
 * more than there is room for.
 */
export class RpcFailed extends TransientError {
  override readonly name = 'RpcFailed';
  readonly kind: 'refused' | 'unreachable' | 'malformed' | 'tooLarge';
  readonly code: number | undefined;
  readonly detail: string;
  constructor(node: string, method: string, kind: RpcFailed['kind'], detail: string, code?: number) {
    super(`${node}: ${method} ${kind}: ${detail}`);
    this.kind = kind;
    this.code = code;
    this.detail = detail;
  }
}

/** A node as one reading sees it: its calls end when the reading is aborted. */
export interface ChainNode {
  /** Host and number in the configuration; the URL itself may hold a key. */
  readonly name: string;
  /** @throws RpcFailed */
  request(method: string, params: RpcParams): Promise<unknown>;
}

/**
 * Calls a node and reads its answer on the spot. The readers of JSON below know neither node nor method: they complain by throwing,
 * and `ask` says whose answer it was.
 *
 * @param read takes the answer apart; what it throws makes the answer malformed, unless it is an RpcFailed of its own
 * @throws RpcFailed
 */
export async function ask<T>(
  node: ChainNode,
  method: string,
  params: RpcParams,
  read: (answer: unknown) => T,
): Promise<T> {
  const answer = await node.request(method, params);
  try {
    return read(answer);
  } catch (error) {
    if (error instanceof RpcFailed) throw error;
    const detail = error instanceof Error ? error.message : 'unreadable answer';
    throw new RpcFailed(node.name, method, 'malformed', detail);
  }
}

export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new Error('expected an object');
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error('expected a list');
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error('expected a text');
}

/** A whole number that is not negative, as JSON has it or as decimal digits: up to 64 bits. */
export function whole(value: unknown): bigint {
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits === 'string' && /^\d{1,20}$/.test(digits)) return BigInt(digits);
  throw new Error(`expected a whole number, not ${String(digits).slice(0, 40)}`);
}

/** Undefined for what is null or missing. */
export const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null || value === undefined ? undefined : read(value);

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

export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>>;

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
