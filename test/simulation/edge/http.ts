/** Replaces src/chains/node/http.ts: a JSON-RPC request reaches a simulated node, or is lost. */
import { RpcError } from '../../../sandbox/rpcError.ts';
import type { Reply, createPost as real } from '../../../src/chains/node/http.ts';
import { NodeAway, type SimulatedNode } from '../kernel/ports.ts';
import { call, theRun } from '../kernel/run.ts';

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly status: number;
  constructor(max_bytes: number, status: number) {
    super(`the answer is larger than ${max_bytes} bytes`);
    this.status = status;
  }
}

interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params?: unknown;
}

const broken = () => new Error('the connection broke');

function answerOf(node: SimulatedNode, { id, method, params }: Asked): object {
  try {
    const result = node.ask(method, params ?? []);
    return { jsonrpc: '2.0', id, result: result === undefined ? null : result };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data } = error;
    return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
  }
}

const bigAsText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

export const createPost: typeof real = (url, answerMax_bytes) => {
  const { nodes } = theRun();
  const node = nodes.get(url);
  return async (body, signal) => {
    if (!node) throw broken();
    const asked = JSON.parse(body) as Asked | readonly Asked[];
    const [first] = [asked].flat() as readonly Asked[];
    const serve = (): Reply => {
      const text = Array.isArray(asked)
        ? JSON.stringify(
            asked.map((each) => answerOf(node, each)),
            bigAsText,
          )
        : JSON.stringify(answerOf(node, asked as Asked), bigAsText);
      if (text.length > answerMax_bytes) throw new AnswerTooLarge(answerMax_bytes, 200);
      return { status: 200, headers: {}, text };
    };
    const answer = call({ port: `node.${first?.method}`, serve, lost: broken, repeats: true });
    return await unlessCut(answer, signal);
  };
};

/** After an aborted request it is unknown whether the request arrived. */
function unlessCut<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cut = () => reject(new Error('the call was ended'));
    signal.addEventListener('abort', cut, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', cut));
    if (signal.aborted) cut();
  });
}

export { NodeAway };
