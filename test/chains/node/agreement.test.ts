import assert from 'node:assert/strict';
import {
  agreedFate,
  agreedOn,
  allDeny,
  defaultAgree,
  nodesNeeded,
  type Statement,
  toldByEnough,
} from '../../../src/chains/node/agreement.ts';
import { type ChainNode, RpcFailed } from '../../../src/chains/node/jsonRpc.ts';
import { type Agree, createChainRpc } from '../../../src/chains/node/nodes.ts';
import type { Fate } from '../../../src/chains/ports.ts';

const { signal } = new AbortController();
const dead: Fate = { kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail: 'by another' } };
const landed: Fate = { kind: 'final', attempt: 1, hash: '0x1', blockNumber: 7n, blockHash: '0x7' };
const elsewhere: Fate = { ...landed, blockHash: '0x77' };
const short: Fate = { ...landed, kind: 'short', arrived: 9n };
const shorter: Fate = { ...short, arrived: 8n };
const waiting: Fate = { kind: 'pending', mined: false };
const undecided: Fate = { kind: 'pending', mined: true };
const unknown: Fate = { kind: 'unknown' };
const cents = 0n;
const large_usd = 1_000n;

describe('the number of nodes that must agree', () => {
  it('is two where there are two, and two always for large sums', () => {
    assert.deepEqual(defaultAgree(['a']), { usual: 1, large: 2, largeFrom_usd: 1_000n });
    assert.equal(defaultAgree(['a', 'b', 'c']).usual, 2);
    const alone = defaultAgree(['a']);
    assert.deepEqual([nodesNeeded(alone, 999n), nodesNeeded(alone, 1_000n)], [1, 2]);
    assert.equal(nodesNeeded({ ...alone, usual: 3 }, 1_000n), 3);
  });
});

describe('nodes agree on a fate:', () => {
  /** A node's answer; 'down': it does not answer. */
  type Said = Fate | undefined | 'down' | 'unshown';
  const cases: readonly (readonly [string, readonly Said[], Fate | 'nodesDisagree' | 'nodesTooFew'])[] = [
    ['two show the same', [landed, landed], landed],
    ['one alone is enough where there is no other', [landed], landed],
    ['the first that knows the attempt is not believed alone', [undefined, landed], undecided],
    ['nor against another that does not answer', [landed, 'down'], 'nodesTooFew'],
    ['two of three are enough', ['down', landed, landed], landed],
    ['the same transaction in two blocks is a contradiction', [landed, elsewhere], 'nodesDisagree'],
    ['two show that it brought too little', [short, short], short],
    ['of one node alone that is not believed', [short, undefined], undecided],
    ['all of it here and less there is a contradiction', [landed, short], 'nodesDisagree'],
    ['as are two amounts', [short, shorter], 'nodesDisagree'],
    ['what all prove is so', [dead, dead], dead],
    ['a node alone can prove it where there is no other', [dead], dead],
    ['but not while the other does not answer', ['down', dead], 'nodesTooFew'],
    ['nor while another that answers cannot say', [dead, undefined, dead], undecided],
    ['dead here and landed there is a contradiction', [dead, landed, dead], 'nodesDisagree'],
    ['landed here and dead there as well', [landed, landed, dead], 'nodesDisagree'],
    ['one that still waits leaves it open', [dead, undefined, waiting], waiting],
    ['one that cannot show what it has mined asks the next ones', ['unshown', landed, landed], landed],
    ['it confirms nothing itself', ['unshown', landed], undecided],
    ['nor that an attempt is dead', [dead, 'unshown', dead], undecided],
    ['where none can show it there is nothing to send', ['unshown', undefined], undecided],
    ['nobody knows anything', [undefined, undefined], unknown],
    ['nobody answers', ['down', 'down'], unknown],
  ];
  for (const [what, said, expected] of cases) {
    it(what, async () => {
      const fate = await fateOf(said, cents);
      if (typeof expected !== 'string') return assert.deepEqual(fate, expected);
      assert.ok(fate.kind === 'pending' && fate.mined);
      assert.equal(fate.dispute?.reason, expected);
    });
  }

  it('a large sum is neither final nor dead by one node alone', async () => {
    for (const said of [landed, dead]) {
      const fate = await fateOf([said], large_usd);
      assert.ok(fate.kind === 'pending' && fate.dispute?.reason === 'nodesTooFew');
      assert.deepEqual(await fateOf([said, said], large_usd), said);
    }
  });

  it('a contradiction is reported with each node’s own answer', async () => {
    const fate = await fateOf([dead, landed], cents);
    assert.ok(fate.kind === 'pending');
    assert.match(
      fate.dispute?.message ?? '',
      /^node 1 .*: dead: by another; node 2 .*: 0x1 is final in block 7 \(0x7\)$/,
    );
  });

  const fateOf = (said: readonly Said[], usd: bigint): Promise<Fate> => {
    const { rpc, answer } = asking(said);
    return agreedFate(rpc, async (node) => answer(node), usd, signal);
  };
});

describe('nodes agree on a fact:', () => {
  type Said = Statement | 'down';
  const other: Statement = { instead: 'has no such transaction' };
  const cases: readonly (readonly [string, readonly Said[], boolean, string | undefined])[] = [
    ['as many as must show it', ['same', 'same'], true, undefined],
    ['one that does not answer is not needed', ['same', 'down', 'same'], true, undefined],
    ['one that is needed is waited for', ['same', 'down'], false, 'nodesTooFew'],
    ['one that shows something else is told of', ['same', other], false, 'nodesDisagree'],
    ['even where enough agree', ['same', other, 'same'], true, 'nodesDisagree'],
    ['nobody answers', ['down', 'down'], false, 'nodesTooFew'],
  ];
  for (const [what, said, agreed, reason] of cases) {
    it(what, async () => {
      const { rpc, answer } = asking(said);
      const found = await agreedOn(rpc, 2, async (node) => answer(node), signal);
      assert.deepEqual([found.agreed, found.dispute?.reason], [agreed, reason]);
      if (reason === 'nodesDisagree')
        assert.match(found.dispute?.message ?? '', /node 1 .*: shows it; .*node 2 .*: has no/);
    });
  }

  it('it is gone when all nodes that can answer deny it, and one alone does not suffice', async () => {
    const denied = async (said: readonly (boolean | undefined | 'down')[]) => {
      const { rpc, answer } = asking(said);
      return allDeny(rpc, async (node) => answer(node), signal);
    };
    assert.equal(await denied([false, false]), true);
    assert.equal(await denied([false, undefined, false]), true);
    assert.equal(await denied([false]), true);
    for (const said of [[false, true], [true, false], [false, 'down'], [false, undefined], [undefined]] as const)
      assert.equal(await denied(said), false);
  });

  it('enough nodes must agree on the first block to read: a single node could hide earlier transfers', async () => {
    const told = async (said: readonly (number | 'down')[]) => {
      const { rpc, answer } = asking(said);
      return toldByEnough(rpc, async (node) => answer(node), signal);
    };
    assert.deepEqual(await told([5, 7]), [5, 7]);
    assert.deepEqual(await told(['down', 5, 7]), [5, 7]);
    assert.deepEqual(await told([5]), [5]);
    await assert.rejects(told(['down', 5]), /2 have to say where to begin/);
  });
});

/** Calls the nodes by number alone; no request is sent. */
function asking<T>(said: readonly (T | 'down')[]) {
  const rpcUrls = said.map((_, at) => `http://127.0.0.1/${at}`);
  const agree: Agree = defaultAgree(rpcUrls);
  const rpc = createChainRpc({ chainId: 1, rpcUrls, agree, callTimeout_ms: 1_000, verify: async () => {} });
  const answer = ({ name }: ChainNode): T => {
    const own = said[Number(/^node (\d+)/.exec(name)?.[1]) - 1];
    if (own === 'down') throw new RpcFailed(name, 'fate', 'unreachable', 'no answer');
    return own as T;
  };
  return { rpc, answer };
}
