import assert from 'node:assert/strict';
import { instant } from '../../domain/time.ts';
import type { NodeLook } from '../../src/chains/health.ts';
import { createStands, type NodeResult, type Standstill } from '../../src/workers/health/chainHealth.ts';

const noon_ms = Date.parse('2026-11-22T12:00:00.000Z');
const chain = { name: 'Ethereum', block_ms: 12_000 };
const finalSteps_ms = 384_000;

type Said = Partial<{ head: number; age_s: number; final: NodeLook['final'] }> | { readonly failure: string };

describe('a chain that stops', () => {
  const watching = () => {
    const told: Standstill[] = [];
    const observed = new Map<string, number>();
    const judge = createStands({
      chain,
      health: { finalSteps_ms },
      observe: (node, part, standing_ms) => observed.set(`${node} ${part}`, standing_ms / 1_000),
      tell: (standing) => told.push(standing),
    });
    /** Reports each node in turn, this number of seconds after noon. */
    const at = (second: number, ...said: readonly Said[]) => {
      const now_ms = noon_ms + second * 1_000;
      const looks = said.map((each, number): NodeResult => {
        const node = `node ${number + 1}`;
        if ('failure' in each) return { node, look: each };
        const { head = 100 + Math.floor(second / 12), age_s = 2, final = null } = each;
        const time = instant(now_ms - age_s * 1_000);
        return { node, look: { head: { blockNumber: BigInt(head), time }, final } };
      });
      judge(looks, instant(now_ms));
    };
    const parts = () => told.map(({ node, part }) => `${node} ${part}`);
    return { at, told, parts, observed };
  };

  it('is not reported while blocks arrive, nor during usual pauses of a chain', () => {
    const { at, told, observed } = watching();
    for (let second = 0; second <= 600; second += 20) at(second, { final: { blockNumber: BigInt(second) } });
    at(640, { head: 150 });
    assert.equal(told.length, 0);
    assert.equal(observed.get('node 1 head'), 40);
  });

  it('is named with its node, its last block and the reason, once while it lasts for half an hour, and again in the next stop', () => {
    const { at, told, parts, observed } = watching();
    for (let second = 0; second <= 1_800; second += 20) at(second, { head: 100, age_s: 30 });
    assert.deepEqual(parts(), ['node 1 head']);
    assert.match(
      told[0]?.message ?? '',
      /Ethereum: no new block from node 1 for 80 s; its last block was 100\. .*the chain may stand/,
    );
    assert.equal(observed.get('node 1 head'), 1_800);
    at(1_880, { head: 100, age_s: 30 });
    assert.equal(told.length, 2);
    at(1_900, { head: 101 });
    assert.equal(observed.get('node 1 head'), 0);
    at(1_980, { head: 101 });
    assert.deepEqual([told.length, told[2]?.block], [3, 101n]);
  });

  it('is named for each node that refuses, with its answer', () => {
    const { at, told, parts } = watching();
    const failure = 'node 1: eth_getBlockByNumber refused: method disabled';
    for (const second of [0, 40, 80]) at(second, { failure }, { failure: 'it does not answer in time' });
    assert.deepEqual(parts(), ['node 1 head', 'node 2 head']);
    assert.match(
      told[0]?.message ?? '',
      /it has shown no block\. node 1: eth_getBlockByNumber refused: method disabled/,
    );
    assert.equal(told[0]?.block, null);
  });

  it('names the one node that is stuck, which holds up expiry, and no other', () => {
    const { at, told, parts } = watching();
    for (let second = 0; second <= 120; second += 20) at(second, {}, { head: 99, age_s: 10 });
    assert.deepEqual(parts(), ['node 2 head']);
    assert.match(
      told[0]?.message ?? '',
      /others have come to 1\d\d: it is stuck\..*which payments end.*take it out of RPC_URLS/,
    );
  });

  describe('while its head advances', () => {
    const cases: readonly (readonly [string, NonNullable<NodeLook['final']>, RegExp])[] = [
      [
        'refuses the tag',
        { why: 'node 1: eth_getBlockByNumber refused: finalized is not supported' },
        /is not supported/,
      ],
      ['has none', { why: 'it has no block for the tag finalized' }, /has no block for the tag/],
      ['is stuck at genesis', { blockNumber: 0n }, /genesis block.*Use another node/],
      ['does not finalise', { blockNumber: 64n }, /last block was 64\..*does not finalise/],
    ];
    for (const [what, final, message] of cases)
      it(`is reported about final blocks, if its node ${what}, after three times the usual time`, () => {
        const { at, told, parts } = watching();
        for (let second = 0; second <= 1_140; second += 60) at(second, { final });
        assert.equal(told.length, 0);
        at(1_200, { final });
        assert.deepEqual(parts(), ['node 1 final']);
        assert.match(told[0]?.message ?? '', message);
      });
  });

  it('has a clock that is off, or a node that is still catching up', () => {
    const { at, told, parts } = watching();
    for (let second = 0; second <= 80; second += 20) at(second, { age_s: -70 }, { head: second, age_s: 7_200 });
    assert.deepEqual(parts(), ['node 1 clock', 'node 2 clock']);
    assert.match(told[0]?.message ?? '', /70 s ahead of this machine/);
    assert.match(told[1]?.message ?? '', /7200 s old: it stands, is still catching up/);
  });
});
