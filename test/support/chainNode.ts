import { type Answered, type ChainNode, RpcFailed } from '../../src/chains/node/jsonRpc.ts';
import { createLimits } from '../../src/chains/node/limiter.ts';

/** A node in this process; it answers batches call by call. */
export function nodeOf(request: ChainNode['request'], name = 'node 1'): ChainNode {
  const answered = async (method: string, params: Parameters<typeof request>[1]): Promise<Answered> => {
    try {
      return { value: await request(method, params) };
    } catch (failure) {
      if (failure instanceof RpcFailed && failure.kind === 'refused') return { failure };
      throw failure;
    }
  };
  return {
    name,
    limits: createLimits(),
    request,
    batch: (calls) => Promise.all(calls.map(({ method, params }) => answered(method, params))),
  };
}
