/** JSON-RPC with one node: how it is asked, what its failures are, and readers that take its answers apart. */
import { TransientError } from '../../../commands/ports.ts';
import type { NodeLimits } from './limits.ts';

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
