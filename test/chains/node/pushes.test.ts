/** Connections to nodes that push, with every kind of message and failure. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstValueFrom, type Observable, take, toArray } from 'rxjs';
import type { WebSocket } from 'ws';
import { messageLeast_bytes, pushesOf, readMost_bytes } from '../../../src/chains/node/pushes.ts';
import { onStop } from '../../support/hooks.ts';
import { impatient, listen, serve } from '../pushingNode.ts';

/** Reads each text message as a push. */
const texts = {
  subscriptions: [{ method: 'subscribe', params: ['all'] }],
  read: (message: unknown) => (typeof message === 'string' ? message : undefined),
};

const pushed = (url: string, ticker: Parameters<typeof pushesOf>[1]['ticker'] = impatient()) =>
  pushesOf(texts, { urls: [url], ticker, random: () => 0.5 });
const first = <T>(pushes: Observable<T>, count: number): Promise<T[]> =>
  firstValueFrom(pushes.pipe(take(count), toArray()));

/** Time that only the spec advances. */
function patient() {
  const waiting = new Map<object, { readonly wait_ms: number; readonly run: () => void }>();
  return {
    after(wait_ms: number, run: () => void) {
      const key = {};
      waiting.set(key, { wait_ms, run });
      return () => void waiting.delete(key);
    },
    pass(until_ms: number): void {
      for (const [key, { wait_ms, run }] of [...waiting]) if (wait_ms <= until_ms && waiting.delete(key)) run();
    },
  };
}

const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await sleep(5);
};

describe('connections to nodes that push', () => {
  it('request their subscriptions', async () => {
    const asked = Promise.withResolvers<string>();
    const url = await listen((socket, _, text) => {
      asked.resolve(text);
      socket.send('"yes"');
    });
    assert.deepEqual(await first(pushed(url), 1), ['yes']);
    assert.deepEqual(JSON.parse(await asked.promise), { jsonrpc: '2.0', id: 0, method: 'subscribe', params: ['all'] });
  });

  it('ignore unreadable messages', async () => {
    const reads = { ...texts, read: (message: unknown) => (message as { is: { text: string } }).is.text };
    const url = await serve(() => ['{', 'null', '{}', '[]', '{"is":{"text":"this"}}']);
    const pushes = pushesOf(reads, { urls: [url], ticker: impatient(), random: () => 0.5 });
    assert.deepEqual(await first(pushes, 1), ['this']);
  });

  it('are closed when the node has been silent for a minute, and opened again', async () => {
    let connections = 0;
    const url = await listen((socket, connection) => {
      connections = connection;
      if (connection > 1) socket.send('"again"');
    });
    const time = patient();
    const seen = first(pushed(url, time), 1);
    while (connections === 0) await turns(1);
    time.pass(59_999);
    await turns();
    assert.equal(connections, 1);
    time.pass(60_000);
    // The pause before the next connection begins when the service has noticed the end of this one.
    while (connections === 1) {
      await turns(1);
      time.pass(1_000);
    }
    assert.deepEqual(await seen, ['again']);
  });

  for (const [what, message] of [
    ['long messages', JSON.stringify('x'.repeat(50_000))],
    ['many short ones', '"x"'],
  ] as const)
    it(`are read no further within a second than a bound: ${what}`, async () => {
      const flood = (socket: WebSocket) => {
        const more = (): void => {
          while (socket.readyState === socket.OPEN && socket.bufferedAmount < 1_000_000) socket.send(message);
          if (socket.readyState === socket.OPEN) setImmediate(more);
        };
        more();
      };
      const url = await listen(flood);
      const time = patient();
      let heard = 0;
      const listening = pushed(url, time).subscribe(() => {
        heard += 1;
      });
      onStop(() => listening.unsubscribe());
      const most = readMost_bytes / Math.max(message.length, messageLeast_bytes);
      // The last chunk that arrived, 64 KiB, is read too.
      const slack = 65_536 / message.length + 2;
      const stood = async () => {
        for (let before = -1; before !== heard || heard === 0; ) {
          before = heard;
          await turns();
        }
        return heard;
      };
      const once = await stood();
      assert.ok(once >= most && once <= most + slack, `${once} messages, ${most} at most`);
      time.pass(1_000);
      const twice = await stood();
      assert.ok(twice > once && twice <= 2 * (most + slack), `${twice} messages after ${once}`);
      listening.unsubscribe();
    });

  it('end at once when nobody listens any more, also while they are not read', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await listen((socket) => {
      socket.on('close', () => closed.resolve());
      for (let sent = 0; sent < 200; sent += 1) socket.send(JSON.stringify('x'.repeat(50_000)));
    });
    const listening = pushed(url, patient()).subscribe();
    await turns();
    listening.unsubscribe();
    await closed.promise;
  });
});
