import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ClientOptions,
  createClient,
  type NewPayment,
  PaymentsError,
} from '../../clients/typescript/src/index.ts';
import type { AppEvent } from '../../queries/feed.ts';
import { goodRequest, startWorld, type World } from '../api/world.ts';
import { created_at } from '../support/payments.ts';

const paymentId = '0198f3c2-0000-8000-8000-000000000001';
const feedOf = (n: number): readonly AppEvent[] =>
  Array.from({ length: n }, (_, index) => ({
    ordinal: String(index + 1),
    eventId: `0198f3c2-0000-8000-8000-${String(index).padStart(12, '0')}`,
    type: 'PayinDetected',
    paymentId,
    orderId: null,
    revision: index,
    status: 'payment_started' as const,
    previousStatus: null,
    errorCode: null,
    at: created_at,
  }));

/** A fault of a server in front of the service. */
type Mishap = (pass: () => Promise<Response>, answer: ServerResponse, request: IncomingMessage) => Promise<void> | void;

describe('the TypeScript client', () => {
  let world: World;
  let proxy: { readonly url: string; mishaps: Mishap[]; seen: string[]; close(): Promise<void> };
  const slept: number[] = [];
  const sleep = async (duration_ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    slept.push(duration_ms);
  };
  let events: readonly AppEvent[] = [];

  before(async () => {
    world = await startWorld({
      feed: {
        events: async (appId, { after, limit }) =>
          (appId === 'wallet_demo' ? events : [])
            .filter(({ ordinal }) => Number(ordinal) > Number(after))
            .slice(0, limit),
        lastOrdinal: async () => String(events.length),
        async *changes() {},
      },
    });
    proxy = await startProxy(() => world.url);
  });
  after(async () => {
    await proxy.close();
    await world.stop();
  });
  beforeEach(() => {
    slept.length = 0;
    proxy.mishaps = [];
    proxy.seen = [];
  });

  const client = (key: 'wallet' | 'walletAdmin' | null = 'wallet', more: Partial<ClientOptions> = {}) =>
    createClient({
      baseUrl: `${proxy.url}/`,
      ...(key ? { apiKey: world.keys[key]['X-API-Key'] as string } : {}),
      sleep,
      random: () => 0.5,
      ...more,
    });
  const order = (more: object = {}) => goodRequest(more) as unknown as NewPayment;
  const code = (of: Promise<unknown>) =>
    of.then(
      () => 'none',
      (error: unknown) => (error instanceof PaymentsError ? error.code : String(error)),
    );

  it('creates, reads by id and by order, also where ids need escaping', async () => {
    const orderId = 'client 1/2?';
    const made = await client().create(order({ orderId }));
    assert.equal(made.status, 'payment_unpaid');
    assert.equal((await client().get(made.id)).id, made.id);
    assert.equal((await client().byOrder('wallet_demo', orderId)).id, made.id);
    assert.equal((await client().create(order({ orderId }))).id, made.id);
  });

  it('creates and reads without a key', async () => {
    const made = await client(null).create(order({ appId: 'wallet_demo' }));
    assert.equal(made.keyless, true);
    assert.equal((await client(null).get(made.id)).id, made.id);
  });

  it('gives calls without an orderId payments of their own', async () => {
    const [one, other] = await Promise.all([client().create(order()), client().create(order())]);
    assert.notEqual(one.id, other.id);
  });

  it('lists page after page, as many as requested', async () => {
    const made = [];
    for (let n = 0; n < 5; n += 1) made.unshift((await client().create(order())).id);
    proxy.seen = [];
    const listed = [];
    for await (const { id } of client('walletAdmin').list({ limit: 2 })) {
      listed.push(id);
      if (listed.length === 5) break;
    }
    assert.deepEqual(listed, made);
    assert.equal(proxy.seen.length, 3);
    const all = [];
    for await (const { id } of client('walletAdmin').list({ limit: 100 })) all.push(id);
    assert.deepEqual(all.slice(0, 5), made);
  });

  it('throws the service’s error, with its code, its fields and the request’s id, and does not retry', async () => {
    const failing = client().create(order({ source: { chainId: 8453, tokenSymbol: 'XYZ' } }));
    const error = await failing.catch((thrown: unknown) => thrown);
    assert.ok(error instanceof PaymentsError);
    assert.deepEqual(
      [error.code, error.status, error.fields[0]?.pointer],
      ['invalidRequest', 400, '/source/tokenSymbol'],
    );
    assert.ok(error.requestId);
    assert.equal(await code(client().get(crypto.randomUUID())), 'paymentNotFound');
    assert.equal(await code(client(null).list().next()), 'unauthenticated');
    assert.equal(await code(client('wallet').list().next()), 'scope_insufficient');
    assert.deepEqual([proxy.seen.length, slept], [4, []]);
  });

  describe('sends again', () => {
    const cut: Mishap = (_pass, answer) => void answer.destroy();
    const cutAfter: Mishap = async (pass, answer) => {
      await pass();
      answer.destroy();
    };
    const cutInside: Mishap = async (pass, answer) => {
      const text = await (await pass()).text();
      answer.writeHead(201, { 'Content-Length': text.length + 10 }).write(text);
      setImmediate(() => answer.destroy());
    };
    const answers =
      (status: number, headers: Record<string, string> = {}): Mishap =>
      (_pass, answer) =>
        void answer.writeHead(status, headers).end('<h1>no</h1>');

    const ways: Record<string, Mishap> = {
      'a connection that breaks before the service has the order': cut,
      'a connection that breaks after the service took the order': cutAfter,
      'an answer that breaks off': cutInside,
      'a 500 of the service': answers(500),
      'a 502 of a proxy': answers(502),
      'a 503': answers(503),
      'a 504 after the service took the order': async (pass, answer) => {
        await pass();
        answer.writeHead(504).end();
      },
      'a 408': answers(408),
      'a 429': answers(429),
      'an answer that does not come': async () => {},
    };
    for (const [what, mishap] of Object.entries(ways)) {
      it(`after ${what}: there is one payment, with and without an orderId`, async () => {
        for (const more of [{}, { orderId: `again ${what}` }]) {
          const before = await countPayments();
          proxy.mishaps = [mishap, mishap];
          const patience = what === 'an answer that does not come' ? { timeout_ms: 1_000 } : {};
          const made = await client('wallet', patience).create(order(more));
          assert.equal(made.status, 'payment_unpaid');
          assert.equal((await countPayments()) - before, 1);
        }
      });
    }

    async function countPayments(): Promise<number> {
      let count = 0;
      const reader = createClient({ baseUrl: world.url, apiKey: world.keys.walletAdmin['X-API-Key'] as string });
      for await (const _ of reader.list({ limit: 100 })) count += 1;
      return count;
    }

    it('five times at most, waiting twice as long each time and a random part less', async () => {
      proxy.mishaps = Array.from({ length: 9 }, () => answers(503));
      assert.equal(await code(client().get(paymentId)), 'unreadableAnswer');
      assert.deepEqual([proxy.seen.length, slept], [5, [250, 500, 1_000, 2_000]]);
    });

    it('not before Retry-After, and not at all when that is too long', async () => {
      const made = await client().create(order());
      slept.length = 0;
      proxy.mishaps = [answers(429, { 'Retry-After': '7' })];
      await client().get(made.id);
      assert.deepEqual(slept, [7_250]);
      proxy.mishaps = [answers(503, { 'Retry-After': '3600' })];
      assert.equal(await code(client().get(made.id)), 'unreadableAnswer');
      assert.deepEqual(slept, [7_250]);
    });

    it('but follows no redirect, which would take the key along', async () => {
      proxy.mishaps = Array.from({ length: 5 }, () => answers(307, { Location: `${proxy.url}/elsewhere` }));
      assert.equal(await code(client().get(paymentId)), 'connection');
      assert.deepEqual([...new Set(proxy.seen)], [`GET /payment-api/payments/${paymentId}`]);
    });

    it('but not when its caller aborts while no answer arrives', async () => {
      const leaving = new AbortController();
      proxy.mishaps = [() => leaving.abort(new Error('left'))];
      await assert.rejects(client().get(paymentId, { signal: leaving.signal }), /left/);
      assert.deepEqual([proxy.seen.length, slept], [1, []]);
    });

    it('but not once its caller has aborted', async () => {
      const reason = new Error('given up');
      proxy.mishaps = [cut];
      const given = AbortSignal.abort(reason);
      await assert.rejects(client().get(paymentId, { signal: given }), reason);
      assert.deepEqual(proxy.seen, []);
    });
  });

  describe('waits for a payment', () => {
    it('until its end', async () => {
      const { id } = await client().create(order());
      let looks = 0;
      const patient = client('wallet', {
        sleep: async () => {
          looks += 1;
          if (looks === 3) await world.expire(id);
        },
      });
      assert.equal((await patient.waitFor(id)).status, 'payment_expired');
      assert.equal(looks, 3);
    });

    it('until a requested status', async () => {
      const { id } = await client().create(order());
      assert.equal((await client().waitFor(id, { until: 'payment_unpaid' })).status, 'payment_unpaid');
    });

    it('no longer than its timeout, nor once its caller has aborted', async () => {
      const { id } = await client().create(order());
      assert.equal(await code(client().waitFor(id, { timeout_ms: 10_000 })), 'timeout');
      assert.equal(slept.length, 5);
      const leaving = new AbortController();
      const leaver = client('wallet', { sleep: async () => leaving.abort(new Error('left')) });
      await assert.rejects(leaver.waitFor(id, { signal: leaving.signal }), /left/);
    });
  });

  describe('reads the feed', () => {
    let saved: string | null;
    const handled: string[] = [];
    beforeEach(() => {
      saved = null;
      handled.length = 0;
      events = feedOf(250);
    });
    const save = (now: string) => {
      saved = now;
    };
    const cursor = { load: () => saved, save, wait_s: 0 };
    const ids = () => events.map(({ eventId }) => eventId);

    it('once and in order, over pages, and continues from its cursor', async () => {
      for await (const { eventId } of client('walletAdmin').events(cursor)) handled.push(eventId);
      events = feedOf(260);
      for await (const { eventId } of client('walletAdmin').events(cursor)) handled.push(eventId);
      assert.deepEqual(handled, ids());
      assert.equal(saved, '260');
    });

    it('once, though its reader dies at any moment, also between its work and the cursor', async () => {
      for (let life = 0; handled.length < events.length; life += 1) {
        assert.ok(life < 400);
        let left = 1 + (life % 7);
        const falls = () => {
          left -= 1;
          if (left === 0) throw new Error('killed');
        };
        try {
          const reading = client('walletAdmin').events({
            ...cursor,
            save: (now) => {
              falls();
              saved = now;
            },
            isHandled: (eventId) => handled.includes(eventId),
          });
          for await (const { eventId } of reading) {
            falls();
            handled.push(eventId);
          }
        } catch (error) {
          assert.match(String(error), /killed/);
        }
      }
      assert.deepEqual(handled, ids());
    });

    it('from now on by its option, and remembers that place', async () => {
      saved = 'latest';
      for await (const { eventId } of client('walletAdmin').events(cursor)) handled.push(eventId);
      assert.deepEqual([handled, saved], [[], '250']);
      events = feedOf(251);
      for await (const { eventId } of client('walletAdmin').events(cursor)) handled.push(eventId);
      assert.deepEqual(handled, ids().slice(250));
    });

    it('by pages, for readers that save the cursor with the work', async () => {
      const page = await client('walletAdmin').eventPage({ after: '10', limit: 3 });
      assert.deepEqual([page.data.map(({ ordinal }) => ordinal), page.nextCursor], [['11', '12', '13'], '13']);
    });

    it('and stops at a gap, which is another app’s feed or a fault', async () => {
      events = feedOf(5).filter(({ ordinal }) => ordinal !== '3');
      const reading = async () => {
        for await (const { eventId } of client('walletAdmin').events(cursor)) handled.push(eventId);
      };
      assert.equal(await code(reading()), 'unreadableAnswer');
      assert.deepEqual([handled.length, saved], [2, '2']);
    });
  });

  it('works for web URLs alone', () => {
    assert.throws(() => createClient({ baseUrl: 'payments.example' }), TypeError);
    assert.throws(() => createClient({ baseUrl: 'file:///tmp' }), TypeError);
  });
});

/** Forwards requests; the next ones may meet a mishap first. */
async function startProxy(target: () => string) {
  const state = { mishaps: [] as Mishap[], seen: [] as string[] };
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    state.seen.push(`${request.method} ${request.url}`);
    const key = request.headers['x-api-key'];
    const pass = () =>
      fetch(`${target()}${request.url}`, {
        method: request.method as string,
        headers: { ...(key ? { 'X-API-Key': String(key) } : {}), 'Content-Type': 'application/json' },
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      });
    const mishap = state.mishaps.shift();
    if (mishap) return void (await mishap(pass, response, request));
    const passed = await pass();
    response.writeHead(passed.status, { 'Content-Type': 'application/json' }).end(await passed.text());
  };
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}
