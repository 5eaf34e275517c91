/** One node for a chain's reads: it must first prove that it serves the chain, and its failures are classified. */
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
import type { Priority } from './limiter.ts';
import type { CallEnd, NodeLine, NodeLines } from './lines.ts';

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

export interface ConnectOptions {
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

export interface NodeConnection {
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
