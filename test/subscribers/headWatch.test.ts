import assert from 'node:assert/strict';
import type { NodeHead } from '../../commands/chainPorts.ts';
import { instant } from '../../domain/time.ts';
import { createRhythm, watchHeads } from '../../src/subscribers/headWatch.ts';

const block = (blockNumber: number, hash = `block ${blockNumber}`): NodeHead => ({
  blockNumber: BigInt(blockNumber),
  mark: hash,
});

describe('watching the head of a chain', () => {
  it('wakes the passes once for where the chain stands, and not again while it stands', async () => {
    const { wakes } = await watched([Array(20).fill(block(7))]);
    assert.deepEqual(wakes, [0]);
  });

  it('wakes them for each block, for another block in the same place, and for a chain that has become shorter', async () => {
    const heads = [block(7), block(7), block(8), block(8, 'fork'), block(8, 'fork'), block(6)];
    assert.deepEqual((await watched([heads])).wakes, [0, 2, 3, 5]);
  });

  it('wakes them when a node ceases to answer and when it answers again', async () => {
    assert.deepEqual((await watched([[block(7), null, null, block(7), block(7)]])).wakes, [0, 1, 3]);
  });

  it('sees a block by whichever node shows it, and waits for none that lags or hangs', async () => {
    const lags = Array(4).fill(block(7));
    const leads = [block(7), block(7), block(7), block(8)];
    const { moves } = await watched([lags, leads, 'hangs']);
    assert.equal(moves, 3);
  });

  it('polls no node while nobody listens', async () => {
    let polls = 0;
    const watch = watchHeads({
      nodeHeads: [
        async () => {
          polls += 1;
          return block(polls);
        },
      ],
      clock: { now: () => instant(0), sleep: () => new Promise((resolve) => setImmediate(resolve)) },
      poll_ms: 500,
    });
    assert.equal(polls, 0);
    await new Promise<void>((resolve) => {
      const listening = watch.moved.subscribe(() => {
        if (watch.moves() < 3) return;
        listening.unsubscribe();
        resolve();
      });
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(polls, 3);
  });
});

describe('when the head is polled', () => {
  it('is every poll of a chain that stands', () => {
    const polls = pollsAt({ blockAt: () => false, until_ms: 60_000 });
    assert.equal(polls.length, 120);
  });

  it('is just after the blocks of a chain that makes them regularly, by few polls more', () => {
    const { late, polls } = follow({ period_ms: 2_000, jitter_ms: 0 });
    assert.ok(mean(late.slice(10)) <= 25 && Math.max(...late.slice(10)) <= 75, `late by ${late}`);
    assert.ok(polls / late.length <= 8, `${polls} polls for ${late.length} blocks`);
  });

  it('is soon after blocks that come early or late', () => {
    const { late, polls } = follow({ period_ms: 2_000, jitter_ms: 300 });
    assert.ok(mean(late.slice(10)) <= 160, `late by ${late}`);
    assert.ok(polls / late.length <= 12, `${polls} polls for ${late.length} blocks`);
  });

  it('is never more often than every poll where blocks come faster', () => {
    const { polls } = follow({ period_ms: 250, jitter_ms: 0 });
    assert.ok(polls <= (200 * 250) / 500 + 1);
  });

  it('follows a chain that becomes faster or slower', () => {
    const slow = follow({ period_ms: 3_000, jitter_ms: 0, first_ms: 1_000 });
    const fast = follow({ period_ms: 1_000, jitter_ms: 0, first_ms: 2_500 });
    for (const { late } of [slow, fast]) assert.ok(mean(late.slice(-20)) <= 50, `late by ${late}`);
  });
});

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const blocks = 200;
const poll_ms = 500;

/** How late each block is seen. The first quarter of them comes every `first_ms`; the jitter is the same in each run. */
function follow({
  period_ms,
  jitter_ms,
  first_ms = period_ms,
}: {
  period_ms: number;
  jitter_ms: number;
  first_ms?: number;
}) {
  const born: number[] = [];
  let next_ms = 0;
  for (let n = 0; n < blocks; n += 1) {
    next_ms += n < blocks / 4 ? first_ms : period_ms;
    born.push(next_ms + Math.round(jitter_ms * Math.sin(n * n)));
  }
  const late: number[] = [];
  const polls = pollsAt({
    until_ms: born.at(-1) ?? 0,
    blockAt(now_ms) {
      const seen = born.filter((at_ms) => at_ms <= now_ms).length;
      const news = seen - late.length;
      for (const at_ms of born.slice(late.length, seen)) late.push(now_ms - at_ms);
      return news > 0 && news;
    },
  });
  return { late, polls: polls.length };
}

function pollsAt({ blockAt, until_ms }: { blockAt: (now_ms: number) => number | false; until_ms: number }) {
  const rhythm = createRhythm(poll_ms);
  const polls: number[] = [];
  for (let now_ms = 0; now_ms < until_ms; now_ms += rhythm.pause_ms(now_ms)) {
    polls.push(now_ms);
    const news = blockAt(now_ms);
    if (news === false) rhythm.stood(now_ms);
    else rhythm.moved(now_ms, news);
  }
  return polls;
}

/** What nodes show, poll by poll; null where one does not answer. @returns at which of the first node's polls the passes were woken */
async function watched(nodes: readonly (readonly (NodeHead | null)[] | 'hangs')[]) {
  const polls = nodes.map(() => 0);
  const stop = Promise.withResolvers<void>();
  const watch = watchHeads({
    nodeHeads: nodes.map((heads, node) => async () => {
      if (heads === 'hangs') return new Promise<NodeHead>(() => {});
      const at = polls[node] ?? 0;
      polls[node] = at + 1;
      if (nodes.every((other, n) => other === 'hangs' || (polls[n] ?? 0) > other.length)) stop.resolve();
      const head = heads[Math.min(at, heads.length - 1)];
      if (!head) throw new Error('no answer');
      return head;
    }),
    clock: { now: () => instant(0), sleep: () => new Promise((resolve) => setImmediate(resolve)) },
    poll_ms,
  });
  const wakes: number[] = [];
  const listening = watch.moved.subscribe(() => wakes.push((polls[0] ?? 0) - 1));
  await stop.promise;
  listening.unsubscribe();
  return { wakes, moves: watch.moves() };
}
