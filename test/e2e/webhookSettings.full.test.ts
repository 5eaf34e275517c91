/** An app's webhook settings change during its payments, and exhausted webhooks are redelivered: real services, two receivers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { startInstance } from '../support/instance.ts';
import { type LoggedWebhook, startTestReceiver, type TestReceiver } from '../support/receiver.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';
import { ownerHeaders } from '../support/signIn.ts';
import { walletOrders } from '../support/walletOrders.ts';

describe('changed webhook settings', () => {
  const sandbox = createSandbox({ chains: [8453, 1] });
  const { order } = walletOrders(sandbox);
  let first: TestReceiver;
  let moved: TestReceiver;
  /** The secret that is valid at the end. */
  let fresh: string;
  before(async () => {
    await sandbox.start();
    const certificates = join(sandbox.dataDir, 'webhook');
    [first, moved] = [await startTestReceiver(certificates), await startTestReceiver(certificates)];
  });
  after(() => sandbox.destroy());

  const merchant = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    return (await promisify(execFile)(process.execPath, ['tools/merchant.ts', ...args], { env })).stdout;
  };
  const create = async (): Promise<Answer['body']> => {
    const body = order('exactOut', { chainId: 8453 }, { chainId: 1, amount: '5.00', receiverAddress });
    const created = await sandbox.create(body, sandbox.file().wallet.ordersKey);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body;
  };
  /** Changes the URL. @returns a payment with the new one: settings are cached for a moment */
  const createAfterMove = async (url: string): Promise<Answer['body']> => {
    await merchant('webhook', sandbox.file().wallet.appId, url);
    let created = await create();
    await sandbox.until(async () => {
      if (created.webhookUrl !== url) created = await create();
      return created.webhookUrl === url;
    });
    return created;
  };
  const believes = ({ headers, body }: LoggedWebhook, secret: string) =>
    verifyWebhook(
      { timestamp: headers['x-service-timestamp'], signature: headers['x-service-signature'] },
      Buffer.from(body),
      [secret],
      Number(headers['x-service-timestamp']),
    ) === 'valid';

  it('apply to new payments if they concern the URL, and to the next webhook if they concern the secret', async () => {
    const { appId, webhookSecret: old, adminKey } = sandbox.file().wallet;
    first.setSecrets({ [appId]: old });
    const before = await createAfterMove(first.url);
    const after = await createAfterMove(moved.url);
    [, fresh = ''] = /webhookSecret\W+([0-9a-f]{64})\b/.exec(await merchant('rotate', appId)) ?? [];
    assert.match(fresh, /^[0-9a-f]{64}$/);
    moved.setSecrets({ [appId]: fresh });

    for (const payment of [before, after]) await sandbox.pay(payment);
    const movedTo = () => moved.logged().filter(({ body }) => body.includes(after.id));
    const kept = () => first.logged().filter(({ body }) => body.includes(before.id));
    await sandbox.until(() => kept().length === 2 && movedTo().length === 2);

    assert.equal(moved.logged().length, 2, 'the old payment keeps its URL');
    assert.equal(first.logged().length, 2, 'the new payment has the new one');
    for (const webhook of [...kept(), ...movedTo()]) {
      assert.deepEqual([believes(webhook, old), believes(webhook, fresh)], [false, true]);
    }
    // The first receiver has only the old secret, and reports it.
    const statusesOf = async (paymentId: string) => {
      const path = `${deliveries}?paymentId=${paymentId}`;
      const { body } = await sandbox.call('GET', path, { key: adminKey });
      return body.data.map(({ status, statusCode, url }: Answer['body']) => [status, statusCode, url]);
    };
    // A delivery is listed from its claim on; its answer follows.
    for (const { id } of [before, after])
      await sandbox.until(async () => {
        const listed = await statusesOf(id);
        return listed.length === 2 && listed.every(([, statusCode]: unknown[]) => statusCode !== null);
      });
    assert.deepEqual(await statusesOf(after.id), Array(2).fill(['delivered', 200, moved.url]));
    assert.deepEqual(await statusesOf(before.id), Array(2).fill(['exhausted', 401, before.webhookUrl]));
  });

  describe('and then the owner, signed in,', () => {
    let headers: Record<string, string>;
    let exhausted: readonly string[];
    before(async () => {
      headers = await ownerHeaders(sandbox, sandbox.file().wallet.appId);
      const { body } = await sandbox.call('GET', `${deliveries}?status=exhausted`, { headers });
      exhausted = body.data.map(({ deliveryId }: Answer['body']) => deliveryId);
      assert.equal(exhausted.length, 2);
    });

    const redeliver = (url: string, deliveryId: string) =>
      fetch(`${url}${deliveries}/${deliveryId}/redeliver`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ acknowledged: true }),
      });
    const copiesOf = (deliveryId: string) =>
      first.logged().filter(({ headers: sent }) => sent['x-service-first-delivery'] === deliveryId);

    it('has one redelivered that two concurrent requests name: once', async () => {
      const [deliveryId = ''] = exhausted;
      first.setSecrets({ [sandbox.file().wallet.appId]: fresh });
      const other = await startInstance(sandbox.dataDir, { ROLES: 'api' });
      const asked = [sandbox.file().baseUrl, other.url, sandbox.file().baseUrl, other.url];
      const answers = await Promise.all(asked.map((url) => redeliver(url, deliveryId)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200],
      );
      assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1);
      const [copy, ...more] = copiesOf(deliveryId);
      assert.ok(copy?.valid && more.length === 0);
      const { body } = await sandbox.call('GET', `${deliveries}/${copy.headers['webhook-id']}`, { headers });
      assert.deepEqual([body.status, body.kind, body.firstDeliveryId], ['delivered', 'manual', deliveryId]);
      assert.deepEqual([body.request.body, body.request.isBodyAsSent], [copy.body, true]);
      for (const [name, value] of Object.entries<string>(body.request.headers))
        assert.equal(copy.headers[name.toLowerCase()], value, name);
      await other.kill();
    });

    it('requests it from an instance that is killed right after sending: the outcome is unknown, and nothing is sent again', async () => {
      const [, deliveryId = ''] = exhausted;
      const doomed = await startInstance(sandbox.dataDir, { ROLES: 'api', CRASH_AT: 'webhook.afterPost' });
      await assert.rejects(redeliver(doomed.url, deliveryId));
      assert.equal(copiesOf(deliveryId).length, 1);
      const answer = await redeliver(sandbox.file().baseUrl, deliveryId);
      assert.equal(answer.headers.get('idempotent-replayed'), 'true');
      const { status, error, request } = (await answer.json()) as Answer['body'];
      assert.deepEqual([status, error, request], ['exhausted', 'unknown', null]);
      assert.equal(copiesOf(deliveryId).length, 1);
    });

    it('sends a test to the URL in force', async () => {
      const { status, body } = await sandbox.call('POST', '/merchant-api/me/webhook/test', { headers });
      assert.deepEqual([status, body.status, body.url], [200, 'delivered', moved.url]);
      const received = moved.logged().at(-1);
      assert.deepEqual([received?.valid, JSON.parse(received?.body ?? '{}').type], [true, 'webhook_test']);
    });
  });
});

const deliveries = '/merchant-api/me/webhook/deliveries';
const receiverAddress = '0x1111111111111111111111111111111111111111';
