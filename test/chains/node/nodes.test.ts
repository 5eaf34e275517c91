import assert from 'node:assert/strict';
import { type ChainNode, RpcFailed } from '../../../src/chains/node/jsonRpc.ts';
import { createLines, type NodeSeen } from '../../../src/chains/node/limiter.ts';
import { type ChainRpcOptions, ChainUnavailable, createChainRpc, sendToAll } from '../../../src/chains/node/nodes.ts';
import { patience_ms } from '../../support/patience.ts';
import { always, each, refusal, type ScriptedNode, scriptedNode } from '../../support/scriptedNode.ts';

const limited = (retryAfter_s: number) => () => ({
  status: 429,
  headers: { 'retry-after': String(retryAfter_s) },
  body: '',
});
const height = (node: ChainNode) => node.request('eth_blockNumber', []);

describe('the nodes of a chain', () => {
  it('replace each other: while one is limited the next is called, and no call waits for it', async () => {
    const [one, two] = [await scriptedNode(limited(30)), await scriptedNode(always('0x2'))];
    const rpc = chain([one, two]);
    for (const _ of [1, 2, 3]) assert.equal(await rpc.firstAnswer(height), '0x2');
    assert.equal(one.requests.length, 1);
  });

  it('are waited for when all are limited, the one first that accepts calls again first', async () => {
    const [one, two] = [await scriptedNode(limited(30)), await scriptedNode(limited(0.4))];
    const rpc = chain([one, two]);
    const asked = rpc.firstAnswer(height);
    setTimeout(() => two.reply(always('0x2')), 100);
    assert.equal(await asked, '0x2');
    assert.equal(one.requests.length, 1);
  });

  it('are limited for all callers in this process, under every number', async () => {
    const [one, two] = [await scriptedNode(limited(30)), await scriptedNode(always('0x2'))];
    const lines = createLines();
    await chain([one, two], { lines }).firstAnswer(height);
    assert.equal(await chain([two, one], { lines }).as('late').firstAnswer(height), '0x2');
    await assert.rejects(chain([one], { lines }).firstAnswer(height), (error) => {
      assert.ok(error instanceof ChainUnavailable);
      assert.match(error.message, /node 1 .*: eth_blockNumber limited: it takes the next call in \d+ ms/);
      return true;
    });
    assert.equal(one.requests.length, 1);
    const known = lines.rates().map(({ chainId, node }) => [chainId, node]);
    assert.deepEqual(known, [
      [8453, 1],
      [8453, 2],
    ]);
  });

  it('do not delay a caller that wants the highest answer of any node', async () => {
    const [one, two, three] = [
      await scriptedNode(always('0x0')),
      await scriptedNode(always('0x2')),
      await scriptedNode(() => new Promise(() => {})),
    ];
    const away = await scriptedNode(() => 'hangUp');
    const rpc = chain([three, one, away, two], { callTimeout_ms: 60_000 });
    assert.deepEqual([...(await rpc.allSoon(height))].sort(), ['0x0', '0x2']);
    await assert.rejects(chain([away]).allSoon(height), ChainUnavailable);
    const reading = new AbortController();
    const asked = chain([three]).allSoon(height, reading.signal);
    reading.abort(new Error('not wanted any more'));
    await assert.rejects(asked, /not wanted any more/);
  });

  it('with nonsensical answers are skipped', async () => {
    const bad = ['', '{}', '[]', '<!DOCTYPE html>', '{"result"', 'null'];
    const nodes = await Promise.all([
      ...bad.map((body) => scriptedNode(() => ({ body }))),
      scriptedNode(always('0x7')),
    ]);
    const rpc = chain(nodes);
    const outcomes = await rpc.allSettled(height);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.kind)),
      [...bad.map(() => 'malformed'), '0x7'],
    );
    assert.equal(await rpc.firstAnswer(height), '0x7');
  });

  it('must serve the chain: an unfit one is skipped, and named to the operator', async () => {
    const [one, two] = [await scriptedNode(always('0x38')), await scriptedNode(always('0x2105'))];
    const verify = async (node: ChainNode) => {
      const id = Number(await node.request('eth_chainId', []));
      if (id !== 8453) throw new RpcFailed(node.name, 'eth_chainId', 'unfit', `serves chain ${id}`);
    };
    const rpc = chain([one, two], { verify });
    assert.equal(await rpc.firstAnswer(height), '0x2105');
    assert.equal(one.calls('eth_blockNumber'), 0);
    await assert.rejects(
      rpc.allSettled((node) => height(node).then(() => Promise.reject(new Error('asked'))), undefined),
      /asked/,
    );
    assert.equal(one.calls('eth_chainId'), 1);
    const [sentence, ...others] = await rpc.unfit(AbortSignal.timeout(patience_ms));
    assert.match(sentence ?? '', /^RPC_URLS_8453: node 1 \(127.*\): eth_chainId unfit: serves chain 56$/);
    assert.deepEqual(others, []);
  });

  it('get no calls in this process after a refusal, except those that may admit them again', async () => {
    const [one, two] = [await scriptedNode(always('0x1')), await scriptedNode(always('0x2'))];
    const lines = createLines();
    const rpc = chain([one, two], { lines });
    const [gate, other] = rpc.gates;
    gate?.refuse('it is of another network');
    const elsewhere = chain([one], { lines });
    assert.equal(await rpc.firstAnswer(height), '0x2');
    assert.deepEqual(await rpc.all(height), ['0x2']);
    await assert.rejects(elsewhere.firstAnswer(height), /node 1 .* unfit: it is of another network/);
    await assert.rejects(
      sendToAll(elsewhere, async (node) => void (await height(node))),
      ChainUnavailable,
    );
    assert.equal(one.requests.length, 0);
    other?.refuse('it as well');
    await assert.rejects(rpc.firstAnswer(height), ChainUnavailable);

    assert.ok(gate);
    assert.equal(await height(gate.whenRefused()), '0x1');
    gate.refuse(null);
    assert.equal(await rpc.firstAnswer(height), '0x1');
  });

  it('are not called unfit if they do not answer at the start', async () => {
    const [away, busy] = [await scriptedNode(() => 'hangUp'), await scriptedNode(limited(60))];
    const verify = async (node: ChainNode) => void (await node.request('eth_chainId', []));
    const rpc = chain([away, busy], { verify });
    assert.deepEqual(await rpc.unfit(AbortSignal.timeout(patience_ms)), []);
  });

  it('are counted by their numbers, kinds of calls and how these end', async () => {
    const seen: NodeSeen[] = [];
    const node = await scriptedNode(
      each((asked) =>
        asked.method === 'eth_call' ? refusal(asked, 3, 'execution reverted') : { id: asked.id, result: [] },
      ),
    );
    const lines = createLines({ seen: (call) => seen.push(call) });
    const rpc = chain([node], { lines });
    await rpc.firstAnswer((each) =>
      each.batch([
        { method: 'eth_getLogs', params: [] },
        { method: 'eth_call', params: [] },
      ]),
    );
    assert.deepEqual(seen, [
      { chainId: 8453, node: 1, kind: 'search', end: 'answered' },
      { chainId: 8453, node: 1, kind: 'read', end: 'refused' },
    ]);
  });

  it('reject the pending calls of an aborted read, whichever call waits for the same', async () => {
    const node = await scriptedNode(() => new Promise(() => {}));
    const verify = async (each: ChainNode) => void (await each.request('eth_chainId', []));
    const rpc = chain([node], { verify });
    const reading = new AbortController();
    const asked = rpc.firstAnswer(height, reading.signal);
    reading.abort(new Error('not wanted any more'));
    await assert.rejects(asked, /not wanted any more/);
  });
});

const chain = (nodes: readonly ScriptedNode[], options: Partial<ChainRpcOptions> = {}) =>
  createChainRpc({
    chainId: 8453,
    rpcUrls: nodes.map(({ url }) => url),
    agree: { usual: 1, large: 1, largeFrom_usd: 1_000n },
    callTimeout_ms: 5_000,
    verify: async () => {},
    ...options,
  });
