/** The real process, killed with SIGKILL at every named point while payments are in flight, and started again. */
import assert from 'node:assert/strict';
import { type Address, parseAbiItem, parseUnits } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { deliveryIdOf } from '../../domain/webhook.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { chainClient } from '../support/anvil.ts';
import { createCustomers } from '../support/customers.ts';
import { type Answer, createSandbox, type SandboxOptions } from '../support/sandbox.ts';

const around = (...appends: readonly string[]) =>
  appends.flatMap((append) => [`${append}.beforeAppend`, `${append}.afterAppend`]);

/** In the order of a payment's life. `#n` means the nth passing of a point, if the first ones occur before any payment. */
export const crashPoints = [
  ...around('MerchantRegistered+WebhookUrlSet+WebhookSecretRotated', 'ApiKeyIssued'),
  ...around('PaymentCreated', 'TreasuryOpened+NonceAssigned', 'PayinRegistered', 'PayinDetected'),
  ...['payins.beforeCheckpoint#9', 'payins.afterCheckpoint#9'],
  ...around('PayinConfirmed+PaymentFunded', 'PayoutRequested', 'NonceAssigned'),
  ...['payout.beforeSign', 'payout.afterSign', ...around('PayoutSigned')],
  ...['payout.beforeBroadcast', 'payout.afterBroadcast', ...around('PayoutConfirmed')],
  ...['webhook.beforeClaim', ...around('WebhookSendStarted'), 'webhook.afterClaim', 'webhook.afterPost'],
  ...[...around('WebhookDelivered'), 'webhook.afterOutcome'],
  ...['work', 'reports'].flatMap((set) =>
    ['beforeRows', 'beforeCommit', 'afterCommit'].map((point) => `projections.${set}.${point}#5`),
  ),
];

/** Chains that the customers pay on, which are polled often. */
const chainIds = [8453, 1] as const;
const settings = Object.fromEntries(chainIds.map((chainId) => [`POLL_MS_${chainId}`, '50']));

export interface CrashOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  readonly points: readonly string[];
}

/** Specs of one world whose service dies at each of the points, in this order. Some of them must interrupt a webhook. */
export function survivesCrashes({ points, eventStoreUrl }: CrashOptions): void {
  const sandbox = createSandbox({ chains: [8453, 1], eventStoreUrl });
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  describe('the service dies', () => {
    for (const point of points) {
      it(`at ${point}`, async () => {
        const started = await sandbox.start({ ...settings, CRASH_AT: point });
        if (started === 'ready') await Promise.all([customers.come(8453, 1), customers.come(1, 8453)]);
        assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
      });
    }

    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await sandbox.kill();
    });
  });

  describe('and without further crashes', () => {
    let done: readonly Answer['body'][];
    let payouts: readonly { readonly to: Address; readonly value: bigint }[];
    let deliveries: ReadonlyMap<string, string>;
    let history: ReadonlyMap<string, readonly StoredEvent[]>;

    before(async () => {
      const since = new Date().toISOString();
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
      done = await customers.finish();
      await sandbox.until(async () => (await sandbox.query('SELECT FROM todo_webhooks')).length === 0);
      // A delivery counts as exhausted until its outcome is known.
      await sandbox.until(async () => {
        const all = await sandbox.query<{ under_way: boolean }>(
          `SELECT status = 'exhausted' AND started_at > '${since}' AS under_way FROM deliveries`,
        );
        return all.length === 2 * done.length && all.every(({ under_way }) => !under_way);
      });
      payouts = (await Promise.all(chainIds.map(treasuryTransfers))).flat();
      const rows = await sandbox.query<{ id: string; status: string }>(
        'SELECT delivery_id AS id, status FROM deliveries',
      );
      deliveries = new Map(rows.map(({ id, status }) => [id, status]));
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      history = await sandbox.history();
    });

    it('every payment completes', () => {
      // Each route has its first order. A round that continues interrupted work may die before the next order.
      assert.ok(done.length >= chainIds.length, `${done.length} payments`);
      assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    });

    it('an orderId has one payment, however often it was sent', () => {
      assert.equal(new Set(done.map(({ id }) => id)).size, customers.orders.length);
      assert.equal([...history.keys()].filter((stream) => stream.startsWith('payment-')).length, done.length);
    });

    it('each receiver was paid once, and the treasury paid nothing else', () => {
      const paid = payouts.map(({ to, value }) => `${to} ${value}`).sort();
      const owed = customers.orders.map(({ receiver, amount }) => `${receiver} ${parseUnits(amount, 6)}`).sort();
      assert.deepEqual(paid, owed);
    });

    it('each event was reported once, or a crash interrupted its webhook and it is listed as exhausted', () => {
      const told = sandbox.webhooks().map(({ body, valid }) => {
        assert.ok(valid, body);
        return JSON.parse(body).event_id as string;
      });
      assert.equal(new Set(told).size, told.length, 'an event was told twice');
      const due = [...history.values()]
        .flat()
        .filter(({ type }) => type === 'PaymentFunded' || type === 'PayoutConfirmed');
      assert.equal(due.length, 2 * done.length);
      for (const { id } of due) {
        const delivery = deliveryIdOf(id);
        const stages = history.get(`webhook-${delivery}`)?.map(({ type }) => type) ?? [];
        const cutOff = stages.length === 1;
        assert.deepEqual(stages, cutOff ? ['WebhookSendStarted'] : ['WebhookSendStarted', 'WebhookDelivered']);
        assert.equal(deliveries.get(delivery), cutOff ? 'exhausted' : 'delivered');
        assert.ok(cutOff || told.includes(delivery), `delivery ${delivery} was never received`);
      }
      assert.ok([...deliveries.values()].includes('exhausted'), 'no webhook was cut off');
    });

    it('the chain of hashes of every stream is whole', () => {
      for (const events of history.values()) assert.equal(verifyChain(events), null);
    });
  });

  async function treasuryTransfers(chainId: (typeof chainIds)[number]) {
    const rpcUrl = sandbox.file().chains[String(chainId)]?.rpcUrl ?? '';
    const logs = await chainClient(rpcUrl).getLogs({
      address: findToken(chainOf(chainId), 'USDC')?.address as Address,
      event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
      args: { from: privateKeyToAddress(keepKeys(sandbox.dataDir).treasury) },
      fromBlock: 0n,
      strict: true,
    });
    return logs.map(({ args: { to, value } }) => ({ to, value }));
  }
}
