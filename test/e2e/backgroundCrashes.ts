/**
 * The workers that no payer waits for: books, signed log heads, anchors, expiry, refunds by policy, notices. The real
 * process is killed before and after their appends. Afterwards each has done its work once.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { verifyChain } from '../../commands/codec.ts';
import type { HeadSigned } from '../../domain/heads/heads.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { openMailFolder } from '../../sandbox/mailFolder.ts';
import { sayRefundAddress } from '../../sandbox/moneyBack.ts';
import { isCutOff } from '../support/customers.ts';
import type { History } from '../support/history.ts';
import { type Answer, createSandbox, type SandboxOptions } from '../support/sandbox.ts';
import { ownerHeaders } from '../support/signIn.ts';

const settings = { HEADS_EVERY_EVENTS: '1', HEADS_ANCHOR: 'stellar', POLL_MS_8453: '50' };
/** Minimum lifetime of a payment. */
const life_s = 10;

/** Specs of one world whose service dies in each background worker. */
export function backgroundWorkersSurviveCrashes(options: Pick<SandboxOptions, 'eventStoreUrl'> = {}): void {
  const sandbox = createSandbox({ chains: [8453, 1500], ...options });
  after(() => sandbox.destroy());

  let owner: Record<string, string>;
  let unpaid: Answer['body'];
  let overpaid: Answer['body'];

  /** Starts the service, which dies at the point, with or without the effect of `prompt`. */
  async function diesAt(point: string, prompt: () => Promise<unknown> = async () => {}): Promise<void> {
    if ((await sandbox.start({ ...settings, CRASH_AT: point })) === 'ready') {
      await prompt().catch((error: unknown) => {
        if (!isCutOff(error)) throw error;
      });
    }
    assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
  }

  describe('the service dies', () => {
    for (const point of ['BooksOpened.beforeAppend', 'BooksOpened.afterAppend'])
      it(`as it opens an account's books, at ${point}`, () => diesAt(point));

    for (const point of ['HeadSigned.beforeAppend', 'HeadSigned.afterAppend'])
      it(`as it signs a head of the log, at ${point}`, () => diesAt(point));

    for (const point of ['OperationConfirmed.afterAppend', 'HeadAnchored.beforeAppend', 'HeadAnchored.afterAppend'])
      it(`as a head is anchored, at ${point}`, () => diesAt(point));

    it('as it lets a payment expire, at PaymentExpired.beforeAppend', () =>
      diesAt('PaymentExpired.beforeAppend', async () => {
        // Changed settings apply at the latest to the first payment after the restart.
        owner = await ownerHeaders(sandbox, sandbox.file().merchant.appId);
        const policy = await sandbox.call('POST', '/merchant-api/me/policy', {
          headers: owner,
          body: { over: 'refund' },
        });
        assert.equal(policy.status, 200, JSON.stringify(policy.body));
        unpaid = await create({ expiresInSeconds: life_s });
      }));

    it('as it lets a payment expire, at PaymentExpired.afterAppend', () => diesAt('PaymentExpired.afterAppend'));

    it('as it orders a refund by policy, at RefundRequested.beforeAppend', () =>
      diesAt('RefundRequested.beforeAppend', async () => {
        overpaid = await create();
        await sandbox.pay(overpaid, (Number(overpaid.source.amount) + 2).toFixed(6));
        await sandbox.follow(overpaid.id);
        await sayRefundAddress(sandbox.file(), keepKeys(sandbox.dataDir), overpaid);
      }));

    it('as it orders a refund by policy, at RefundRequested.afterAppend', () => diesAt('RefundRequested.afterAppend'));

    it('before it can mail the owner that webhooks have stopped, at WebhookUrlSet.afterAppend', () =>
      diesAt('WebhookUrlSet.afterAppend', async () => {
        await sandbox.callOnce('POST', '/merchant-api/me/webhook', { headers: owner, body: { webhookUrl: null } });
      }));

    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await sandbox.kill();
    });
  });

  describe('and without further crashes', () => {
    let history: History;
    const all = (type: string) => [...history.values()].flat().filter((event) => event.type === type);

    before(async () => {
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
      await sandbox.until(() => noticesOfStop().length > 0);
      const { refunds } = await sandbox.follow(overpaid.id, ({ refunds: [first] }) => first?.status === 'completed');
      assert.deepEqual(
        refunds.map(({ status }: Answer['body']) => status),
        ['completed'],
      );
      assert.equal((await sandbox.follow(unpaid.id)).status, 'payment_expired');
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      history = await sandbox.history();
    });

    it('the books of each account have been opened once', () => {
      const accounts = all('BooksOpened').map(({ stream }) => stream);
      assert.deepEqual(new Set(accounts).size, accounts.length);
      assert.ok(accounts.length > 0);
    });

    it('heads are signed for a growing log, and the head on the chain is recorded once', () => {
      const positions = all('HeadSigned').map(({ data }) => BigInt((data as HeadSigned).position));
      assert.deepEqual(
        positions,
        [...new Set(positions)].toSorted((a, b) => Number(a - b)),
      );
      const anchors = all('OperationOrdered').map(({ stream }) => stream);
      assert.equal(anchors.length, 1, String(anchors));
      assert.equal(all('OperationSigned').length, 1);
      assert.equal(all('HeadAnchored').length, 1);
    });

    it('the payment has expired once, and the refund is ordered, signed and confirmed once', () => {
      const [expired, requested] = [all('PaymentExpired'), all('RefundRequested')];
      assert.deepEqual(
        expired.map(({ stream }) => stream),
        [`payment-${unpaid.id}`],
      );
      assert.deepEqual(
        requested.map(({ stream }) => stream),
        [`payment-${overpaid.id}`],
      );
      assert.deepEqual([all('RefundSigned').length, all('RefundConfirmed').length], [1, 1]);
    });

    it('the owner has one mail that webhooks have stopped', () => {
      assert.equal(noticesOfStop().length, 1);
    });

    it('the chain of hashes of every stream is whole', () => {
      for (const [stream, events] of history) assert.equal(verifyChain(events), null, stream);
    });
  });

  async function create(more: object = {}): Promise<Answer['body']> {
    const order = {
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: { amount: '3.00' },
      ...more,
    };
    const created = await sandbox.create(order, sandbox.file().merchant.ordersKey);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body;
  }

  const noticesOfStop = () =>
    openMailFolder(join(sandbox.dataDir, 'mail'))
      .list()
      .filter(({ subject }) => subject.startsWith('Webhooks stopped'));
}
