/** Nodes of one chain, with fail-over from one to the next. One read never mixes answers of several nodes; agreement.ts compares them. */
import { TransientError } from '../../../commands/ports.ts';
import { BroadcastRefused } from '../../../commands/transferPorts.ts';
import { type ConnectOptions, connect, type NodeConnection } from './connection.ts';
import { type ChainNode, RpcFailed } from './jsonRpc.ts';
import type { Priority, Ticker } from './limiter.ts';
import { createLines, type NodeLines } from './lines.ts';

/** Maximum wait for the others after the first answer, if their answers are optional. */
const others_ms = 1_000;

/** Answers that arrive within 1 s of the first one. Rethrows anything but RpcFailed. */
export function inTime<T>(asked: readonly Promise<T>[], { after }: Ticker) {
  const answers: T[] = [];
  const failures: RpcFailed[] = [];
  return new Promise<{ answers: readonly T[]; failures: readonly RpcFailed[] }>((resolve, reject) => {
    const end = () => resolve({ answers, failures });
    let callOff: (() => void) | undefined;
    const told = () => {
      if (answers.length + failures.length < asked.length) return;
      callOff?.();
      end();
    };
    for (const each of asked) {
      each
        .then(
          (answer) => {
            answers.push(answer);
            callOff ??= after(others_ms, end);
          },
          (error: unknown) => (error instanceof RpcFailed ? void failures.push(error) : reject(error)),
        )
        .then(told);
    }
  });
}

/** If other nodes exist, a node that accepts no call for this long is skipped. */
const hurried_ms = 250;

export interface Turn {
  readonly connection: NodeConnection;
  /** Default: as long as the call may take. */
  readonly patience_ms?: number;
}

/**
 * Order of nodes: first those that accept calls now, beginning with the last successful one, without waiting while there are others. Then
 * the busy ones, soonest available first.
 * @param preferred index of the last successful one
 * @param failures outcomes of the earlier attempts
 */
export function* turns(
  { connections, preferred }: { readonly connections: readonly NodeConnection[]; readonly preferred: number },
  priority: Priority,
  failures: ReadonlyMap<NodeConnection, RpcFailed>,
): Generator<Turn> {
  const order = [...connections.slice(preferred), ...connections.slice(0, preferred)];
  const [only, ...others] = order;
  if (only && others.length === 0) return yield { connection: only };
  const free = order.filter(({ wait_ms }) => wait_ms(priority) <= hurried_ms);
  for (const connection of free) yield { connection, patience_ms: hurried_ms };
  const left = order.filter((each) => !free.includes(each) || failures.get(each)?.kind === 'limited');
  const byWait = left.toSorted((a, b) => a.wait_ms(priority) - b.wait_ms(priority));
  for (const connection of byWait) yield { connection };
}

export type { Priority } from './limiter.ts';

/** No node of the chain could answer. Nothing was changed; retry later. */
export class ChainUnavailable extends TransientError {
  override readonly name = 'ChainUnavailable';
  readonly retryAfter_s = 5;
  /** One per queried node. */
  readonly failures: readonly Error[];
  readonly chainId: number;
  constructor(chainId: number, failures: readonly Error[]) {
    const reasons = failures.map((failure) => failure.message).join('; ');
    super(`no RPC node of chain ${chainId} can answer; check its RPC URLs (${reasons})`);
    this.chainId = chainId;
    this.failures = failures;
  }
}

/** Number of nodes that must agree. */
export interface Agree {
  readonly usual: number;
  /** From `largeFrom_usd` on. With fewer nodes than this, large sums wait. */
  readonly large: number;
  readonly largeFrom_usd: bigint;
}

/** Nodes of one chain. A read sends all its calls to one node. Without a signal, only the timeout of each call ends it. */
export interface ChainRpc {
  readonly chainId: number;
  /** In the order of the configuration. */
  readonly nodes: readonly Connection[];
  /** The same nodes, even while refused. */
  readonly gates: readonly NodeGate[];
  readonly agree: Agree;
  /** The same nodes with another priority. Default: the head's priority. */
  as(priority: Priority): ChainRpc;
  /**
   * Queries one node after the other, the last successful one first, until one returns an answer other than undefined.
   * @returns undefined if all that answered had nothing
   * @throws ChainUnavailable if none answered
   */
  firstAnswer<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal?: AbortSignal): Promise<T | undefined>;
  /** Like `first`, but undefined is no answer. @throws ChainUnavailable if no node has one */
  answer<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal?: AbortSignal): Promise<T>;
  /** Queries all nodes concurrently. @returns the successful answers @throws ChainUnavailable if there is none */
  all<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal): Promise<readonly T[]>;
  /**
   * Queries all nodes concurrently. After the first answer, the others get a short time.
   * @returns the answers in time @throws ChainUnavailable if there is none
   */
  allSoon<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal): Promise<readonly T[]>;
  /** Queries all nodes concurrently. @returns each outcome, in the order of the configuration */
  allSettled<T>(
    ask: (node: ChainNode) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<readonly PromiseSettledResult<T>[]>;
  /** Reasons why nodes cannot serve the chain, one sentence each. Nodes that do not answer in time may be added later. */
  unfit(signal: AbortSignal): Promise<readonly string[]>;
}

export interface ChainRpcOptions extends ConnectOptions {
  /** In order of preference. They may contain API keys and are never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  /** Process-wide state of nodes, shared by all users of a node. */
  readonly lines?: NodeLines | undefined;
}

/** @returns the node for a read that ends with the signal */
export type Connection = (signal?: AbortSignal) => ChainNode;

/** Allows or stops calls to a node. A refused node counts as unable to serve the chain. */
export interface NodeGate extends Pick<NodeConnection, 'name' | 'refuse' | 'refused'> {
  /** For the check that may allow calls again. */
  readonly whenRefused: Connection;
}

/** The same limit if all nodes are queried. */
const among_ms = 2_000;

export function createChainRpc({ rpcUrls, agree, lines = createLines(), ...options }: ChainRpcOptions): ChainRpc {
  const connections = rpcUrls.map((url, at) => connect({ url, number: at + 1 }, lines, options));
  const shared: SharedNodes = { chainId: options.chainId, agree, lines, connections, preferred: 0 };
  const views: Readonly<Record<Priority, ChainRpc>> = {
    payout: chainRpc(shared, 'payout', (priority) => views[priority]),
    head: chainRpc(shared, 'head', (priority) => views[priority]),
    late: chainRpc(shared, 'late', (priority) => views[priority]),
  };
  return views.head;
}

interface SharedNodes extends Pick<ChainRpc, 'chainId' | 'agree'> {
  readonly lines: NodeLines;
  readonly connections: readonly NodeConnection[];
  /** Index of the last successful node. */
  preferred: number;
}

function chainRpc(shared: SharedNodes, priority: Priority, as: ChainRpc['as']): ChainRpc {
  const { chainId, agree, connections } = shared;
  const among = connections.length > 1 ? { patience_ms: among_ms } : {};
  const nodes = connections.map(
    (connection): Connection =>
      (signal) =>
        connection.for({ priority, signal, ...among }),
  );

  const gates = connections.map(
    ({ name, refuse, refused, whenRefused }): NodeGate => ({
      name,
      refuse,
      refused,
      whenRefused: (signal) => whenRefused({ priority, signal }),
    }),
  );

  async function first<T>(ask: (node: ChainNode) => Promise<T | undefined>, signal?: AbortSignal) {
    const failures = new Map<NodeConnection, RpcFailed>();
    for (const { connection, patience_ms } of turns(shared, priority, failures)) {
      signal?.throwIfAborted();
      try {
        const answer = await ask(connection.for({ priority, signal, patience_ms }));
        failures.delete(connection);
        if (answer === undefined) continue;
        shared.preferred = connections.indexOf(connection);
        return answer;
      } catch (error) {
        if (!(error instanceof RpcFailed)) throw error;
        failures.set(connection, error);
      }
    }
    signal?.throwIfAborted();
    if (failures.size === connections.length) throw new ChainUnavailable(chainId, [...failures.values()]);
    return undefined;
  }

  async function each<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal) {
    const outcomes = await Promise.allSettled(nodes.map((connected) => ask(connected(signal))));
    signal?.throwIfAborted();
    const unexpected = outcomes.find((o) => o.status === 'rejected' && !(o.reason instanceof RpcFailed));
    if (unexpected?.status === 'rejected') throw unexpected.reason;
    return outcomes;
  }

  return {
    chainId,
    nodes,
    gates,
    agree,
    as,
    firstAnswer: first,
    allSettled: each,
    async answer(ask, signal) {
      const found = await first(ask, signal);
      if (found === undefined) throw new ChainUnavailable(chainId, []);
      return found;
    },
    async all(ask, signal) {
      const outcomes = await each(ask, signal);
      const answers = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
      if (answers.length > 0) return answers;
      throw new ChainUnavailable(
        chainId,
        outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason as Error] : [])),
      );
    },
    async allSoon(ask, signal) {
      const reading = new AbortController();
      const until = signal ? AbortSignal.any([signal, reading.signal]) : reading.signal;
      const asked = nodes.map((connected) => ask(connected(until)));
      const { answers, failures } = await inTime(asked, shared.lines.ticker).finally(() => reading.abort());
      signal?.throwIfAborted();
      if (answers.length > 0) return answers;
      throw new ChainUnavailable(chainId, failures);
    },
    async unfit(signal) {
      const asked = await Promise.allSettled(connections.map(({ verified }) => verified(signal)));
      const reasons = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      return reasons.flatMap((reason) =>
        reason instanceof RpcFailed && reason.kind === 'unfit' ? [`RPC_URLS_${chainId}: ${reason.message}`] : [],
      );
    },
  };
}

/**
 * Sends to every node concurrently; one that accepts the bytes, or has them, is enough. Each call has its own timeout.
 * @param send resolves if the node accepts or has them, throws RpcFailed otherwise
 * @throws ChainUnavailable if no node answers, BroadcastRefused if all answering nodes refuse; sending again later is safe
 */
export async function sendToAll(rpc: ChainRpc, send: (node: ChainNode) => Promise<void>): Promise<void> {
  const outcomes = await rpc.allSettled(send);
  if (outcomes.some(({ status }) => status === 'fulfilled')) return;
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as RpcFailed] : []));
  const refusals = failures.filter(({ kind }) => kind === 'refused');
  if (refusals.length === 0) throw new ChainUnavailable(rpc.chainId, failures);
  throw new BroadcastRefused(
    `chain ${rpc.chainId} refuses the transaction: ${refusals.map(({ message }) => message).join('; ')}`,
    refusals.map(({ detail }) => detail),
  );
}
