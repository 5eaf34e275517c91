import assert from 'node:assert/strict';
import { RpcFailed } from '../../../src/chains/node/jsonRpc.ts';
import { type Assent, agreedFate, createChainRpc, unlessDenied, whenAllProve } from '../../../src/chains/node/nodes.ts';
import type { Fate } from '../../../src/chains/ports.ts';

const { signal } = new AbortController();
const dead: Fate = { kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail: 'by another' } };
const landed: Fate = { kind: 'final', attempt: 1, hash: '0x1', blockNumber: 7n, blockHash: '0x7' };
const waiting: Fate = { kind: 'pending', mined: false };
const undecided: Fate = { kind: 'pending', mined: true };
const unknown: Fate = { kind: 'unknown' };

/** What a node says; 'down' for one that does not answer. */
type Said = Fate | undefined | 'down';

describe('nodes agree on a fate:', () => {
  const cases: readonly (readonly [string, readonly Said[], Fate, Fate])[] = [
    ['the first that knows the attempt is believed', [undefined, landed, dead], landed, landed],
    ['what all prove is so', [dead, dead], dead, dead],
    ['a node alone can prove it', [dead], dead, dead],
    ['one that does not answer does not count', ['down', dead], dead, dead],
    ['one that cannot say leaves only a proof of absence open', [dead, undefined], dead, undecided],
    [
      'one that contradicts leaves it open, unless it has what is said to be nowhere',
      [dead, landed],
      undecided,
      landed,
    ],
    ['one that still waits contradicts as well', [dead, undefined, waiting], undecided, waiting],
    ['nobody knows anything', [undefined, undefined], unknown, unknown],
    ['nobody answers', ['down', 'down'], unknown, unknown],
  ];
  for (const [what, said, byWhatHappened, byAbsence] of cases) {
    it(what, async () => {
      assert.deepEqual(await agreed(said, unlessDenied), byWhatHappened);
      assert.deepEqual(await agreed(said, whenAllProve), byAbsence);
    });
  }
});

/** The nodes are asked by their number alone: nothing is sent. */
function agreed(said: readonly Said[], assent: Assent): Promise<Fate> {
  const rpcUrls = said.map((_, at) => `http://127.0.0.1/${at}`);
  const rpc = createChainRpc({ chainId: 1, rpcUrls, callTimeout_ms: 1_000, verify: async () => {} });
  return agreedFate(
    rpc,
    async ({ name }) => {
      const answer = said[Number(/^node (\d+)/.exec(name)?.[1]) - 1];
      if (answer === 'down') throw new RpcFailed(name, 'fate', 'unreachable', 'no answer');
      return answer;
    },
    assent,
    signal,
  );
}
