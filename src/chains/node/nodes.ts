/** The nodes of one chain: fail-over from one to the next. Answers of nodes are never mixed in one reading; agreement.ts compares them. */
import { BroadcastRefused } from '../../../commands/payoutPorts.ts';
import { TransientError } from '../../../commands/ports.ts';
import { inParallel } from '../inParallel.ts';
import { type Answered, type ChainNode, type RpcCall, RpcFailed, type RpcParams } from './jsonRpc.ts';
import { AnswerTooLarge, createTransport, NoAnswer } from './transport.ts';

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

/** How many nodes must say the same. */
export interface Agree {
  readonly usual: number;
  /** From `largeFrom_usd` on. With fewer nodes than this, large sums wait. */
  readonly large: number;
  readonly largeFrom_usd: bigint;
}

/** Whose calls a node takes first while it takes fewer than are wanted. Late ones have their turn as well, after a while. */
export type Priority = 'payout' | 'head' | 'late';

/**
 * The nodes of one chain. A reading makes all its calls to the one node that it is handed. Without a signal, only the time limit of each
 * call ends it.
 */
export interface ChainRpc {
  readonly chainId: number;
  /** In the order of the configuration. */
  readonly nodes: readonly Connection[];
  readonly agree: Agree;
  /** The same nodes, with another place among those that wait for them. Without it, calls are as those of the head. */
  as(priority: Priority): ChainRpc;
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
  readonly agree: Agree;
  /** For one call, its retries included. */
  readonly callTimeout_ms: number;
  /** Of one answer; 10 MiB when left out. */
  readonly answerMax_bytes?: number | undefined;
  /** Asked once of each node before anything else. @throws RpcFailed when it serves another chain or lacks what is needed */
  readonly verify: (node: ChainNode) => Promise<void>;
}

export function createChainRpc(options: ChainRpcOptions): ChainRpc {
  const { chainId, rpcUrls, agree } = options;
  const connections = rpcUrls.map((url, at) => connect(url, at + 1, options));
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

  const rpc: ChainRpc = {
    chainId,
    nodes: connections,
    agree,
    as: () => rpc,
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
  return rpc;
}

/** @returns the node for a reading that ends with the signal */
export type Connection = (signal?: AbortSignal) => ChainNode;

/** Calls of a batch that are under way at a time, where the node takes one call only. */
const callsAtOnce = 8;

function connect(
  url: string,
  number: number,
  { callTimeout_ms, answerMax_bytes, verify }: ChainRpcOptions,
): Connection {
  const transport = createTransport(url, callTimeout_ms, answerMax_bytes);
  const name = `node ${number} (${new URL(url).host})`;
  let verified = false;

  async function call(method: string, params: RpcParams, signal?: AbortSignal): Promise<unknown> {
    const { result, error } = await transport(method, params, signal).catch((failure: unknown) => {
      if (!(failure instanceof NoAnswer)) throw failure;
      const kind = failure instanceof AnswerTooLarge ? 'tooLarge' : 'unreachable';
      throw new RpcFailed(name, method, kind, failure.message);
    });
    if (error) throw new RpcFailed(name, method, 'refused', String(error.message), error.code);
    return result;
  }

  async function answered({ method, params }: RpcCall, signal?: AbortSignal): Promise<Answered> {
    try {
      return { value: await call(method, params, signal) };
    } catch (error) {
      if (error instanceof RpcFailed && error.kind === 'refused') return { failure: error };
      throw error;
    }
  }

  const nodeFor = (signal?: AbortSignal): ChainNode => ({
    name,
    request: (method, params) => call(method, params, signal),
    batch: (calls) => inParallel(calls, callsAtOnce, (asked) => answered(asked, signal)),
  });

  async function verifyOnce(signal?: AbortSignal): Promise<void> {
    if (verified) return;
    await verify(nodeFor(signal));
    verified = true;
  }

  return (signal) => {
    const node = nodeFor(signal);
    return {
      name,
      async request(method, params) {
        await verifyOnce(signal);
        return node.request(method, params);
      },
      async batch(calls) {
        await verifyOnce(signal);
        return node.batch(calls);
      },
    };
  };
}

/**
 * Sends to every node at once; one that takes the bytes, or has them, is enough. Each call has its own time limit.
 * @param send resolves when the node takes or has them, throws RpcFailed when it does not
 * @throws ChainUnavailable when no node answers, BroadcastRefused when those that answer refuse; sending again later is safe
 */
export async function sendToAll(rpc: ChainRpc, send: (node: ChainNode) => Promise<void>): Promise<void> {
  const outcomes = await rpc.each(send);
  if (outcomes.some(({ status }) => status === 'fulfilled')) return;
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as RpcFailed] : []));
  const refusals = failures.filter(({ kind }) => kind === 'refused');
  if (refusals.length === 0) throw new ChainUnavailable(rpc.chainId, failures);
  throw new BroadcastRefused(
    `chain ${rpc.chainId} refuses the transaction: ${refusals.map(({ message }) => message).join('; ')}`,
    refusals.map(({ detail }) => detail),
  );
}
