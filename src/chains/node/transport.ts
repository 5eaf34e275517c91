/** Calls of one node, one by one or several in a request. */
import { type CallMany, createBatches } from './batches.ts';
import { type Asking, createExchange, type ExchangeOptions } from './exchange.ts';
import { type RpcCall, wireRequest } from './jsonRpc.ts';
import { costOf } from './methods.ts';
import { maySwitchedOff } from './refusals.ts';
import { NoAnswer, type RpcAnswer, readReply } from './replies.ts';

export interface Transport {
  /** @throws NoAnswer; what the signal was aborted with */
  call(call: RpcCall, asking: Asking): Promise<RpcAnswer>;
  /** @returns an answer for each call, in order @throws NoAnswer; what the signal was aborted with */
  batch: CallMany;
}

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
