/** JSON-RPC with one node: how it is asked, what its failures are, and readers that take its answers apart. */
import { TransientError } from '../../../commands/ports.ts';
import type { Reply } from './http.ts';
import type { NodeLimits } from './limiter.ts';

/**
 * A node gave no usable answer. `refused`: it answered with an error (`code`, `detail`); `limited`: it takes no more calls at present;
 * `unreachable`: no answer in time; `malformed`: an answer that makes no sense; `tooLarge`: more than there is room for; `unfit`: it
 * serves another chain, or lacks what is needed for ever.
 */
export class RpcFailed extends TransientError {
  override readonly name = 'RpcFailed';
  readonly node: string;
  readonly method: string;
  readonly kind: 'refused' | 'limited' | 'unreachable' | 'malformed' | 'tooLarge' | 'unfit';
  readonly code: number | undefined;
  readonly detail: string;
  constructor(node: string, method: string, kind: RpcFailed['kind'], detail: string, code?: number) {
    super(`${node}: ${method} ${kind}: ${detail}`);
    this.node = node;
    this.method = method;
    this.kind = kind;
    this.code = code;
    this.detail = detail;
  }
}

export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>>;

export interface RpcCall {
  readonly method: string;
  readonly params: RpcParams;
}

/**
 * Returns a request as it is sent. Empty params are omitted (JSON-RPC 2.0, section 4.2): stellar-rpc up to version 24 refuses them for
 * methods without parameters.
 */
export function wireRequest(id: number, { method, params }: RpcCall): object {
  const hasParams = Object.keys(params).length > 0;
  return { jsonrpc: '2.0', id, method, ...(hasParams && { params }) };
}

/** What became of one call of several. */
export type Answered = { readonly value: unknown } | { readonly failure: RpcFailed };

export interface BatchHow {
  /**
   * All answers are of one request, so that they come from one of the nodes that may stand behind an address. What is left out or may
   * pass is asked for again with all the others; where the node does not take so many in a request, each is refused.
   */
  readonly together?: boolean;
}

/** A node as one reading sees it: its calls end when the reading is aborted. */
export interface ChainNode {
  /** Host and number in the configuration; the URL itself may hold a key. */
  readonly name: string;
  /** What it takes in one call at most. */
  readonly limits: NodeLimits;
  /** @throws RpcFailed */
  request(method: string, params: RpcParams): Promise<unknown>;
  /**
   * Several calls, in one request where the node takes that.
   * @returns for each call, in order, a value or the node's own refusal of it
   * @throws RpcFailed when the node gives no usable answer at all
   */
  batch(calls: readonly RpcCall[], how?: BatchHow): Promise<readonly Answered[]>;
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
  return readBy(node, method, await node.request(method, params), read);
}

/**
 * Like `ask`, many times over, in as few requests as the node takes.
 * @returns what `read` makes of each answer, in the order of `manyParams`
 * @throws RpcFailed when one of the calls fails
 */
export async function askEach<T>(
  node: ChainNode,
  method: string,
  manyParams: readonly RpcParams[],
  read: (answer: unknown, index: number) => T,
  how: BatchHow = {},
): Promise<readonly T[]> {
  const calls = manyParams.map((params) => ({ method, params }));
  const answers = await node.batch(calls, how);
  return answers.map((answer, index) => {
    if ('failure' in answer) throw answer.failure;
    return readBy(node, method, answer.value, (value) => read(value, index));
  });
}

/** Takes one answer of a batch apart, as `ask` does. @throws RpcFailed */
export function readBy<T>(node: ChainNode, method: string, answer: unknown, read: (answer: unknown) => T): T {
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

/** The last second of the year 9999: later ones have another spelling, which does not sort with the others. */
const secondsMost = 253_402_300_799n;

/** A time in Unix seconds. */
export function seconds(value: bigint): number {
  if (value <= secondsMost) return Number(value);
  throw new Error(`expected a time in seconds, not ${value}`.slice(0, 80));
}

/** Undefined for what is null or missing. */
export const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null || value === undefined ? undefined : read(value);

/** What nodes mean by their refusals. Codes are used for one thing here and another there, so the words decide where there are any. */

/** A node's own refusal of a call. */
export interface Refusal {
  readonly code: number | undefined;
  readonly message: string;
  /** The message, and what more it says as text. */
  readonly words: string;
}

/**
 * `limited`: too many calls at present. `lags`: what was asked for is there soon, or at another of the nodes behind the same address.
 * `passes`: it may go well soon. `final`: it stays so.
 */
export type Meaning = 'limited' | 'lags' | 'passes' | 'final';

/** EIP-1474 has -32005 for limits of any kind; Alchemy says 429, Base -32016, QuickNode -32007, others as here. */
const limitCodes: ReadonlySet<number> = new Set([429, -32005, -32029, -32090, -32605]);
const limitWords =
  /rate.?limit|rate exceeded|too many requests?\b|requests? limit|limited to \d+ ?(requests|\/)|capacity|rps limit|per second|the quota|too much load/i;
/** Limits of one call, which fewer calls do not help. */
const sizeWords =
  /range|returned more than|too many (results|inputs|logs)|max(imum)? results|response (size|too large)|number of address|\bbatch/i;
/** A node that says so may mean either: the same code and words stand for a method that is switched off (bsc-dataseed). */
const eitherWords = /^limit exceeded$/i;

/**
 * Solana: block not available -32004, behind -32005, status not yet there -32014. Context slots are its own family's matter. Geth up to
 * 1.16 answers "invalid block range params" to a range that ends above its newest block.
 */
const lagWords =
  /block status not yet|block not available for slot|node is (behind|unhealthy)|(unknown|missing) block|header( for hash)? not found|beyond (the )?current head|invalid block range params|^block not found/i;

/** An internal error, as JSON-RPC has it and as some spell it. */
const passingCodes: ReadonlySet<number> = new Set([-1, -32603]);

export function meaningOf({ code = 0, words }: Refusal): Meaning {
  if (lagWords.test(words)) return 'lags';
  const isSize = sizeWords.test(words) && code !== 429;
  if (!isSize && (limitCodes.has(code) || limitWords.test(words))) return 'limited';
  return passingCodes.has(code) ? 'passes' : 'final';
}

/** Whether the words may also say that the method is switched off. */
export const maySwitchedOff = ({ words }: Pick<Refusal, 'words'>): boolean => eitherWords.test(words);

const offWords =
  /(method|eth_\w+).*(not (supported|found|available|allowed|whitelisted|enabled)|disabled|does not exist|unsupported)|unsupported method|not included in your/i;

/** Whether the node never serves the method. */
export const isSwitchedOff = ({ code, words }: Pick<Refusal, 'code' | 'words'>): boolean =>
  code === -32601 || offWords.test(words);

/**
 * How many calls, blocks or accounts a node takes at most, where its refusal says so.
 * "maximum 10 calls in 1 batch", "limited to a 10,000 range", "up to a 2K block range", "Too many inputs provided; max 5",
 * "range 1000000 exceeds limit of 10000", "block range = 5120, max block range = 5000".
 */
export function mostSaid(words: string): number | undefined {
  if (/returned more than|results/i.test(words)) return undefined;
  const said =
    /(?:\bmax(?:imum)?\b[a-z ]*|up to an?|limit(?:ed)?(?: to| of)?(?: an?)?|ranges over|more than)(?: 0 -|[ :=])*(\d[\d,_]*)(k?)\b/i;
  const [, digits, thousands] = said.exec(words) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(digits.replaceAll(/[,_]/g, '')) * (thousands ? 1_000 : 1);
  return number > 0 && Number.isSafeInteger(number) ? number : undefined;
}

/**
 * What a node asks to wait before the next call.
 * @param headers of HTTP, in lower case: Retry-After has seconds or a date (RFC 9110, 10.2.3), which its own clock measures
 */
export function retryAfter_ms(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  words: string,
): number | undefined {
  const header = headers['retry-after'];
  if (typeof header === 'string') {
    if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1_000;
    const wait_ms = Date.parse(header) - Date.parse(String(headers['date']));
    if (Number.isFinite(wait_ms)) return Math.max(0, wait_ms);
  }
  const [, count, unit] = /(?:retry|again) (?:in|after) (\d+(?:\.\d+)?) ?(m?s)/i.exec(words) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === 'ms' ? 1 : 1_000);
}

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

/** Kinds of calls, and what they count for where a node takes only so many: providers ask about three times as much for a search. */

export type MethodKind = 'search' | 'send' | 'read';

/** Logs, events, histories of accounts. */
const searches: ReadonlySet<string> = new Set([
  'eth_getLogs',
  'getEvents',
  'getTransactions',
  'getSignaturesForAddress',
]);
const sends: ReadonlySet<string> = new Set(['eth_sendRawTransaction', 'sendTransaction']);

export function kindOf(method: string): MethodKind {
  if (searches.has(method)) return 'search';
  return sends.has(method) ? 'send' : 'read';
}

/** In usual calls. Alchemy: 60 units for eth_getLogs, 20 for a block or a receipt; Infura: 255 and 80. */
export const costOf = (method: string): number => (searches.has(method) ? 3 : 1);
