import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { type CrashPoint, type EventStore, Unavailable } from '../../commands/ports.ts';
import {
  createSendWebhook,
  redeliveryIdOf,
  signWebhook,
  triesInOutage,
  type WebhookAnswer,
  type WebhookMessage,
} from '../../commands/sendWebhook.ts';
import { epochMs, instant } from '../../domain/time.ts';
import { redeliveryOf, requestHeaders, underWay_ms } from '../../domain/webhook.ts';
import { randomIds } from '../../src/process/system.ts';
import { deliveryStart } from '../support/deliveries.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';

const still = { now: () => instant(1_000), sleep: async () => {} };
const clock = still;
/** A clock on which only waiting takes time. */
function waitingClock(onSleep: () => Promise<unknown> = async () => {}) {
  let now_ms = 1_000;
  return {
    now: () => instant(now_ms),
    async sleep(duration_ms: number) {
      now_ms += duration_ms;
      await onSleep();
    },
  };
}
const { startedAt: _, ...delivery } = deliveryStart();
const stream = `webhook-${delivery.deliveryId}`;
const by = { cause: 'worker:webhooks' } as const;
const body = Buffer.from('{"event_id":"1"}');
const secret = '5e'.repeat(32);
const ok: WebhookAnswer = { statusCode: 200, error: null, responsePreview: 'ok', sent: true };

interface Given {
  readonly answer?: WebhookAnswer;
  readonly store?: EventStore;
  /** Read one after the other. */
  readonly secrets?: readonly (string | Error | null)[];
  readonly triesMax?: typeof triesInOutage;
  readonly clock?: typeof still | ReturnType<typeof waitingClock>;
}

/** A receiver that counts, and processes that start and end over one store. */
function world({ answer = ok, store = memoryEventStore(), secrets = [], triesMax, clock = still }: Given = {}) {
  const posts: WebhookMessage[] = [];
  const asked = [...secrets];
  const post = async (sent: WebhookMessage) => {
    posts.push(sent);
    return answer;
  };
  const startProcess = (crash: CrashPoint = () => {}) =>
    createSendWebhook({
      handle: createHandle({ store, clock, ids: randomIds, codec: eventCodec, crash }),
      clock,
      ids: randomIds,
      post,
      ...(triesMax && { triesMax }),
      bodyOf: async () => body,
      async secretOf() {
        const next = asked.length > 0 ? (asked.shift() ?? null) : secret;
        if (next instanceof Error) throw next;
        return next;
      },
      crash,
    });
  const recorded = async () => (await store.read(stream)).map((event) => event.type);
  return { posts, startProcess, recorded, store };
}

class Crashed extends Error {}
const crashAt =
  (point: string): CrashPoint =>
  (name) => {
    if (name === point) throw new Crashed(name);
  };

describe('send webhook', () => {
  it('records the start, posts the bytes, records the outcome', async () => {
    const { posts, startProcess, store } = world();
    assert.equal(await startProcess()(delivery, by), 'delivered');
    const request = signWebhook({ deliveryId: delivery.deliveryId, body, secret }, 1_000);
    assert.deepEqual(posts, [{ url: delivery.url, headers: requestHeaders(delivery, request), body }]);
    const [start, outcome] = await store.read(stream);
    assert.deepEqual(start?.data, { ...delivery, startedAt: clock.now() });
    assert.equal(outcome?.type, 'WebhookDelivered');
    const { sent: _, ...answer } = ok;
    assert.deepEqual(outcome?.data, { ...answer, request, duration_ms: 0, finishedAt: clock.now() });
    assert.equal(start?.metadata.appId, delivery.appId);
  });

  for (const answer of [
    { statusCode: 500, error: null, responsePreview: 'no', sent: true },
    { statusCode: 302, error: null, responsePreview: '', sent: true },
    { statusCode: null, error: 'timeout', responsePreview: null, sent: true },
  ] as const) {
    it(`never retries after ${answer.statusCode ?? answer.error}`, async () => {
      const { posts, startProcess, recorded } = world({ answer });
      const send = startProcess();
      assert.equal(await send(delivery, by), 'exhausted');
      assert.equal(await send(delivery, by), 'notOurs');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookExhausted']);
    });
  }

  it('records no request when none was sent', async () => {
    const answer = { statusCode: null, error: 'blockedAddress', responsePreview: null, sent: false } as const;
    const { startProcess, store } = world({ answer });
    assert.equal(await startProcess()(delivery, by), 'exhausted');
    assert.partialDeepStrictEqual((await store.read(stream))[1]?.data, { request: null });
  });

  describe('an endpoint that was removed', () => {
    const toEndpoint = { ...delivery, endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2' };
    for (const [when, secrets] of [
      ['before the claim', [null, null]],
      ['right after the claim', [secret, null]],
    ] as const)
      it(`${when} gets nothing, and the delivery says why`, async () => {
        const { posts, startProcess, store } = world({ secrets });
        assert.equal(await startProcess()(toEndpoint, by), 'exhausted');
        assert.equal(await startProcess()(toEndpoint, by), 'notOurs');
        assert.deepEqual(posts, []);
        const [start, outcome] = await store.read(stream);
        assert.partialDeepStrictEqual(start?.data, { endpointId: toEndpoint.endpointId });
        assert.partialDeepStrictEqual(outcome?.data, { error: 'endpointRemoved', request: null });
      });

    it('gets nothing after a crash between claim and POST, like any endpoint', async () => {
      for (const place of ['webhook.afterClaim', 'webhook.afterPost']) {
        const { posts, startProcess } = world();
        await assert.rejects(startProcess(crashAt(place))(toEndpoint, by), Crashed);
        assert.equal(await startProcess()(toEndpoint, by), 'notOurs');
        assert.equal(posts.length, place === 'webhook.afterPost' ? 1 : 0, 'at most one POST');
      }
    });
  });

  describe('the secret', () => {
    const signedWith = (sent: WebhookMessage | undefined, candidates: readonly string[]) =>
      candidates.filter(
        (candidate) =>
          signWebhook({ deliveryId: delivery.deliveryId, body, secret: candidate }, 1_000).signature ===
          sent?.headers['X-Service-Signature'],
      );
    const [old, fresh] = ['01'.repeat(32), '02'.repeat(32)];

    it('is the one in force once the delivery is claimed', async () => {
      const { posts, startProcess } = world({ secrets: [old, fresh] });
      assert.equal(await startProcess()(delivery, by), 'delivered');
      assert.deepEqual(signedWith(posts[0], [old, fresh]), [fresh]);
    });

    it('leaves the delivery unclaimed if it is unavailable', async () => {
      const { posts, startProcess, recorded } = world({ secrets: [new Error('sealed under another key')] });
      await assert.rejects(startProcess()(delivery, by), /another key/);
      assert.deepEqual([posts.length, await recorded()], [0, []]);
      assert.equal(await startProcess()(delivery, by), 'delivered');
    });

    it('is the one from just before the claim while the store is away after it', async () => {
      const { posts, startProcess } = world({ secrets: [old, new Unavailable('the store is away')] });
      assert.equal(await startProcess()(delivery, by), 'delivered');
      assert.deepEqual(signedWith(posts[0], [old, fresh]), [old]);
    });
  });

  it('posts once when many workers claim it at the same time', async () => {
    const { posts, startProcess, recorded } = world();
    const workers = Array.from({ length: 20 }, () => startProcess());
    const results = await Promise.all(workers.map((send) => send(delivery, by)));
    assert.deepEqual(results.toSorted(), ['delivered', ...Array(19).fill('notOurs')]);
    assert.equal(posts.length, 1);
    assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookDelivered']);
  });

  describe('after a crash', () => {
    const stayedStarted = ['WebhookSendStarted'];
    const finished = ['WebhookSendStarted', 'WebhookDelivered'];
    const points: readonly [string, { posts: number; recorded: readonly string[] }][] = [
      ['webhook.beforeClaim', { posts: 1, recorded: finished }],
      ['WebhookSendStarted.beforeAppend', { posts: 1, recorded: finished }],
      ['WebhookSendStarted.afterAppend', { posts: 0, recorded: stayedStarted }],
      ['webhook.afterClaim', { posts: 0, recorded: stayedStarted }],
      ['webhook.afterPost', { posts: 1, recorded: stayedStarted }],
      ['WebhookDelivered.beforeAppend', { posts: 1, recorded: stayedStarted }],
      ['WebhookDelivered.afterAppend', { posts: 1, recorded: finished }],
      ['webhook.afterOutcome', { posts: 1, recorded: finished }],
    ];
    for (const [point, expected] of points) {
      it(`at ${point}: ${expected.posts} POST in all, however often it is tried again`, async () => {
        const { posts, startProcess, recorded } = world();
        await assert.rejects(startProcess(crashAt(point))(delivery, by), Crashed);
        for (let run = 0; run < 3; run += 1) await startProcess()(delivery, by);
        assert.equal(posts.length, expected.posts);
        assert.deepEqual(await recorded(), expected.recorded);
      });
    }
  });

  describe('when the store is away', () => {
    const failing = (appends: ReadonlySet<number>) => {
      let append = 0;
      return memoryEventStore({
        at: (point) => {
          if (point !== 'append.before') return;
          append += 1;
          if (appends.has(append)) throw new Unavailable('the store is away');
        },
      });
    };

    it('at the claim: nothing is posted, another run posts', async () => {
      const { posts, startProcess } = world({ store: failing(new Set([1])) });
      await assert.rejects(startProcess()(delivery, by), Unavailable);
      assert.equal(posts.length, 0);
      assert.equal(await startProcess()(delivery, by), 'delivered');
      assert.equal(posts.length, 1);
    });

    it('for a moment at the outcome: it is recorded later', async () => {
      const { posts, startProcess, recorded } = world({ store: failing(new Set([2, 3, 4])) });
      assert.equal(await startProcess()(delivery, by), 'delivered');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookDelivered']);
    });

    describe('and the claim is written, but its answer is lost', () => {
      const answersLost = (appends: number) => {
        let append = 0;
        return memoryEventStore({
          at: (point) => {
            if (point !== 'append.after') return;
            append += 1;
            if (append <= appends) throw new Unavailable('the store is away');
          },
        });
      };

      it('a worker tries again, finds its own claim and posts once', async () => {
        const { posts, startProcess, recorded } = world({ store: answersLost(1), triesMax: triesInOutage });
        assert.equal(await startProcess()(delivery, by), 'delivered');
        assert.equal(posts.length, 1);
        assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookDelivered']);
      });

      it('a worker posts nothing once the app’s owner has had it redelivered meanwhile', async () => {
        const store = answersLost(1);
        const redelivery = redeliveryOf(
          { ...delivery, startedAt: clock.now() },
          redeliveryIdOf(delivery.deliveryId, 1),
        );
        const byHand = world({ store });
        const { posts, startProcess, recorded } = world({
          store,
          triesMax: triesInOutage,
          clock: waitingClock(async () => byHand.startProcess()(redelivery, { cause: 'developer:ann' })),
        });
        assert.equal(await startProcess()(delivery, by), 'notOurs');
        assert.equal(posts.length, 0);
        assert.equal(byHand.posts.length, 1);
        assert.deepEqual(await recorded(), ['WebhookSendStarted']);
      });

      it('another process leaves the delivery to the one that claimed it', async () => {
        const store = answersLost(1);
        const { posts, startProcess } = world({ store, triesMax: triesInOutage });
        const results = await Promise.all([startProcess()(delivery, by), startProcess()(delivery, by)]);
        assert.deepEqual(results.toSorted(), ['delivered', 'notOurs']);
        assert.equal(posts.length, 1);
      });

      it('a request fails at once, posts nothing, and the delivery stays started', async () => {
        const { posts, startProcess, recorded } = world({ store: answersLost(1) });
        await assert.rejects(startProcess()(delivery, by), Unavailable);
        assert.equal(posts.length, 0);
        assert.deepEqual(await recorded(), ['WebhookSendStarted']);
      });
    });

    it('until a later try claims it: the delivery starts then, so nobody may redeliver it while it is sent', async () => {
      const clock = waitingClock();
      const failures = new Set(Array.from({ length: 30 }, (_, index) => index + 1));
      const { startProcess, store } = world({ store: failing(failures), triesMax: triesInOutage, clock });
      assert.equal(await startProcess()(delivery, by), 'delivered');
      const [start, outcome] = await store.read(stream);
      assert.partialDeepStrictEqual(start?.data, { startedAt: clock.now() });
      assert.ok(epochMs(clock.now()) > underWay_ms, 'the outage lasts longer than one POST');
      assert.partialDeepStrictEqual(outcome?.data, { duration_ms: 0 });
    });

    it('for as long as a worker waits: claim and outcome are each tried that often', async () => {
      const tries = triesInOutage.claim - 1;
      const failures = new Set(Array.from({ length: 2 * tries + 1 }, (_, index) => index + 1));
      failures.delete(tries + 1);
      const { posts, startProcess, recorded } = world({ store: failing(failures), triesMax: triesInOutage });
      assert.equal(await startProcess()(delivery, by), 'delivered');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookDelivered']);
    });

    it('while the process is asked to stop: it gives up as soon as a request would', async () => {
      const stopped = AbortSignal.abort();
      const { posts, startProcess } = world({ store: failing(new Set([1])), triesMax: triesInOutage });
      await assert.rejects(startProcess()(delivery, by, stopped), Unavailable);
      assert.equal(posts.length, 0);
    });

    it('permanently at the outcome: it gives up and never posts again', async () => {
      const { posts, startProcess, recorded } = world({
        store: failing(new Set([2, 3, 4, 5, 6, 7, 8, 9])),
      });
      await assert.rejects(startProcess()(delivery, by), Unavailable);
      assert.equal(await startProcess()(delivery, by), 'notOurs');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted']);
    });
  });
});
