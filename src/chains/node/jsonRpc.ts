/** JSON-RPC over several nodes of one chain: time limits, bounded retries, fail-over. Answers of nodes are never mixed in one reading. */
import { BaseError, http, RpcRequestError } from 'viem';
import { TransientError } from '../../../commands/ports.ts';

const retries = 2;
const retryDelay_ms = 150;

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

export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>>;

export interface ChainNode {
  /** Host and place in the configuration; the URL itself may hold a key. */
  readonly name: string;
  /** @throws RpcFailed */
  request(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown>;
}

export interface ChainRpc {
  readonly chainId: number;
  readonly nodes: readonly ChainNode[];
  /**
   * Asks one node after the other, the last good one first, until one gives an answer other than undefined.
   * A reading that takes several calls does all of them with the node it is handed.
   * @returns undefined when those that could answer had nothing
   * @throws ChainUnavailable when none could
   */
  first<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal: AbortSignal): Promise<T | undefined>;
  /** Asks all nodes at once. @returns the answers of those that could @throws ChainUnavailable when none could */
  every<T>(ask: (node: ChainNode) => Promise<T>, signal: AbortSignal): Promise<readonly T[]>;
}

export interface ChainRpcOptions {
  readonly chainId: number;
  /** In order of preference. They may hold API keys: never logged. */
  readonly rpcUrls: readonly string[];
  /** For one call, its retries included. */
  readonly callTimeout_ms: number;
  /** Asked once of each node before anything else. @throws RpcFailed when it serves another chain or lacks what is needed */
  readonly verify: (node: ChainNode, signal: AbortSignal) => Promise<void>;
}

export function createChainRpc({ chainId, rpcUrls, callTimeout_ms, verify }: ChainRpcOptions): ChainRpc {
  const nodes = rpcUrls.map((url, at) => createNode(url, at + 1, callTimeout_ms, verify));
  let preferred = 0;

  return {
    chainId,
    nodes,
    async first(ask, signal) {
      const failures: Error[] = [];
      const order = nodes.map((_, at) => (preferred + at) % nodes.length);
      for (const at of order) {
        signal.throwIfAborted();
        const node = nodes[at];
        if (!node) continue;
        try {
          const answer = await ask(node);
          if (answer === undefined) continue;
          preferred = at;
          return answer;
        } catch (error) {
          if (!(error instanceof RpcFailed)) throw error;
          failures.push(error);
        }
      }
      signal.throwIfAborted();
      if (failures.length === nodes.length) throw new ChainUnavailable(chainId, failures);
      return undefined;
    },
    async every(ask, signal) {
      const outcomes = await Promise.allSettled(nodes.map(ask));
      signal.throwIfAborted();
      const unexpected = outcomes.find((o) => o.status === 'rejected' && !(o.reason instanceof RpcFailed));
      if (unexpected?.status === 'rejected') throw unexpected.reason;
      const answers = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
      if (answers.length > 0) return answers;
      throw new ChainUnavailable(
        chainId,
        outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason as Error] : [])),
      );
    },
  };
}

function createNode(url: string, place: number, timeout_ms: number, verify: ChainRpcOptions['verify']): ChainNode {
  const transport = http(url, { retryCount: retries, retryDelay: retryDelay_ms, timeout: timeout_ms })({});
  const name = `node ${place} (${new URL(url).host})`;
  let verified = false;

  async function call(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown> {
    // The library's own time limit ends with the answer's headers; this one covers body and retries.
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]);
    try {
      return await transport.request({ method, params } as never, { signal: limited });
    } catch (error) {
      signal.throwIfAborted();
      throw failure(name, method, error);
    }
  }

  return {
    name,
    async request(method, params, signal) {
      if (!verified) {
        await verify({ name, request: call }, signal);
        verified = true;
      }
      return call(method, params, signal);
    },
  };
}

/** The library's error messages quote the URL and the body; ours must not. */
function failure(node: string, method: string, error: unknown): RpcFailed {
  const answer = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : undefined;
  if (answer instanceof RpcRequestError) return new RpcFailed(node, method, 'refused', answer.details, answer.code);
  const detail = error instanceof BaseError ? error.name : 'connection failed or timed out';
  return new RpcFailed(node, method, 'unreachable', detail);
}
