/** JSON-RPC over several nodes of one chain: time limits, bounded retries, fail-over. Answers of nodes are never mixed in one reading. */
import { TransientError } from '../../../commands/ports.ts';
import { createTransport, NoAnswer, type RpcParams } from './transport.ts';

/** A node gave no usable answer. `refused`: it answered with an error (`code`, `detail`); `unreachable`: no answer in time. */
export class RpcFailed extends TransientError {
  override readonly name = 'RpcFailed';
  readonly kind: 'refused' | 'unreachable' | 'malformed';
  readonly code: number | undefined;
  readonly detail: string;
  constructor(node: string, method: string, kind: RpcFailed['kind'], detail: string, code?: number) {
    super(`${node}: ${method} ${kind}: ${detail}`);
    this.kind = kind;
    this.code = code;
    this.detail = detail;
  }
}

/** No node of the chain could answer. Nothing was changed; try again later. */
export class ChainUnavailable extends TransientError {
  override readonly name = 'ChainUnavailable';
  readonly retryAfter_s = 5;
  /** Of each node that was asked. */
  readonly failures: readonly Error[];
  constructor(chainId: number, failures: readonly Error[]) {
    const reasons = failures.map((failure) => failure.message).join('; ');
    super(`no RPC node of chain ${chainId} can answer; check its RPC URLs (${reasons})`);
    this.failures = failures;
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
 * The nodes of one chain. A reading makes all its calls to the one node that it is handed. Without a signal, only the time limit of each
 * call ends it.
 */
export interface ChainRpc {
  readonly chainId: number;
  /** In the order of the configuration. */
  readonly nodes: readonly Connection[];
  /**
   * Asks one node after the other, the last good one first, until one gives an answer other than undefined.
   * @returns undefined when those that could answer had nothing
   * @throws ChainUnavailable when none could
   */
  first<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal?: AbortSignal): Promise<T | undefined>;
  /** Like `first`, where nothing is no answer either. @throws ChainUnavailable when no node has one */
  answer<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal?: AbortSignal): Promise<T>;
  /** Asks all nodes at once. @returns the answers of those that could @throws ChainUnavailable when none could */
  every<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal): Promise<readonly T[]>;
  /** Asks all nodes at once. @returns what came of each, in the order of the configuration */
  each<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal): Promise<readonly PromiseSettledResult<T>[]>;
}

export interface ChainRpcOptions {
  readonly chainId: number;
  /** In order of preference. They may hold API keys and are never logged. */
  readonly rpcUrls: readonly string[];
  /** For one call, its retries included. */
  readonly callTimeout_ms: number;
  /** Asked once of each node before anything else. @throws RpcFailed when it serves another chain or lacks what is needed */
  readonly verify: (node: ChainNode) => Promise<void>;
}

export function createChainRpc({ chainId, rpcUrls, callTimeout_ms, verify }: ChainRpcOptions): ChainRpc {
  const connections = rpcUrls.map((url, at) => connect(url, at + 1, callTimeout_ms, verify));
  let preferred = 0;

  async function first<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal?: AbortSignal) {
    const failures: Error[] = [];
    const order = connections.map((_, at) => (preferred + at) % connections.length);
    for (const at of order) {
      signal?.throwIfAborted();
      const connection = connections[at];
      if (!connection) continue;
      try {
        const answer = await ask(connection(signal));
        if (answer === undefined) continue;
        preferred = at;
        return answer;
      } catch (error) {
        if (!(error instanceof RpcFailed)) throw error;
        failures.push(error);
      }
    }
    signal?.throwIfAborted();
    if (failures.length === connections.length) throw new ChainUnavailable(chainId, failures);
    return undefined;
  }

  async function each<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal) {
    const outcomes = await Promise.allSettled(connections.map((connection) => ask(connection(signal))));
    signal?.throwIfAborted();
    const unexpected = outcomes.find((o) => o.status === 'rejected' && !(o.reason instanceof RpcFailed));
    if (unexpected?.status === 'rejected') throw unexpected.reason;
    return outcomes;
  }

  return {
    chainId,
    nodes: connections,
    first,
    each,
    async answer(ask, signal) {
      const found = await first(ask, signal);
      if (found === undefined) throw new ChainUnavailable(chainId, []);
      return found;
    },
    async every(ask, signal) {
      const outcomes = await each(ask, signal);
      const answers = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
      if (answers.length > 0) return answers;
      throw new ChainUnavailable(
        chainId,
        outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason as Error] : [])),
      );
    },
  };
}

/** @returns the node for a reading that ends with the signal */
export type Connection = (signal?: AbortSignal) => ChainNode;

function connect(url: string, number: number, timeout_ms: number, verify: ChainRpcOptions['verify']): Connection {
  const transport = createTransport(url, timeout_ms);
  const name = `node ${number} (${new URL(url).host})`;
  let verified = false;

  async function call(method: string, params: RpcParams, signal?: AbortSignal): Promise<unknown> {
    const { result, error } = await transport(method, params, signal).catch((failure: unknown) => {
      throw failure instanceof NoAnswer ? new RpcFailed(name, method, 'unreachable', failure.message) : failure;
    });
    if (error) throw new RpcFailed(name, method, 'refused', String(error.message), error.code);
    return result;
  }

  return (signal) => ({
    name,
    async request(method, params) {
      if (!verified) {
        await verify({ name, request: (asked, withParams) => call(asked, withParams, signal) });
        verified = true;
      }
      return call(method, params, signal);
    },
  });
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
