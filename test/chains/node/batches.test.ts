import assert from 'node:assert/strict';
import type { Answered, RpcCall } from '../../../src/chains/node/jsonRpc.ts';
import { createLines } from '../../../src/chains/node/limiter.ts';
import { connect } from '../../../src/chains/node/nodes.ts';
import { patience_ms } from '../../support/patience.ts';
import { type AskedCall, each, refusal, result, type Script, scriptedNode } from '../../support/scriptedNode.ts';

const echo = (asked: AskedCall) => result(asked, asked.params[0]);
const calls = (count: number): readonly RpcCall[] =>
  Array.from({ length: count }, (_, at) => ({ method: 'echo', params: [at] }));
const values = (answers: readonly Answered[]) =>
  answers.map((answer) => ('value' in answer ? answer.value : answer.failure.detail));
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('many calls to one node', () => {
  it('go in few requests, and their answers are in the order of the calls', async () => {
    const { node, scripted } = await asking(each(echo));
    scripted.reply((asked) => ({ body: [...(asked as readonly AskedCall[])].reverse().map(echo) }));
    assert.deepEqual(values(await node.batch(calls(25))), numbers(25));
    assert.equal(scripted.requests.length, 3);
  });

  it('each have a value or the node’s own refusal', async () => {
    const { node } = await asking(
      each((asked) => (asked.params[0] === 1 ? refusal(asked, -32000, 'not that one') : echo(asked))),
    );
    assert.deepEqual(values(await node.batch(calls(3))), [0, 'not that one', 2]);
  });

  it('are repeated, one by one, if the answer omits some or has too many', async () => {
    const { node, scripted } = await asking((asked) => {
      if (!Array.isArray(asked)) return { body: echo(asked as AskedCall) };
      const answers = asked.map((call) =>
        call.params[0] === 3 ? refusal(call, -32016, 'over rate limit') : echo(call),
      );
      return { body: answers.filter(({ id }) => id !== 2) };
    });
    assert.deepEqual(values(await node.batch(calls(5))), numbers(5));
    assert.equal(scripted.requests.length, 3);
    assert.equal(node.limits.most('calls'), undefined);
  });

  const refusals: readonly (readonly [string, (asked: readonly AskedCall[]) => Script, number])[] = [
    [
      'Base',
      () => ({ body: { jsonrpc: '2.0', id: null, error: { code: -32014, message: 'maximum 4 calls in 1 batch' } } }),
      4,
    ],
    [
      'dRPC',
      () => ({
        status: 500,
        body: { error: { code: 31, message: 'Batch of more than 3 requests are not allowed on free tier' } },
      }),
      3,
    ],
    ['geth', (asked) => ({ body: [refusal(asked[0] as AskedCall, -32600, 'batch too large')] }), 5],
    ['Erigon', () => 'hangUp', 5],
    ['a gateway', () => ({ status: 413, body: '<html>Request Entity Too Large</html>' }), 5],
    [
      'one that knows no batches',
      () => ({ body: { id: null, error: { code: -32600, message: 'Invalid Request' } } }),
      5,
    ],
  ];
  for (const [who, refuse, most] of refusals) {
    it(`go in as few as the node accepts, which is remembered: ${who}`, async () => {
      const { node, scripted } = await asking((asked) => {
        if (!Array.isArray(asked)) return { body: echo(asked as AskedCall) };
        return asked.length > most ? refuse(asked) : { body: asked.map(echo) };
      });
      assert.deepEqual(values(await node.batch(calls(10))), numbers(10));
      assert.equal(node.limits.most('calls'), most);
      const before = scripted.requests.length;
      assert.deepEqual(values(await node.batch(calls(10))), numbers(10));
      assert.equal(scripted.requests.length - before, Math.ceil(10 / most));
    });
  }

  it('go one by one to a node that accepts no batches at all', async () => {
    const { node } = await asking((asked) =>
      Array.isArray(asked) ? { status: 400, body: 'no' } : { body: echo(asked as AskedCall) },
    );
    assert.deepEqual(values(await node.batch(calls(7))), numbers(7));
    assert.equal(node.limits.most('calls'), 1);
  });

  it('do not change the batch size when the node is away', async () => {
    const { node } = await asking(() => 'hangUp');
    await assert.rejects(node.batch(calls(4)), { name: 'RpcFailed', kind: 'unreachable' });
    assert.equal(node.limits.most('calls'), undefined);
  });

  describe('calls that must be answered together', () => {
    const together = { together: true } as const;

    it('are all repeated when one of them may succeed: no answer of another request is mixed in', async () => {
      const { node, scripted } = await asking((asked, number) => ({
        body: (asked as readonly AskedCall[]).map((call) =>
          number < 2 && call.id === 1 ? refusal(call, -32000, 'unknown block') : result(call, number),
        ),
      }));
      assert.deepEqual(values(await node.batch(calls(3), together)), [2, 2, 2]);
      assert.ok(scripted.requests.every(Array.isArray));
    });

    it('keep a permanent refusal', async () => {
      const { node, scripted } = await asking(
        each((asked) => (asked.id === 1 ? refusal(asked, -32000, 'unknown block') : echo(asked))),
      );
      assert.deepEqual(values(await node.batch(calls(3), together)), [0, 'unknown block', 2]);
      assert.ok(scripted.requests.every(Array.isArray));
    });

    it('are not treated as refused calls when there are too many: the node is limited', async () => {
      const { node, scripted } = await asking(
        each((asked) => (asked.id === 1 ? refusal(asked, -32016, 'over rate limit') : echo(asked))),
      );
      await assert.rejects(node.batch(calls(3), together), { name: 'RpcFailed', kind: 'limited' });
      assert.ok(scripted.requests.every(Array.isArray));
    });

    it('are each refused by a node that accepts fewer calls per request', async () => {
      for (const refuse of [{ status: 400, body: 'no' }, 'hangUp'] as const) {
        const { node } = await asking((asked) => (Array.isArray(asked) ? refuse : { body: echo(asked as AskedCall) }));
        for (const _ of ['unknown', 'known']) {
          const answers = await node.batch(calls(3), together);
          assert.ok(answers.every((answer) => 'failure' in answer && answer.failure.kind === 'refused'));
        }
        assert.equal(node.limits.most('calls'), 1);
      }
    });
  });

  it('send no request when there are none', async () => {
    const { node, scripted } = await asking(each(echo));
    assert.deepEqual(await node.batch([]), []);
    assert.equal(scripted.requests.length, 0);
  });
});

async function asking(reply: Parameters<typeof scriptedNode>[0]) {
  const scripted = await scriptedNode(reply);
  const options = { chainId: 1, callTimeout_ms: patience_ms, verify: async () => {} };
  const node = connect({ url: scripted.url, number: 1 }, createLines({ random: () => 0 }), options).for({
    priority: 'head',
  });
  return { node, scripted };
}
