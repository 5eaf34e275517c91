/** JSON-RPC with one node: requests, failures, and readers of answers. */
import { TransientError } from '../../../commands/ports.ts';
import type { Reply } from './http.ts';
import type { NodeLimits } from './limiter.ts';

/**
 * A node gave no usable answer. `refused`: it answered with an error (`code`, `detail`); `limited`: too many calls at present;
 * `unreachable`: no answer in time; `malformed`: an invalid answer; `tooLarge`: above the size limit; `unfit`: it serves another chain, or
 * permanently lacks a required method.
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

/** Outcome of one of several calls. */
export type Answered = { readonly value: unknown } | { readonly failure: RpcFailed };

export interface BatchHow {
  /**
   * All answers come from one request, so from one of the nodes behind an address. If an answer is missing or fails transiently, all calls
   * are repeated; if the node refuses that many in a request, each is refused.
   */
  readonly together?: boolean;
}

/** A node for one read: its calls end when the read is aborted. */
export interface ChainNode {
  /** Host and number in the configuration; the URL itself may contain a key. */
  readonly name: string;
  /** Maximum size of one call. */
  readonly limits: NodeLimits;
  /** @throws RpcFailed */
  request(method: string, params: RpcParams): Promise<unknown>;
  /**
   * Several calls, in one request if the node accepts that.
   * @returns for each call, in order, a value or the node's own refusal of it
   * @throws RpcFailed if the node gives no usable answer at all
   */
  batch(calls: readonly RpcCall[], how?: BatchHow): Promise<readonly Answered[]>;
}

/**
 * Calls a node and parses its answer. The JSON readers below know neither node nor method: they throw, and `ask` adds whose answer it was.
 *
 * @param read parses the answer; any error makes the answer malformed, except an RpcFailed
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
 * Like `ask` for many parameters, in as few requests as the node accepts.
 * @returns results of `read`, in the order of `manyParams`
 * @throws RpcFailed if one of the calls fails
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

/** Parses one answer of a batch, as `ask` does. @throws RpcFailed */
export function readBy<T>(node: ChainNode, method: string, answer: unknown, read: (answer: unknown) => T): T {
  try {
    return read(answer);
  } catch (error) {
    if (error instanceof RpcFailed) throw error;
    const detail = error instanceof Error ? error.message : 'unreadable answer';
    throw new RpcFailed(node.name, method, 'malformed', detail);
  }
}

export type RpcJson = Readonly<Record<string, unknown>>;

export function object(value: unknown): RpcJson {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RpcJson;
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

/** A non-negative integer up to 64 bits, as a JSON number or decimal digits. */
export function whole(value: unknown): bigint {
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits === 'string' && /^\d{1,20}$/.test(digits)) return BigInt(digits);
  throw new Error(`expected a whole number, not ${String(digits).slice(0, 40)}`);
}

/** Last second of the year 9999: later times have a longer form, which does not sort as text. */
const secondsMost = 253_402_300_799n;

/** A time in Unix seconds. */
export function seconds(value: bigint): number {
  if (value <= secondsMost) return Number(value);
  throw new Error(`expected a time in seconds, not ${value}`.slice(0, 80));
}

/** Undefined for null or missing. */
export const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null || value === undefined ? undefined : read(value);

/** Classifies nodes' refusals. Codes differ between providers, so the text decides if there is one. */

/** A node's own refusal of a call. */
export interface NodeRefusal {
  readonly code: number | undefined;
  readonly message: string;
  /** The message, plus any further text. */
  readonly words: string;
}

/**
 * `limited`: too many calls at present. `lags`: the data appears soon, or at another node behind the same address. `passes`: may succeed
 * soon. `final`: permanent.
 */
export type Meaning = 'limited' | 'lags' | 'passes' | 'final';

/** EIP-1474 has -32005 for limits of any kind; Alchemy uses 429, Base -32016, QuickNode -32007, others as listed. */
const limitCodes: ReadonlySet<number> = new Set([429, -32005, -32029, -32090, -32605]);
const limitWords =
  /rate.?limit|rate exceeded|too many requests?\b|requests? limit|limited to \d+ ?(requests|\/)|capacity|rps limit|per second|the quota|too much load/i;
/** Limits on the size of one call, which fewer calls do not help. */
const sizeWords =
  /range|returned more than|too many (results|inputs|logs)|max(imum)? results|response (size|too large)|number of address|\bbatch/i;
/** Ambiguous: the same code and text also mean a disabled method (bsc-dataseed). */
const eitherWords = /^limit exceeded$/i;

/**
 * Solana: block not available -32004, behind -32005, status not yet available -32014. Context slots are handled in the family. Geth up to
 * 1.16 answers "invalid block range params" to a range that ends above its newest block.
 */
const lagWords =
  /block status not yet|block not available for slot|node is (behind|unhealthy)|(unknown|missing) block|header( for hash)? not found|beyond (the )?current head|invalid block range params|^block not found/i;

/** An internal error, in JSON-RPC's code and a common variant. */
const passingCodes: ReadonlySet<number> = new Set([-1, -32603]);

export function meaningOf({ code = 0, words }: NodeRefusal): Meaning {
  if (lagWords.test(words)) return 'lags';
  const isSize = sizeWords.test(words) && code !== 429;
  if (!isSize && (limitCodes.has(code) || limitWords.test(words))) return 'limited';
  return passingCodes.has(code) ? 'passes' : 'final';
}

/** True if the text may also mean a disabled method. */
export const maySwitchedOff = ({ words }: Pick<NodeRefusal, 'words'>): boolean => eitherWords.test(words);

const offWords =
  /(method|eth_\w+).*(not (supported|found|available|allowed|whitelisted|enabled)|disabled|does not exist|unsupported)|unsupported method|not included in your/i;

/** True if the node never serves the method. */
export const isSwitchedOff = ({ code, words }: Pick<NodeRefusal, 'code' | 'words'>): boolean =>
  code === -32601 || offWords.test(words);

/**
 * Maximum calls, blocks or accounts of a node, if its refusal states it. "maximum 10 calls in 1 batch", "limited to a 10,000 range", "up to
 * a 2K block range", "Too many inputs provided; max 5", "range 1000000 exceeds limit of 10000", "block range = 5120, max block range =
 * 5000".
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
 * Wait that a node requests before the next call.
 * @param headers of HTTP, in lower case: Retry-After has seconds or a date (RFC 9110, 10.2.3), relative to the node's own clock
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

/** The node gave no valid JSON-RPC answer. The message contains neither URL nor body. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly kind: Exclude<RpcFailed['kind'], 'refused' | 'unfit'>;
  /** Set if the node gave the reason in JSON-RPC. */
  readonly refusal: NodeRefusal | undefined;
  constructor(kind: NoAnswer['kind'], detail: string, refusal?: NodeRefusal) {
    super(detail);
    this.kind = kind;
    this.refusal = refusal;
  }
}

/** The node's answer, or its refusal. */
export type RpcAnswer = { readonly value: unknown } | { readonly refusal: NodeRefusal };

export interface RpcOutcome<T> {
  readonly last: T | NoAnswer;
  /** Reason why a repetition may succeed; omitted if it cannot. */
  readonly again?: Exclude<Meaning, 'final'> | undefined;
  /** Some calls were refused because there were too many. */
  readonly limited?: { readonly retryAfter_ms: number | undefined } | undefined;
}

/** Cloudflare and others temporarily return 403 to suspected robots. */
const passingStatuses: ReadonlySet<number> = new Set([403, 408, 425, 500, 502, 503, 504]);
/** 402, payment required: an exhausted plan. */
const limitedStatuses: ReadonlySet<number> = new Set([402, 429]);

export const isGood = ({ status }: Pick<Reply, 'status'>): boolean => status >= 200 && status < 300;

/** A failure status may carry a JSON-RPC error with more details. */
export function readReply(reply: Reply): RpcOutcome<RpcAnswer> {
  const json = parsed(reply.text);
  const error = refusalIn(json);
  if (limitedStatuses.has(reply.status)) {
    const said = error?.message ?? `HTTP ${reply.status}`;
    return tooMany(new NoAnswer('limited', said, error), retryAfter_ms(reply.headers, error?.words ?? ''));
  }
  // Without a code it is a gateway's text, which may still report a limit.
  const isAnswer = error && (error.code !== undefined || meaningOf(error) === 'limited');
  if (isAnswer || isGood(reply)) return readAnswer(json, reply);
  const last = new NoAnswer('unreachable', `HTTP ${reply.status}`);
  return { last, ...(passingStatuses.has(reply.status) && { again: 'passes' }) };
}

/** @param json one answer, alone or from a batch */
export function readAnswer(json: unknown, { headers }: Pick<Reply, 'headers'>): RpcOutcome<RpcAnswer> {
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

const tooMany = (last: NoAnswer, wait_ms: number | undefined): RpcOutcome<never> => ({
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

/** Maximum stored characters of a node's text. */
const wordsMax = 500;

/** Error of an answer; some nodes return it as text, or its code as digits. */
export function refusalIn(json: unknown): NodeRefusal | undefined {
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

/** Some nodes put the reason into `data`; a reverted call's return value is no reason. */
function moreOf(data: unknown): string {
  if (typeof data === 'string') return data.startsWith('0x') ? '' : data;
  return isObject(data) && typeof data['payload'] === 'string' ? data['payload'] : '';
}

const cut = (text: string): string => text.slice(0, wordsMax);

/** Kinds of calls with their cost under a rate limit: providers charge about three times as much for a search. */

export type MethodKind = 'search' | 'send' | 'read';

/** Logs, events, account histories. */
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
export const methodCost = (method: string): number => (searches.has(method) ? 3 : 1);
