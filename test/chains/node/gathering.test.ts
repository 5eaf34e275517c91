import assert from 'node:assert/strict';
import { createLines } from '../../../src/chains/node/limiter.ts';
import { connect } from '../../../src/chains/node/nodes.ts';
import { gathered } from '../../../src/chains/solana/payins/look.ts';
import { patience_ms } from '../../support/patience.ts';
import { type AskedCall, each, refusal, result, scriptedNode } from '../../support/scriptedNode.ts';

const answer = (asked: AskedCall) =>
  asked.params[0] === 'bad' ? refusal(asked, -32_000, 'not that one') : result(asked, asked.params[0]);

describe('calls that are gathered', () => {
  it('go out in one request when they are made together, and each has its own answer or refusal', async () => {
    const { node, scripted } = await gathering();
    const asked = await Promise.allSettled([
      node.request('echo', [1]),
      node.request('echo', ['bad']),
      node.batch([
        { method: 'echo', params: [2] },
        { method: 'echo', params: ['bad'] },
      ]),
    ]);
    assert.equal(scripted.requests.length, 1);
    const [one, bad, both] = asked;
    assert.deepEqual(one, { status: 'fulfilled', value: 1 });
    assert.ok(bad.status === 'rejected' && /not that one/.test(String(bad.reason)));
    assert.ok(both.status === 'fulfilled' && 'value' in (both.value[0] ?? {}) && 'failure' in (both.value[1] ?? {}));
  });

  it('go out alone when they are made one after the other', async () => {
    const { node, scripted } = await gathering();
    assert.equal(await node.request('echo', [1]), 1);
    assert.equal(await node.request('echo', [2]), 2);
    assert.equal(scripted.requests.length, 2);
    assert.ok(!scripted.requests.some(Array.isArray), 'one call alone is no batch');
  });

  it('fail together if the node gives no answer, and the next ones are sent again', async () => {
    const { node, scripted } = await gathering();
    scripted.reply(() => 'hangUp');
    const asked = await Promise.allSettled([node.request('echo', [1]), node.request('echo', [2])]);
    assert.ok(asked.every((each) => each.status === 'rejected' && /unreachable/.test(String(each.reason))));
    scripted.reply(each(answer));
    assert.equal(await node.request('echo', [3]), 3);
  });

  it('keep apart calls that must be answered together', async () => {
    const { node, scripted } = await gathering();
    const calls = [1, 2].map((number) => ({ method: 'echo', params: [number] }));
    await Promise.all([node.request('echo', [0]), node.batch(calls, { together: true })]);
    assert.deepEqual(scripted.requests.map((asked) => [asked].flat().length).toSorted(), [1, 2]);
  });
});

async function gathering() {
  const scripted = await scriptedNode(each(answer));
  const options = { chainId: 1, callTimeout_ms: patience_ms, verify: async () => {} };
  const connection = connect({ url: scripted.url, number: 1 }, createLines({ random: () => 0 }), options);
  return { node: gathered(connection.for({ priority: 'head' })), scripted };
}
