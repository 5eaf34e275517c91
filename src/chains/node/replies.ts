/** What came back for a request: an answer, a refusal, or nothing that JSON-RPC knows. */

import type { Reply } from './http.ts';
import type { RpcFailed } from './jsonRpc.ts';
import { type Meaning, meaningOf, type Refusal, retryAfter_ms } from './refusals.ts';

/** The node gave no answer that JSON-RPC knows. Its message names neither URL nor body. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly kind: Exclude<RpcFailed['kind'], 'refused' | 'unfit'>;
  /** Where the node said in JSON-RPC why it takes no calls. */
  readonly refusal: Refusal | undefined;
  constructor(kind: NoAnswer['kind'], detail: string, refusal?: Refusal) {
    super(detail);
    this.kind = kind;
    this.refusal = refusal;
  }
}

/** What the node answered, or its own refusal. */
export type RpcAnswer = { readonly value: unknown } | { readonly refusal: Refusal };

export interface Outcome<T> {
  readonly last: T | NoAnswer;
  /** Why the same may go better; left out when it stays so. */
  readonly again?: Exclude<Meaning, 'final'> | undefined;
  /** Some of it was refused for too many calls. */
  readonly limited?: { readonly retryAfter_ms: number | undefined } | undefined;
}

/** Cloudflare and others say 403 for a while to whom they take for a robot. */
const passingStatuses: ReadonlySet<number> = new Set([403, 408, 425, 500, 502, 503, 504]);
/** Payment required: a plan that is used up. */
const limitedStatuses: ReadonlySet<number> = new Set([402, 429]);

export const isGood = ({ status }: Pick<Reply, 'status'>): boolean => status >= 200 && status < 300;

/** A status of failure may carry an error of JSON-RPC, which says more. */
export function readReply(reply: Reply): Outcome<RpcAnswer> {
  const json = parsed(reply.text);
  const error = refusalIn(json);
  if (limitedStatuses.has(reply.status)) {
    const said = error?.message ?? `HTTP ${reply.status}`;
    return tooMany(new NoAnswer('limited', said, error), retryAfter_ms(reply.headers, error?.words ?? ''));
  }
  // Without a code it is the words of a gateway, in which a limit may be told all the same.
  const isAnswer = error && (error.code !== undefined || meaningOf(error) === 'limited');
  if (isAnswer || isGood(reply)) return readAnswer(json, reply);
  const last = new NoAnswer('unreachable', `HTTP ${reply.status}`);
  return { last, ...(passingStatuses.has(reply.status) && { again: 'passes' }) };
}

/** @param json one answer, of its own or out of several */
export function readAnswer(json: unknown, { headers }: Pick<Reply, 'headers'>): Outcome<RpcAnswer> {
  const refusal = refusalIn(json);
  if (refusal) {
    const meaning = meaningOf(refusal);
    if (meaning === 'final') return { last: { refusal } };
    if (meaning !== 'limited') return { last: { refusal }, again: meaning };
    return tooMany(new NoAnswer('limited', refusal.message, refusal), retryAfter_ms(headers, refusal.words));
  }
  if (!isObject(json)) return { last: new NoAnswer('malformed', 'no JSON'), again: 'passes' };
  if (json['result'] === undefined) {
    return { last: new NoAnswer('malformed', 'neither a result nor an error'), again: 'passes' };
  }
  return { last: { value: json['result'] } };
}

const tooMany = (last: NoAnswer, wait_ms: number | undefined): Outcome<never> => ({
  last,
  again: 'limited',
  limited: { retryAfter_ms: wait_ms },
});

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Longest text of a node that is kept. */
const wordsMax = 500;

/** The error of an answer, with what some say as text or as digits only. */
export function refusalIn(json: unknown): Refusal | undefined {
  const error = isObject(json) ? json['error'] : undefined;
  if (typeof error === 'string') return { code: undefined, message: cut(error), words: cut(error) };
  if (!isObject(error)) return undefined;
  const { code, message, data } = error;
  const text = typeof message === 'string' ? message : 'no reason given';
  return {
    code: /^-?\d{1,9}$/.test(String(code)) ? Number(code) : undefined,
    message: cut(text),
    words: cut(`${text} ${moreOf(data)}`.trim()),
  };
}

/** Some keep the reason in `data`; what a reverted call returned is none. */
function moreOf(data: unknown): string {
  if (typeof data === 'string') return data.startsWith('0x') ? '' : data;
  return isObject(data) && typeof data['payload'] === 'string' ? data['payload'] : '';
}

const cut = (text: string): string => text.slice(0, wordsMax);
