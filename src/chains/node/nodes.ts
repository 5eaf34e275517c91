/** The nodes of one chain: fail-over from one to the next. Answers of nodes are never mixed in one reading; agreement.ts compares them. */
import { TransientError } from '../../../commands/ports.ts';
import { BroadcastRefused } from '../../../commands/transferPorts.ts';
import { type ConnectOptions, connect, type NodeConnection } from './connection.ts';
import { type ChainNode, RpcFailed } from './jsonRpc.ts';
import type { Priority, Ticker } from './limiter.ts';
import { createLines, type NodeLines } from './lines.ts';

/** How long others are waited for after the first answer, where what they say may only add to it. */
const others_ms = 1_000;

/** What has come of all, or a little after the first answer. @throws what is no RpcFailed */
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

/** While there are others, a node that takes no call for so long is left alone. */
const hurried_ms = 250;

export interface Turn {
  readonly connection: NodeConnection;
  /** Undefined: as long as the call may take. */
  readonly patience_ms?: number;
}

/**
 * The order in which nodes are asked: those that take calls, the last good one first, and without waiting for any while there are
 * others. Then those that took none, the one that takes the next call first.
 * @param preferred the place of the last good one
 * @param failures what has come of the turns before
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

/** No node of the chain could answer. Nothing was changed; try again later. */
export class ChainUnavailable extends TransientError {
  override readonly name = 'ChainUnavailable';
  readonly retryAfter_s = 5;
  /** Of each node that was asked. */
  readonly failures: readonly Error[];
  readonly chainId: number;
  constructor(chainId: number, failures: readonly Error[]) {
    const reasons = failures.map((failure) => failure.message).join('; ');
    super(`no RPC node of chain ${chainId} can answer; check its RPC URLs (${reasons})`);
    this.chainId = chainId;
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

/**
 * The nodes of one chain. A reading makes all its calls to the one node that it is handed. Without a signal, only the time limit of each
 * call ends it.
 */
export interface ChainRpc {
  readonly chainId: number;
  /** In the order of the configuration. */
  readonly nodes: readonly Connection[];
  /** The same, also while they are refused. */
  readonly gates: readonly NodeGate[];
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
  /**
   * Asks all nodes at once. Once one has answered, the others are waited for only a little.
   * @returns the answers that came in time @throws ChainUnavailable when no node could
   */
  promptly<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal): Promise<readonly T[]>;
  /** Asks all nodes at once. @returns what came of each, in the order of the configuration */
  each<T>(ask: (node: ChainNode) => Promise<T>, signal?: AbortSignal): Promise<readonly PromiseSettledResult<T>[]>;
  /** Why nodes cannot serve the chain, a sentence each. Those that do not answer in time may come to. */
  unfit(signal: AbortSignal): Promise<readonly string[]>;
}

export interface ChainRpcOptions extends ConnectOptions {
  /** In order of preference. They may hold API keys and are never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  /** What the process knows of its nodes; whoever shares a node shares this. */
  readonly lines?: NodeLines | undefined;
}

/** @returns the node for a reading that ends with the signal */
export type Connection = (signal?: AbortSignal) => ChainNode;

/** Lets a node be asked or not. One that is refused counts as one that cannot serve the chain, whoever asks. */
export interface NodeGate extends Pick<NodeConnection, 'name' | 'refuse' | 'refused'> {
  /** For what tells whether it may be asked again. */
  readonly whenRefused: Connection;
}

/** The same where all are asked: one of them is not waited for longer. */
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
  /** The last good one. */
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
    async promptly(ask, signal) {
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
