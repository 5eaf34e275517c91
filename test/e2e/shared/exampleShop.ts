/** examples/shop, killed at any moment while buyers order and pay; `npm run listen` brings it its webhooks. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../sandbox/freePort.ts';
import { forwardTo } from '../../../sandbox/webhooks/forward.ts';
import { onStop } from '../../support/hooks.ts';
import { patience_ms } from '../../support/patience.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { isFull } from '../../support/suite.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const root = join(import.meta.dirname, '../../..');
const modes = ['webhooks', 'feed'] as const;
const kills = isFull ? 20 : 2;
/** A shop needs about a third of this to start: some kills come earlier. */
const life_ms = { least: 50, most: 1_200 };
/** Pause between a buyer's orders: about one order per kill. Orders end with the kills. */
const pause_ms = 1_000;
const ordersMax = 2 * kills;
const lockedPoll_ms = 100;

export function describeExampleShop(sandbox: Sandbox): void {
  describe('the example shop', () => {
    it(`hands over each paid order once, in both modes, though it is killed at ${kills} moments in each`, async () => {
      const shops = await Promise.all(modes.map((mode) => openShop(sandbox, mode)));
      const listening = listenFor(sandbox, shops[0]?.url ?? '');
      // One customer pays on the chain, one transfer after the other.
      let paying: Promise<unknown> = Promise.resolve();
      const pay = (orderId: string) => {
        paying = paying.then(async () => sandbox.pay(await paymentOf(orderId)));
      };
      const paymentOf = async (orderId: string) => {
        const { appId, ordersKey: key } = sandbox.file().merchant;
        return (await sandbox.call('GET', `/payment-api/payments/order/${appId}/${orderId}`, { key })).body;
      };

      const placed = await Promise.all(
        shops.map(async (shop) => {
          const killing = shop.killAgainAndAgain();
          const orders: string[] = [];
          while (!shop.survived() && orders.length < ordersMax) {
            const orderId = await shop.order();
            orders.push(orderId);
            pay(orderId);
            await sleep(randomInt(pause_ms));
          }
          await killing;
          return orders;
        }),
      );

      await paying;
      for (const [index, shop] of shops.entries()) {
        const orders = placed[index] ?? [];
        await sandbox.until(async () => (await shop.parcels()).length >= orders.length);
        for (const orderId of orders) {
          assert.equal((await sandbox.follow((await paymentOf(orderId)).id)).status, 'payment_payout_completed');
        }
        if (shop.mode === 'webhooks') await tellAgain(sandbox, shop.url);
        assert.deepEqual((await shop.parcels()).toSorted(), orders.toSorted());
        assert.deepEqual((await shop.orders()).toSorted(), orders.toSorted());
        await shop.kill();
      }
      listening.kill();
    });
  });
}

function program(file: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const options = ['--disable-warning=ExperimentalWarning', file, ...args];
  const child = spawn(process.execPath, options, { cwd: root, env: { ...process.env, ...env }, stdio: 'ignore' });
  onStop(async () => void child.kill('SIGKILL'));
  return child;
}

const listenFor = ({ dataDir }: Sandbox, url: string): ChildProcess =>
  program('sandbox/listen.ts', ['--forward', `${url}/webhooks`], { DATA_DIR: dataDir });

/** Delivers all webhooks once more, as a network may: their signatures are still valid. */
async function tellAgain(sandbox: Sandbox, url: string): Promise<void> {
  const { appId } = sandbox.file().merchant;
  const own = sandbox.webhooks().filter(({ body }) => JSON.parse(body).data.appId === appId);
  for (const webhook of own) {
    const { says } = await forwardTo(new URL(`${url}/webhooks`), webhook);
    assert.equal(says, '200');
  }
  const [first = assert.fail('no webhook came')] = own;
  const forged = { ...first, body: first.body.replace('payment_payin', 'payment_PAYIN') };
  assert.equal((await forwardTo(new URL(`${url}/webhooks`), forged)).says, '401');
}

/** A shop on a separate port and database, and buyers who repeat unanswered orders. */
async function openShop(sandbox: Sandbox, mode: (typeof modes)[number]) {
  const port = String(await freePort());
  const file = join(temporaryDirectory(), 'shop.db');
  const url = `http://127.0.0.1:${port}`;
  const { baseUrl, merchant } = sandbox.file();
  let child: ChildProcess | undefined;
  let killed = 0;

  const start = () => {
    child = program('clients/examples/shop/server.js', [], {
      MODE: mode,
      PORT: port,
      SHOP_DATABASE: file,
      PAYMENTS_URL: baseUrl,
      PAYMENTS_KEY: merchant.ordersKey,
      PAYMENTS_ADMIN_KEY: merchant.adminKey,
      WEBHOOK_SECRET: merchant.webhookSecret,
    });
  };
  const kill = async () => {
    if (!child) return;
    assert.equal(child.exitCode, null, 'the shop ended by itself');
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const ids = (query: string): string[] => {
    const database = new DatabaseSync(file, { timeout: patience_ms });
    try {
      return database
        .prepare(query)
        .all()
        .map((row) => String(row['id']));
    } finally {
      database.close();
    }
  };
  /** A shop that was killed is recovered by the next one, which locks the file. SQLite then refuses a reader at once, without its timeout. */
  const idsOnceUnlocked = async (query: string): Promise<string[]> => {
    for (let waited_ms = 0; ; waited_ms += lockedPoll_ms) {
      try {
        return ids(query);
      } catch (error) {
        if (!/database is locked/.test(String(error)) || waited_ms >= patience_ms) throw error;
        await sleep(lockedPoll_ms);
      }
    }
  };

  return {
    mode,
    url,
    kill,
    survived: () => killed >= kills,
    async killAgainAndAgain() {
      for (; killed < kills; killed += 1) {
        start();
        await sleep(randomInt(life_ms.least, life_ms.most));
        await kill();
      }
      start();
    },
    async order(): Promise<string> {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
      const request = { method: 'POST', headers, body: JSON.stringify({ goods: 'sencha' }) };
      let orderId = '';
      await sandbox.until(async () => {
        const answer = await fetch(`${url}/orders`, request).then(
          (response) => response.json(),
          () => ({}),
        );
        orderId = answer.orderId ?? '';
        return orderId !== '';
      });
      return orderId;
    },
    orders: () => idsOnceUnlocked('SELECT id FROM orders'),
    parcels: () => idsOnceUnlocked('SELECT orderId AS id FROM parcels'),
  };
}
