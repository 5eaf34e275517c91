/** One node as the readings of a chain use it: it must serve the chain before anything else, and its failures are told by their kinds. */
import { type Asking, type CallMany, createBatches, createExchange, type ExchangeOptions } from './batches.ts';
import {
  type Answered,
  type ChainNode,
  costOf,
  kindOf,
  maySwitchedOff,
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
  /** @throws NoAnswer; what the signal was aborted with */
  call(call: RpcCall, asking: Asking): Promise<RpcAnswer>;
  /** @returns an answer for each call, in order @throws NoAnswer; what the signal was aborted with */
  batch: CallMany;
}

/** Sends calls to one node, alone or several in one request. */
export function createTransport(options: ExchangeOptions): Transport {
  const exchange = createExchange(options);
  let calls = 0;

  async function call(asked: RpcCall, asking: Asking): Promise<RpcAnswer> {
    calls += 1;
    const body = JSON.stringify(wireRequest(calls, asked));
    const before = options.line.limiter.takenSoFar();
    try {
      return await exchange({ body, cost: costOf(asked.method) }, readReply, asking);
    } catch (error) {
      // While it takes other calls, it is this one that it does not take.
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
  /** For one call, its retries included. */
  readonly callTimeout_ms: number;
  /** Of one answer; 10 MiB when left out. */
  readonly answerMax_bytes?: number | undefined;
  /**
   * Asked once of each node before anything else.
   * @throws RpcFailed, `unfit` when it serves another chain or lacks what is needed
   */
  readonly verify: (node: ChainNode) => Promise<void>;
}

export interface NodeConnection {
  readonly name: string;
  readonly limits: NodeLine['limits'];
  /** The node for a reading that ends with the signal. */
  for(asking: Asking): ChainNode;
  /** How long a call would wait for its turn now. */
  wait_ms(priority: Priority): number;
  /** @throws RpcFailed */
  verified(signal?: AbortSignal): Promise<void>;
  /** The node, also while it is refused: for what tells whether it may be asked again. */
  whenRefused(asking: Asking): ChainNode;
  /** For all in this process who would ask it about this chain. @param why null: from now on it is asked again */
  refuse(why: string | null): void;
  /** Why nobody queries it about this chain; null where it may be queried. */
  refused(): string | null;
}

/** A node that cannot serve the chain is looked at again after so long: it may have been set up anew. */
const unfitFor_ms = 60_000;

/** @param number in the configuration, from 1 on */
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

  async function request(asking: Asking, asked: RpcCall): Promise<unknown> {
    const answer = await call(asked, asking).catch((error: unknown) => {
      throw failed(asked.method, error);
    });
    const said = answered(asked, answer);
    if ('failure' in said) throw said.failure;
    return said.value;
  }

  async function requests(asking: Asking, calls: readonly RpcCall[]): Promise<readonly Answered[]> {
    const answers = await batch(calls, asking).catch((error: unknown) => {
      throw failed(calls[0]?.method ?? 'nothing', error);
    });
    return calls.flatMap((asked, at) => {
      const answer = answers[at];
      return answer === undefined ? [] : [answered(asked, answer)];
    });
  }

  const nodeFor = (asking: Asking): ChainNode => ({
    name,
    limits: line.limits,
    request: (method: string, params: RpcParams) => request(asking, { method, params }),
    batch: (calls, how) => requests({ ...asking, ...how }, calls),
  });

  /** What one reading asks for, all that wait for it get. It ends by the time limits of its calls. */
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

/** The same node, which is asked nothing before something else has gone well. */
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
 * What is called off before it begins is not begun: nobody would hear of its failure, which ends the process.
 * @throws also what the signal is aborted with; work that was begun goes on
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
