import assert from 'node:assert/strict';
import { instant } from '../../domain/time.ts';
import { createForeign, type ForeignNode, type NodeResult } from '../../src/workers/health/chainHealth.ts';

const noon_ms = Date.parse('2026-11-22T12:00:00.000Z');
const { signal } = new AbortController();
const chain = { id: 501, name: 'Solana', block_ms: 400 } as const;

function watching(identities: (string | null)[], remembered: string | null = null) {
  const around = { remembered, scannedTo: null as bigint | null };
  const told: ForeignNode[] = [];
  const refused = new Set<string>();
  const watch = createForeign({
    chain,
    nodes: identities.map((_, at) => ({
      name: `node ${at + 1}`,
      async identity() {
        const identity = identities[at];
        if (!identity) throw new Error('no answer');
        return identity;
      },
      refuse: (why) => void (why === null ? refused.delete(`node ${at + 1}`) : refused.add(`node ${at + 1}`)),
    })),
    remembered: async () => around.remembered,
    async remember(identity) {
      around.remembered ??= identity;
      return around.remembered;
    },
    scannedTo: async () => around.scannedTo,
    tell: (foreign) => told.push(foreign),
  });
  /** @param heads of each node; null: it does not answer */
  const at = (minute: number, ...heads: readonly (number | null)[]) => {
    const now = instant(noon_ms + minute * 60_000);
    const looks = heads.map(
      (head, number): NodeResult => ({
        node: `node ${number + 1}`,
        look: head === null ? { failure: 'away' } : { head: { blockNumber: BigInt(head), time: now }, final: null },
      }),
    );
    return watch.judge(looks, now, signal);
  };
  return { at, told, around, refused, identities };
}

describe('a node of another network', () => {
  it('is none while all report the network that was remembered when the chain was first read', async () => {
    const { at, told, around } = watching(['main', 'main']);
    await at(0, 100, 100);
    assert.equal(around.remembered, 'main');
    await at(20, 100, 100);
    assert.equal(told.length, 0);
  });

  it('is named with its network, the remembered one and the next step, and again while it remains', async () => {
    const { at, told } = watching(['main', 'test'], 'main');
    await at(0, 100, 100);
    for (let minute = 1; minute < 30; minute += 1) await at(minute, 100, 100);
    assert.deepEqual(
      told.map(({ node }) => node),
      ['node 2'],
    );
    assert.match(
      told[0]?.message ?? '',
      /Solana: node 2 is not asked any more: it is of the network test.*was read so far is main.*RPC_URLS_501.*--begun-anew/,
    );
    await at(40, 100, 100);
    assert.equal(told.length, 2);
  });

  it('is not chosen by the first answer: if nodes differ at the first start, none is remembered and all are named', async () => {
    const { at, told, around } = watching(['main', 'test', null]);
    await at(0, 100, 100, null);
    assert.equal(around.remembered, null);
    assert.deepEqual(
      told.map(({ node }) => node),
      ['node 1', 'node 2'],
    );
    assert.match(told[0]?.message ?? '', /nodes name different networks/);
  });

  it('is not called any more, once proven, until it returns the right network', async () => {
    const { at, told, refused, identities } = watching(['main', 'test'], 'main');
    await at(0, 100, 100);
    assert.deepEqual([...refused], ['node 2']);
    assert.match(told[0]?.message ?? '', /node 2 is not asked any more/);
    identities[1] = null;
    await at(2, 100, 100);
    assert.deepEqual([...refused], ['node 2'], 'one that does not say stays out');
    identities[1] = 'main';
    await at(4, 100, 100);
    assert.deepEqual([...refused], []);
  });

  it('is called no more though all are foreign: then the chain stops', async () => {
    const { at, told, refused } = watching(['test', 'test'], 'main');
    await at(0, 100, 100);
    assert.deepEqual([...refused], ['node 1', 'node 2']);
    assert.equal(told.length, 2);
  });

  it('is not excluded if the right network is unknown, nor for being behind', async () => {
    const { at, refused, around } = watching(['main', 'test']);
    around.scannedTo = 100_000n;
    for (let minute = 0; minute < 10; minute += 1) await at(minute, 100, 100_000);
    assert.deepEqual([...refused], []);
  });

  it('is one whose head is far behind the read blocks, for minutes', async () => {
    const { at, told, around } = watching(['main', 'main'], 'main');
    around.scannedTo = 100_000n;
    for (const minute of [0, 1, 2]) await at(minute, 1_060, 100_100);
    assert.equal(told.length, 0);
    await at(3, 1_060, 100_100);
    assert.deepEqual(
      told.map(({ node }) => node),
      ['node 1'],
    );
    assert.match(
      told[0]?.message ?? '',
      /stands at block 1060, and 100000 was read before: it is of another network, was begun anew/,
    );
    await at(4, 1_060, 100_100);
    assert.equal(told.length, 1);
  });

  it('is none that lags for a moment, or catches up in time', async () => {
    const { at, told, around } = watching(['main'], 'main');
    around.scannedTo = 100_000n;
    await at(0, 99_900);
    await at(5, 99_900);
    for (const [minute, head] of [
      [6, 10_000],
      [8, 50_000],
      [10, 99_999],
      [12, 10_000],
      [14, 10_001],
    ] as const)
      await at(minute, head);
    assert.equal(told.length, 0);
  });
});
