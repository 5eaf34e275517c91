/** An app's webhook settings change while its payments are under way: the real service, two receivers, the operator's commands. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { type LoggedWebhook, startTestReceiver, type TestReceiver } from '../support/receiver.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';
import { walletOrders } from '../support/walletOrders.ts';

describe('changed webhook settings', function () {
  this.timeout(180_000);
  const sandbox = createSandbox({ chains: [8453, 1] });
  const { order } = walletOrders(sandbox);
  let moved: TestReceiver;
  before(async () => {
    await sandbox.start();
    moved = await startTestReceiver(join(sandbox.dataDir, 'webhook'));
  });
  after(() => sandbox.destroy());

  const merchant = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return (await promisify(execFile)(process.execPath, ['src/cli/merchant.ts', ...args], { env })).stdout;
  };
  const create = async (): Promise<Answer['body']> => {
    const body = order('exactOut', { chainId: 8453 }, { chainId: 1, amount: '5.00', receiverAddress });
    const created = await sandbox.create(body, sandbox.file().wallet.ordersKey);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body;
  };
  const believes = ({ headers, body }: LoggedWebhook, secret: string) =>
    verifyWebhook(
      { timestamp: headers['x-service-timestamp'], signature: headers['x-service-signature'] },
      Buffer.from(body),
      [secret],
      Number(headers['x-service-timestamp']),
    ) === 'valid';

  it('are for new payments where they say the URL, and for the next webhook where they say the secret', async () => {
    const { appId, webhookSecret: old, adminKey } = sandbox.file().wallet;
    const before = await create();
    await merchant('webhook', appId, moved.url);
    let after = await create();
    // Settings are cached for a moment.
    await sandbox.until(async () => {
      if (after.webhookUrl !== moved.url) after = await create();
      return after.webhookUrl === moved.url;
    });
    const [, fresh = ''] = /webhookSecret\W+([0-9a-f]{64})\b/.exec(await merchant('rotate', appId)) ?? [];
    assert.match(fresh, /^[0-9a-f]{64}$/);
    moved.setSecrets({ [appId]: fresh });

    for (const payment of [before, after]) await sandbox.pay(payment);
    const movedTo = () => moved.logged().filter(({ body }) => body.includes(after.id));
    await sandbox.until(() => sandbox.webhooks(before.id).length === 2 && movedTo().length === 2);

    assert.equal(moved.logged().length, 2, 'the old payment keeps its URL');
    assert.deepEqual(sandbox.webhooks(after.id), []);
    for (const webhook of [...sandbox.webhooks(before.id), ...movedTo()]) {
      assert.deepEqual([believes(webhook, old), believes(webhook, fresh)], [false, true]);
    }
    // The first receiver knows the old secret alone, and says so.
    const statusesOf = async (paymentId: string) => {
      const path = `/merchant-api/me/webhook/deliveries?paymentId=${paymentId}`;
      const { body } = await sandbox.call('GET', path, { key: adminKey });
      return body.data.map(({ status, statusCode, url }: Answer['body']) => [status, statusCode, url]);
    };
    await sandbox.until(async () => (await statusesOf(after.id)).length === 2);
    assert.deepEqual(await statusesOf(after.id), Array(2).fill(['delivered', 200, moved.url]));
    assert.deepEqual(await statusesOf(before.id), Array(2).fill(['exhausted', 401, before.webhookUrl]));
  });
});

const receiverAddress = '0x1111111111111111111111111111111111111111';
