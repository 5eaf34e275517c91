/** Calls to one node that are made together go out together: those of one turn of the event loop, in as few requests as it takes. */
import type { Answered, ChainNode, RpcCall } from '../../node/jsonRpc.ts';

interface Waiting {
  readonly call: RpcCall;
  readonly settle: (answer: Answered) => void;
  readonly fail: (error: unknown) => void;
}

/** Each call has its own answer or refusal. What is to be answered together goes out by itself. */
export function gathered(node: ChainNode): ChainNode {
  let waiting: Waiting[] = [];

  async function send(): Promise<void> {
    const asked = waiting;
    waiting = [];
    try {
      const answers = await node.batch(asked.map(({ call }) => call));
      for (const [at, { settle }] of asked.entries()) settle(answers[at] as Answered);
    } catch (error) {
      for (const { fail } of asked) fail(error);
    }
  }

  const ask = (call: RpcCall): Promise<Answered> =>
    new Promise((settle, fail) => {
      if (waiting.length === 0) setImmediate(() => void send());
      waiting.push({ call, settle, fail });
    });

  return {
    ...node,
    async request(method, params) {
      const answer = await ask({ method, params });
      if ('failure' in answer) throw answer.failure;
      return answer.value;
    },
    batch: (calls, how) => (how?.together ? node.batch(calls, how) : Promise.all(calls.map(ask))),
  };
}
