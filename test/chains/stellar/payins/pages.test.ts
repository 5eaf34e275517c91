import assert from 'node:assert/strict';
import { Memo } from '@stellar/stellar-sdk';
import type { ScannedRange } from '../../../../commands/chainPorts.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { type Behaviour, honest, Refusal, startProxy } from '../../proxy.ts';
import { collected, type StellarWorld, scanned, signal, stellarWorld, watching } from '../world.ts';

interface Query {
  readonly startLedger?: number;
  readonly endLedger?: number;
  readonly pagination: { readonly limit: number; readonly cursor?: string };
}

const queryOf = (params: readonly unknown[]): Query => params as unknown as Query;

/** Returns fewer events than requested. */
const clipped =
  (most: number): Behaviour =>
  (method, params, forward) => {
    if (method !== 'getEvents') return forward(method, params);
    const query = queryOf(params);
    const limit = Math.min(most, query.pagination.limit);
    return forward(method, { ...query, pagination: { ...query.pagination, limit } } as never);
  };

describe('pages of events', () => {
  const payins = 12;
  let world: StellarWorld;
  before(async () => {
    world = await stellarWorld();
  });
  after(() => world.lab.stop());

  async function paid(): Promise<{ readonly from: ReturnType<StellarWorld['here']>; readonly memos: string[] }> {
    const from = world.here();
    const memos = Array.from({ length: payins }, (_, nth) => `order ${nth}`);
    for (const memo of memos) await world.send('0.01', Memo.text(memo));
    return { from, memos };
  }

  async function memosBehind(behaviour: Behaviour, from: ReturnType<StellarWorld['here']>) {
    const proxy = await startProxy(world.stellar.rpcUrl, behaviour);
    const { logs, cursor } = await scanned(world.config([proxy.url]), from);
    assert.equal(cursor.blockNumber, world.here().blockNumber);
    return logs.map(({ memo }) => memo);
  }

  it('are read on if the node gives fewer events than requested', async () => {
    const { from, memos } = await paid();
    assert.deepEqual(await memosBehind(clipped(5), from), memos);
  });

  it('are read on if the node names no place to continue from', async () => {
    const { from, memos } = await paid();
    const nameless: Behaviour = async (method, params, forward) => {
      const answer = (await clipped(5)(method, params, forward)) as Record<string, unknown>;
      return method === 'getEvents' ? { ...answer, cursor: undefined } : answer;
    };
    assert.deepEqual(await memosBehind(nameless, from), memos);
  });

  it('are read on after an empty one that states where the search broke off', async () => {
    const { from, memos } = await paid();
    const breaksOff: Behaviour = async (method, params, forward) => {
      const query = queryOf(params);
      if (method !== 'getEvents' || query.startLedger === undefined) return forward(method, params);
      const answer = (await forward(method, params)) as object;
      if (query.pagination.limit === 1) return answer;
      const position = String(BigInt(query.startLedger) << 32n).padStart(19, '0');
      return { ...answer, events: [], cursor: `${position}-0000000000` };
    };
    assert.deepEqual(await memosBehind(breaksOff, from), memos);
  });

  it('are requested in the size that the node states', async () => {
    const { from, memos } = await paid();
    const strict: Behaviour = (method, params, forward) => {
      if (method === 'getEvents' && queryOf(params).pagination.limit > 5)
        throw new Refusal(-32602, 'limit must not exceed 5');
      return forward(method, params);
    };
    assert.deepEqual(await memosBehind(strict, from), memos);
  });

  it('hold the cursor, with the reason, if they never end', async () => {
    const { from } = await paid();
    const round: Behaviour = async (method, params, forward) => {
      const answer = (await clipped(1)(method, params, forward)) as Record<string, unknown>;
      return method === 'getEvents' ? { ...answer, cursor: `${'0'.repeat(19)}-0000000000` } : answer;
    };
    const proxy = await startProxy(world.stellar.rpcUrl, round);
    await assert.rejects(scanned(world.config([proxy.url]), from), ChainUnavailable);
  });

  it('are trusted only to their end if they lag behind the node’s own statement, and nothing after that is skipped', async () => {
    const { from, memos } = await paid();
    const last = Number(world.here().blockNumber) - 4;
    const lags: Behaviour = async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      if (method !== 'getEvents') return answer;
      const events = (answer['events'] as { ledger: number }[]).filter(({ ledger }) => ledger <= last);
      return { ...answer, events, latestLedger: last };
    };
    const proxy = await startProxy(world.stellar.rpcUrl, lags);
    const config = world.config([proxy.url]);
    const { ingester } = watching(config);
    const ranges: ScannedRange[] = [];
    const reading = async () => {
      for await (const range of ingester.scan(from, signal)) ranges.push(range);
    };
    await assert.rejects(reading(), /lags behind/);
    const [first] = ranges;
    assert.equal(first?.next.blockNumber, BigInt(last));
    proxy.behave(honest);
    const rest = first && (await scanned(config, first.next));
    assert.deepEqual(
      [...(first?.logs ?? []), ...(rest?.logs ?? [])].map(({ memo }) => memo),
      memos,
    );
  });

  it('are refused from a node before Stellar RPC 23, in a sentence that names the version', async () => {
    const { from } = await paid();
    const old: Behaviour = async (method, params, forward) => {
      const { oldestLedger: _, ...answer } = (await forward(method, params)) as Record<string, unknown>;
      return answer;
    };
    const proxy = await startProxy(world.stellar.rpcUrl, old);
    await assert.rejects(scanned(world.config([proxy.url]), from), /Stellar RPC 23 or later/);
  });

  describe('from a node that stops emitting classic events', () => {
    const blind: Behaviour = async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      return method === 'getEvents' ? { ...answer, events: [] } : answer;
    };

    it('do not move the cursor; the reason names the next step', async () => {
      const proxy = await startProxy(world.stellar.rpcUrl);
      const config = world.config([proxy.url]);
      const { ingester } = watching(config);
      const before = world.here();
      await collected(ingester.scan(before, signal));
      await world.send('5', Memo.text('unseen'));
      proxy.behave(blind);
      await assert.rejects(collected(ingester.scan(before, signal)), /CAP-67.*EMIT_UNIFIED_EVENTS/);
      proxy.behave(honest);
      const [range] = await collected(ingester.scan(before, signal));
      assert.equal(range?.logs[0]?.memo, 'unseen');
    });

    it('never skip a payin if only some of the nodes behind one address do so', async () => {
      for (let nth = 0; nth < 10; nth++) {
        const from = world.here();
        await world.send('1', Memo.text(`among ${nth}`));
        // The calls of one request, which arrive in the same tick, reach the same node.
        let requests = nth;
        let seesNow: boolean | undefined;
        const mixed: Behaviour = (...call) => {
          if (seesNow === undefined) {
            seesNow = (Math.imul(++requests, 0x9e3779b1) >>> 16) % 3 === 0;
            queueMicrotask(() => {
              seesNow = undefined;
            });
          }
          return (seesNow ? honest : blind)(...call);
        };
        const proxy = await startProxy(world.stellar.rpcUrl, mixed);
        const { ingester } = watching(world.config([proxy.url]));
        const seen: (string | null)[] = [];
        let cursor = from;
        for (let looks = 0; looks < 60 && cursor.blockNumber < world.here().blockNumber; looks++) {
          const ranges = await collected(ingester.scan(cursor, signal)).catch(() => []);
          seen.push(...ranges.flatMap(({ logs }) => logs.map(({ memo }) => memo)));
          cursor = ranges.at(-1)?.next ?? cursor;
        }
        assert.deepEqual(seen, [`among ${nth}`]);
      }
    });

    it('are requested from another node', async () => {
      const from = world.here();
      await world.send('5', Memo.text('seen there'));
      const proxy = await startProxy(world.stellar.rpcUrl, blind);
      const { logs } = await scanned(world.config([proxy.url, world.stellar.rpcUrl]), from);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['seen there'],
      );
    });

    it('are noticed in the middle of a long range too, and ledgers without transactions are no sign', async () => {
      const from = world.here();
      world.stellar.closeLedgers(400);
      const proxy = await startProxy(world.stellar.rpcUrl, blind);
      assert.equal((await scanned(world.config([proxy.url]), from)).cursor.blockNumber, world.here().blockNumber);
      await world.send('1');
      world.stellar.closeLedgers(5);
      await assert.rejects(scanned(world.config([proxy.url]), from), /CAP-67/);
    });
  });
});
