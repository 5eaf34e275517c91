import assert from 'node:assert/strict';
import { NEVER, Subject } from 'rxjs';
import type { NodeHead } from '../../commands/chainPorts.ts';
import { instant } from '../../domain/time.ts';
import { createRhythm, relaxed_ms, watchHeads } from '../../src/workers/payins/headWatch.ts';

const block = (blockNumber: number, hash = `block ${blockNumber}`): NodeHead => ({
  blockNumber: BigInt(blockNumber),
  mark: hash,
});

describe('watching the head of a chain', () => {
  it('wakes the passes once for the chain’s head, and not again while it does not change', async () => {
    const { wakes } = await watched([Array(20).fill(block(7))]);
    assert.deepEqual(wakes, [0]);
  });

  it('wakes them for each block, for another block in the same place, and for a chain that has become shorter', async () => {
    const heads = [block(7), block(7), block(8), block(8, 'fork'), block(8, 'fork'), block(6)];
    assert.deepEqual((await watched([heads])).wakes, [0, 2, 3, 5]);
  });

  it('wakes them when a node stops answering and when it answers again', async () => {
    assert.deepEqual((await watched([[block(7), null, null, block(7), block(7)]])).wakes, [0, 1, 3]);
  });

  it('detects a block by any node, and waits for none that lags or hangs', async () => {
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
      ...alwaysAwaited,
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

describe('the times of a head’s polls', () => {
  it('include every usual poll while a chain stops', () => {
    const polls = pollsAt({ blockAt: () => false, until_ms: 60_000 });
    assert.equal(polls.length, 120);
  });

  it('are just after the blocks of a chain that makes them regularly, with few additional polls', () => {
    const { late, polls } = follow({ period_ms: 2_000, jitter_ms: 0 });
    assert.ok(mean(late.slice(10)) <= 25 && Math.max(...late.slice(10)) <= 75, `late by ${late}`);
    assert.ok(polls / late.length <= 8, `${polls} polls for ${late.length} blocks`);
  });

  it('are soon after blocks that are early or late', () => {
    const { late, polls } = follow({ period_ms: 2_000, jitter_ms: 300 });
    assert.ok(mean(late.slice(10)) <= 160, `late by ${late}`);
    assert.ok(polls / late.length <= 12, `${polls} polls for ${late.length} blocks`);
  });

  it('are never more frequent than the usual polls if blocks arrive faster', () => {
    const { polls } = follow({ period_ms: 250, jitter_ms: 0 });
    assert.ok(polls <= (200 * 250) / 500 + 1);
  });

  it('follow a chain that becomes faster or slower', () => {
    const slow = follow({ period_ms: 3_000, jitter_ms: 0, first_ms: 1_000 });
    const fast = follow({ period_ms: 1_000, jitter_ms: 0, first_ms: 2_500 });
    for (const { late } of [slow, fast]) assert.ok(mean(late.slice(-20)) <= 50, `late by ${late}`);
  });
});

describe('a chain that no payment waits for', () => {
  it('is polled at a relaxed pace, and its blocks wake the passes nevertheless', async () => {
    const { polls_ms, wakes_ms } = await pacedPolls({ until_ms: 60_000, blockEvery_ms: 1_000 });
    assert.deepEqual(gaps(polls_ms), repeated(12, relaxed_ms));
    assert.deepEqual(wakes_ms, polls_ms);
  });

  it('is polled as usual from the poll on that follows the creation of a payment, and relaxed again when it is over', async () => {
    const { polls_ms } = await pacedPolls({ until_ms: 60_000, awaited: [[21_200, 40_000]] });
    const first_ms = polls_ms.find((at_ms) => at_ms >= 21_200) ?? 0;
    assert.ok(first_ms - 21_200 <= poll_ms, `polled at ${first_ms}`);
    assert.deepEqual(gaps(polls_ms.filter((at_ms) => at_ms >= first_ms && at_ms <= 40_000)), repeated(37, poll_ms));
    assert.deepEqual(gaps(polls_ms.filter((at_ms) => at_ms > 40_000 + relaxed_ms)), repeated(2, relaxed_ms));
  });

  it('remains relaxed while payments of other chains begin and end', async () => {
    const { polls_ms } = await pacedPolls({ until_ms: 60_000, changesEvery_ms: 100 });
    assert.deepEqual(gaps(polls_ms), repeated(12, relaxed_ms));
  });

  it('is polled as usual while it is unknown whether a payment waits', async () => {
    const { polls_ms } = await pacedPolls({ until_ms: 10_000, fails: true });
    assert.deepEqual(gaps(polls_ms), repeated(20, poll_ms));
  });

  it('is polled as usual half a minute after a payment whose notification was lost', async () => {
    const { polls_ms } = await pacedPolls({ until_ms: 60_000, awaited: [[21_200, 60_000]], told: false });
    const first_ms = polls_ms.find((at_ms) => at_ms >= 21_200) ?? 0;
    assert.ok(first_ms - 21_200 <= relaxed_ms, `polled at ${first_ms}`);
    assert.deepEqual(new Set(gaps(polls_ms.filter((at_ms) => at_ms >= 21_200 + 30_000))), new Set([poll_ms]));
  });

  it('costs few calls, and so does one that payments always wait for', async () => {
    const quiet = await pacedPolls({ until_ms: 60_000 });
    const busy = await pacedPolls({ until_ms: 60_000, awaited: [[0, 60_000]], changesEvery_ms: 10 });
    for (const { questions } of [quiet, busy])
      assert.ok(questions <= 60_000 / relaxed_ms + 1, `${questions} questions`);
  });
});

describe('a chain whose nodes push news', () => {
  /** Polls until `until_ms` with a clock that advances in the pauses; pushes arrive at these times. */
  async function polled({
    until_ms,
    pushes_ms,
    asked = () => {},
    live = true,
  }: {
    readonly until_ms: number;
    readonly pushes_ms: readonly number[];
    /** True if the connection is live, so that polls may be rare. */
    readonly live?: boolean;
    /** Called while a node is queried. */
    readonly asked?: (at_ms: number, wakes: Subject<void>) => void;
  }) {
    const polls_ms: number[] = [];
    const wakes = new Subject<void>();
    const waiting = [...pushes_ms];
    const done = Promise.withResolvers<void>();
    let now_ms = 0;
    const watch = watchHeads({
      nodeHeads: [
        async () => {
          polls_ms.push(now_ms);
          asked(now_ms, wakes);
          return block(now_ms);
        },
      ],
      clock: {
        now: () => instant(now_ms),
        async sleep(duration_ms, signal) {
          for (const end_ms = now_ms + duration_ms; now_ms < end_ms && !signal?.aborted; ) {
            now_ms = Math.min(end_ms, now_ms + 100);
            if (waiting[0] !== undefined && waiting[0] <= now_ms) {
              waiting.shift();
              wakes.next();
            }
          }
          if (now_ms <= until_ms) return;
          done.resolve();
          await new Promise(() => {});
        },
      },
      poll_ms,
      pushed: { wakes, isLive: () => live },
      ...alwaysAwaited,
    });
    const listening = watch.moved.subscribe();
    await done.promise;
    listening.unsubscribe();
    return polls_ms;
  }

  it('is polled every five seconds although payments wait', async () => {
    assert.deepEqual(gaps(await polled({ until_ms: 30_000, pushes_ms: [] })), repeated(6, relaxed_ms));
  });

  it('is polled as soon as a push arrives, and once more right after', async () => {
    const polls_ms = await polled({ until_ms: 9_000, pushes_ms: [2_000] });
    assert.deepEqual(polls_ms, [0, 2_000, 2_300, 7_300]);
  });

  it('is polled right after a poll during which a push arrived', async () => {
    const asked = (at_ms: number, wakes: Subject<void>) => (at_ms === 5_000 ? wakes.next() : undefined);
    const polls_ms = await polled({ until_ms: 11_000, pushes_ms: [], asked });
    assert.deepEqual(polls_ms, [0, 5_000, 5_200, 5_500, 10_500]);
  });

  it('is polled as often as without pushes if a poll may miss unpushed transfers, and sooner for a push', async () => {
    assert.deepEqual(gaps(await polled({ until_ms: 5_000, pushes_ms: [], live: false })), repeated(10, poll_ms));
    const polls_ms = await polled({ until_ms: 2_000, pushes_ms: [800, 1_100], live: false });
    assert.deepEqual(polls_ms, [0, 500, 800, 1_100, 1_600]);
  });

  it('is polled twice as often at most for a flood of pushes there', async () => {
    const pushes_ms = Array.from({ length: 50 }, (_, at) => at * 100);
    const polls_ms = await polled({ until_ms: 4_000, pushes_ms, live: false });
    assert.ok(
      gaps(polls_ms).every((gap_ms) => gap_ms >= poll_ms / 2),
      polls_ms.join(' '),
    );
  });

  it('is polled no faster for a flood of pushes than five times a second', async () => {
    const pushes_ms = Array.from({ length: 50 }, (_, at) => at * 100);
    const polls_ms = await polled({ until_ms: 4_000, pushes_ms });
    assert.ok(
      gaps(polls_ms).every((gap_ms) => gap_ms >= 200),
      polls_ms.join(' '),
    );
  });
});

const repeated = (times: number, value: number): readonly number[] => Array(times).fill(value);

const gaps = (times_ms: readonly number[]): readonly number[] =>
  times_ms.slice(1).map((at_ms, n) => at_ms - (times_ms[n] ?? 0));

const alwaysAwaited = { isAwaited: async () => true, changes: () => 0, changed: NEVER };

interface Paced {
  readonly until_ms: number;
  readonly blockEvery_ms?: number;
  /** Periods in which a payment waits. */
  readonly awaited?: readonly (readonly [number, number])[];
  /** True if a change of the waiting payments is notified. */
  readonly told?: boolean;
  readonly changesEvery_ms?: number;
  readonly fails?: boolean;
}

/** Watches one node with a clock that advances in the polls' own pauses. */
async function pacedPolls(paced: Paced) {
  const { until_ms, blockEvery_ms = Number.POSITIVE_INFINITY, awaited = [], told = true } = paced;
  const polls_ms: number[] = [];
  const wakes_ms: number[] = [];
  let now_ms = 0;
  let questions = 0;
  const done = Promise.withResolvers<void>();
  const changed = new Subject<void>();
  const changes = () =>
    (told ? awaited.flat().filter((at_ms) => at_ms <= now_ms).length : 0) +
    Math.floor(now_ms / (paced.changesEvery_ms ?? Number.POSITIVE_INFINITY));
  const watch = watchHeads({
    nodeHeads: [
      async () => {
        polls_ms.push(now_ms);
        return block(Math.floor(now_ms / blockEvery_ms));
      },
    ],
    clock: {
      now: () => instant(now_ms),
      async sleep(duration_ms, signal) {
        for (const end_ms = now_ms + duration_ms; now_ms < end_ms && !signal?.aborted; ) {
          const before = changes();
          now_ms = Math.min(end_ms, now_ms + 100);
          if (changes() !== before) changed.next();
        }
        if (now_ms <= until_ms) return;
        done.resolve();
        await new Promise(() => {});
      },
    },
    poll_ms,
    async isAwaited() {
      questions += 1;
      if (paced.fails) throw new Error('Postgres is away');
      return awaited.some(([from_ms, to_ms]) => from_ms <= now_ms && now_ms < to_ms);
    },
    changes,
    changed,
  });
  const listening = watch.moved.subscribe(() => wakes_ms.push(now_ms));
  await done.promise;
  listening.unsubscribe();
  return { polls_ms, wakes_ms, questions };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const blocks = 200;
const poll_ms = 500;

/** Delay of each block's detection. The first quarter of the blocks arrives every `first_ms`; the jitter is the same in each run. */
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

/** @param nodes heads of each node, poll by poll; null: it does not answer @returns the polls of the first node that woke the passes */
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
    ...alwaysAwaited,
  });
  const wakes: number[] = [];
  const listening = watch.moved.subscribe(() => wakes.push((polls[0] ?? 0) - 1));
  await stop.promise;
  listening.unsubscribe();
  return { wakes, moves: watch.moves() };
}
