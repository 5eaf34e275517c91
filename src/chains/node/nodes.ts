/** Nodes of one chain, with fail-over from one to the next. One read never mixes answers of several nodes; agreement.ts compares them. */
import { TransientError } from '../../../commands/ports.ts';
import { BroadcastRefused } from '../../../commands/transferPorts.ts';
import { type CallMany, type CallOptions, createBatches, createExchange, type ExchangeOptions } from './batches.ts';
import {
  type Answered,
  type ChainNode,
  kindOf,
  maySwitchedOff,
  methodCost,
  NoAnswer,
  type RpcAnswer,
  type RpcCall,
  RpcFailed,
  type RpcParams,
  readReply,
  wireRequest,
} from './jsonRpc.ts';
import { type CallEnd, createLines, type NodeLine, type NodeLines, type Priority, type Ticker } from './limiter.ts';

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

// One node for a chain's reads: it must first prove that it serves the chain, and its failures are classified.

export interface Transport {
  /** @throws NoAnswer; the signal's reason */
  call(call: RpcCall, asking: CallOptions): Promise<RpcAnswer>;
  /** @returns an answer for each call, in order @throws NoAnswer; the signal's reason */
  batch: CallMany;
}

/** Sends calls to one node, singly or several in one request. */
export function createTransport(options: ExchangeOptions): Transport {
  const exchange = createExchange(options);
  let calls = 0;

  async function call(asked: RpcCall, asking: CallOptions): Promise<RpcAnswer> {
    calls += 1;
    const body = JSON.stringify(wireRequest(calls, asked));
    const before = options.line.limiter.takenSoFar();
    try {
      return await exchange({ body, cost: methodCost(asked.method) }, readReply, asking);
    } catch (error) {
      // If it accepts other calls, it refuses this one in particular.
      const takesOthers = options.line.limiter.takenSoFar() > before;
      const refusal = error instanceof NoAnswer ? error.refusal : undefined;
      if (takesOthers && refusal && maySwitchedOff(refusal)) return { refusal };
      throw error;
    }
  }

  return { call, batch: createBatches({ exchange, call, limits: options.line.limits }) };
}

interface ConnectOptions {
  readonly chainId: number;
  /** For one call, including its retries. */
  readonly callTimeout_ms: number;
  /** For one answer. Default: 10 MiB. */
  readonly answerMax_bytes?: number | undefined;
  /**
   * First check of each node.
   * @throws RpcFailed, `unfit` if it serves another chain or lacks a required method
   */
  readonly verify: (node: ChainNode) => Promise<void>;
}

interface NodeConnection {
  readonly name: string;
  readonly limits: NodeLine['limits'];
  /** The node for a read that ends with the signal. */
  for(asking: CallOptions): ChainNode;
  /** Time that a call would wait now. */
  wait_ms(priority: Priority): number;
  /** @throws RpcFailed */
  verified(signal?: AbortSignal): Promise<void>;
  /** The node even while it is refused: for the check that may allow calls again. */
  whenRefused(asking: CallOptions): ChainNode;
  /** Stops all calls of this process about this chain. @param why null: allows calls again */
  refuse(why: string | null): void;
  /** Reason why it is not queried about this chain; null if it is. */
  refused(): string | null;
}

/** Interval after which an unfit node is checked again: it may have been reconfigured. */
const unfitFor_ms = 60_000;

/** @param number in the configuration, from 1 */
export function connect(
  { url, number }: { readonly url: string; readonly number: number },
  lines: NodeLines,
  options: ConnectOptions,
): NodeConnection {
  const { chainId, callTimeout_ms: timeout_ms, answerMax_bytes, verify } = options;
  const line = lines.of(url, { chainId, node: number });
  const { call, batch } = createTransport({ url, timeout_ms, answerMax_bytes, line, random: lines.random });
  const name = `node ${number} (${new URL(url).host})`;

  const seen = (method: string, end: CallEnd) => lines.seen({ chainId, node: number, kind: kindOf(method), end });

  function failed(method: string, error: unknown): unknown {
    if (!(error instanceof NoAnswer)) return error;
    seen(method, error.kind === 'limited' ? 'limited' : 'failed');
    return new RpcFailed(name, method, error.kind, error.message, error.refusal?.code);
  }

  function answered({ method }: RpcCall, answer: RpcAnswer): Answered {
    seen(method, 'value' in answer ? 'answered' : 'refused');
    if ('value' in answer) return answer;
    return { failure: new RpcFailed(name, method, 'refused', answer.refusal.words, answer.refusal.code) };
  }

  async function request(asking: CallOptions, asked: RpcCall): Promise<unknown> {
    const answer = await call(asked, asking).catch((error: unknown) => {
      throw failed(asked.method, error);
    });
    const said = answered(asked, answer);
    if ('failure' in said) throw said.failure;
    return said.value;
  }

  async function requests(asking: CallOptions, calls: readonly RpcCall[]): Promise<readonly Answered[]> {
    const answers = await batch(calls, asking).catch((error: unknown) => {
      throw failed(calls[0]?.method ?? 'nothing', error);
    });
    return calls.flatMap((asked, at) => {
      const answer = answers[at];
      return answer === undefined ? [] : [answered(asked, answer)];
    });
  }

  const nodeFor = (asking: CallOptions): ChainNode => ({
    name,
    limits: line.limits,
    request: (method: string, params: RpcParams) => request(asking, { method, params }),
    batch: (calls, how) => requests({ ...asking, ...how }, calls),
  });

  /** All waiters share one verification. Each of its calls has its own timeout. */
  function verification(): Promise<void> {
    const known = line.verified.get(chainId);
    const now_ms = lines.ticker.now_ms();
    if (known && !(known.unfit && now_ms - known.since_ms > unfitFor_ms)) return known.outcome;
    const asked = {
      since_ms: now_ms,
      unfit: false,
      outcome: verify(nodeFor({ priority: 'head', once: true })).catch((error: unknown) => {
        asked.unfit = error instanceof RpcFailed && error.kind === 'unfit';
        if (!asked.unfit) line.verified.delete(chainId);
        throw error;
      }),
    };
    line.verified.set(chainId, asked);
    return asked.outcome;
  }

  const fits = (signal?: AbortSignal) => unlessAborted(verification, signal);

  async function verified(signal?: AbortSignal): Promise<void> {
    const why = line.refused.get(chainId);
    if (why !== undefined) throw new RpcFailed(name, 'any call', 'unfit', why);
    await fits(signal);
  }

  return {
    name,
    limits: line.limits,
    verified,
    wait_ms: line.limiter.wait_ms,
    for: (asking) => after(() => verified(asking.signal), nodeFor(asking)),
    whenRefused: (asking) => after(() => fits(asking.signal), nodeFor(asking)),
    refuse(why) {
      if (why === null) line.refused.delete(chainId);
      else line.refused.set(chainId, why);
    },
    refused: () => line.refused.get(chainId) ?? null,
  };
}

/** Wraps a node so that no call runs before the first check has succeeded. */
const after = (first: () => Promise<void>, node: ChainNode): ChainNode => ({
  ...node,
  async request(method, params) {
    await first();
    return node.request(method, params);
  },
  async batch(calls, how) {
    await first();
    return node.batch(calls, how);
  },
});

/**
 * Work that is aborted before it begins does not start: its rejection would be unhandled, which ends the process.
 * @throws also the signal's reason; started work continues
 */
async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work();
  signal.throwIfAborted();
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
