/** Two instances on the same stores during payments, with leases taken away from their holders: each effect occurs once. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import pg from 'pg';
import { parseUnits } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { createCustomers } from '../support/customers.ts';
import { type Instance, startInstance } from '../support/instance.ts';
import { outputOfTool } from '../support/operatorTools.ts';
import { createSandbox, type SandboxOptions } from '../support/sandbox.ts';
import { createShop } from '../support/shop.ts';
import { ownerHeaders } from '../support/signIn.ts';
import { isFull } from '../support/suite.ts';

/** Both instances share one public address, which payment links use. */
const settings = { POLL_MS_8453: '50', POLL_MS_1: '50', PUBLIC_URL: 'https://pay.example' };
/** Number of rounds: a change on one instance, and a request to the other. */
const races = isFull ? 40 : 12;
const handovers = { least: 8, most: 200 };

/** Specs of one world with two instances. */
export function instancesShareTheWork(options: Pick<SandboxOptions, 'eventStoreUrl'> = {}): void {
  const sandbox = createSandbox({ chains: [8453, 1], ...options });
  const customers = createCustomers(sandbox);
  let other: Instance;
  before(async () => {
    await sandbox.start(settings);
    other = await startInstance(sandbox.dataDir, settings);
    owner = await ownerHeaders(sandbox, sandbox.file().wallet.appId);
  });
  after(() => sandbox.destroy());

  it('log their configuration, with a time and without secrets', () => {
    const told = JSON.parse(other.ready) as Record<string, unknown>;
    assert.equal(new Date(String(told['time'])).toISOString(), told['time']);
    assert.deepEqual(told['roles'], ['api', 'projections', 'subscribers']);
    assert.deepEqual(told['chains'], ['Base (8453)', 'Ethereum (1)']);
    const given = parseEnv(readFileSync(join(sandbox.dataDir, 'service.env'), 'utf8'));
    const { password } = new URL(given['DATABASE_URL'] ?? '');
    for (const secret of [password, given['MASTER_KEY'], given['TREASURY_PRIVATE_KEY']])
      assert.ok(secret && !other.ready.includes(secret));
  });

  it('answer one orderId, sent to both with different terms, with one payment', async () => {
    const shop = createShop({
      baseUrl: () => other.url,
      rpcUrl: (chainId) => sandbox.file().chains[String(chainId)]?.rpcUrl ?? '',
      customerKey: () => '0x',
    });
    const { ordersKey } = sandbox.file().wallet;
    for (let round = 0; round < 10; round += 1) {
      const order = { ...customers.bodyOf({ ...customers.newOrder(8453, 1), orderId: `both-${round}` }) };
      customers.orders.pop();
      const terms = (amount: string) => ({ ...order, destination: { ...(order['destination'] as object), amount } });
      const answers = await Promise.all([
        sandbox.create(terms('1.00'), ordersKey),
        shop.create(terms('2.00'), ordersKey),
      ]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 201]);
      assert.deepEqual(answers[0].body, answers[1].body);
    }
  });

  it('refuse a revoked key as soon as the command has finished, with projections stopped', async () => {
    const { appId } = sandbox.file().wallet;
    const merchant = (...args: string[]) => outputOfTool(sandbox.dataDir, 'merchant', ...args);
    const shown = await merchant('key', appId, 'till');
    const [keyId = ''] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(shown) ?? [];
    const [key = ''] = /pi_test_\w{38}/.exec(shown) ?? [];
    const ask = async (url: string) =>
      (await fetch(`${url}/payment-api/payments/order/${appId}/none`, { headers: { 'X-API-Key': key } })).status;
    const both = [sandbox.file().baseUrl, other.url];
    await sandbox.until(async () => (await Promise.all(both.map(ask))).every((status) => status === 404));

    const start = await stopProjections(sandbox.dataDir);
    try {
      await merchant('revoke', appId, keyId);
      assert.deepEqual(await Promise.all(both.map(ask)), [401, 401]);
      const [row] = await sandbox.query<{ revoked_at: string | null }>(
        `SELECT revoked_at FROM api_keys WHERE key_id = '${keyId}'`,
      );
      assert.equal(row?.revoked_at, null);
      assert.match(await merchant('keys', appId), new RegExp(`${keyId}.*till.*orders.*pi_test_….*Z.*Z`));
      assert.match(await merchant('history', appId), new RegExp(`operator:${userInfo().username}.*revoked key "till"`));
    } finally {
      await start();
    }
  });

  let owner: Record<string, string>;
  let orders = 0;
  const both = () => [sandbox.file().baseUrl, other.url] as const;

  /** Repeats a request that a busy service refuses with 503. */
  async function ask(url: string, method: string, path: string, headers: Record<string, string>, body?: object) {
    const response = await patientFetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  }
  /** A repeated request gets 200 if the first one has created the payment. */
  const isCreated = ({ status }: { readonly status: number }) => status === 201 || status === 200;

  async function created(url: string, key: string) {
    const body = { ...customers.bodyOf(customers.newOrder(8453, 1)), orderId: `race-${orders++}` };
    customers.orders.pop();
    return ask(url, 'POST', '/payment-api/payments', { 'X-API-Key': key }, body);
  }

  it('answer a changed setting when it is in force for the next request to either', async () => {
    const { ordersKey } = sandbox.file().wallet;
    const { webhookUrl: first } = (await created(other.url, ordersKey)).body;
    for (let round = 0; round < races; round += 1) {
      const [one, two] = round % 2 === 0 ? both() : both().toReversed();
      const webhookUrl = round === races - 1 ? first : `${first}?round=${round}`;
      const changed = await ask(String(one), 'POST', '/merchant-api/me/webhook', owner, { webhookUrl });
      assert.equal(changed.status, 200, JSON.stringify(changed.body));
      const payment = await created(String(two), ordersKey);
      assert.ok(isCreated(payment), JSON.stringify(payment.body));
      assert.equal(payment.body['webhookUrl'], webhookUrl, `round ${round}`);
    }
  });

  it('answer a new key when either accepts it, and a revoked one when neither does', async () => {
    for (let round = 0; round < races / 4; round += 1) {
      const [one, two] = round % 2 === 0 ? both() : both().toReversed();
      const issued = await ask(String(one), 'POST', '/merchant-api/me/keys', owner, { name: `till ${round}` });
      assert.equal(issued.status, 201, JSON.stringify(issued.body));
      assert.ok(isCreated(await created(String(two), String(issued.body['key']))), `round ${round}`);
      const revoked = await ask(String(two), 'POST', `/merchant-api/me/keys/${issued.body['keyId']}/revoke`, owner);
      assert.equal(revoked.status, 200);
      assert.equal((await created(String(one), String(issued.body['key']))).status, 401, `round ${round}`);
    }
  });

  it('show the transaction and sender of a registered payin in the next answer of either', async () => {
    const headers = { 'X-API-Key': sandbox.file().wallet.ordersKey };
    const fromAddress = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
    for (let round = 0; round < races; round += 1) {
      const [one, two] = round % 2 === 0 ? both() : both().toReversed();
      const { body } = await created(String(one), headers['X-API-Key']);
      const txHash = `0x${(round + 1).toString(16).padStart(64, '0')}`;
      const path = `/payment-api/payments/${body['id']}`;
      const registered = await ask(String(one), 'POST', `${path}/payin`, headers, { txHash, fromAddress });
      assert.equal(registered.status, 200, JSON.stringify(registered.body));
      const { source } = (await ask(String(two), 'GET', path, headers)).body as unknown as {
        readonly source: Readonly<Record<string, string>>;
      };
      assert.deepEqual([source['txHash'], source['senderAddress']], [txHash, fromAddress], `round ${round}`);
    }
  });

  it('hand the work over in the middle of payments, and one continues alone when the other dies', async () => {
    const closing = new AbortController();
    const coming = [customers.come(8453, 1, closing.signal), customers.come(1, 8453, closing.signal)];
    let torn = 0;
    for (let round = 0; round < handovers.most; round += 1) {
      if (round >= handovers.least && Math.min(customers.orders.length, torn) > handovers.least) break;
      // Later rounds are longer, so that a slow machine makes progress between two handovers.
      await sleep(1_000 * Math.ceil((round + 1) / 16));
      const rows = await sandbox.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leases'`,
      );
      torn += rows.length;
    }
    assert.ok(torn > handovers.least, `${torn} leases torn`);
    await other.kill();
    closing.abort();
    await Promise.all(coming);
    assert.ok(customers.orders.length > handovers.least, `${customers.orders.length} orders`);
  });

  it('paid every receiver once, and reported every event once', async () => {
    const done = await customers.finish();
    assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    for (const { to, receiver, amount } of customers.orders) {
      assert.equal(await sandbox.balance(to, 'USDC', receiver), parseUnits(amount, 6));
    }
    await sandbox.until(async () => (await sandbox.query('SELECT FROM todo_webhooks')).length === 0);
    const told = sandbox.webhooks().map(({ body }) => JSON.parse(body).event_id as string);
    assert.equal(new Set(told).size, told.length);
    await sandbox.kill();
    const history = await sandbox.history();
    for (const events of history.values()) assert.equal(verifyChain(events), null);
    for (const { id } of done) {
      const types = history.get(`payment-${id}`)?.map(({ type }) => type) ?? [];
      assert.equal(types.filter((type) => type === 'PayoutConfirmed').length, 1);
    }
  });
}

/** Takes the lease of the projections and keeps it. @returns a function that releases it */
async function stopProjections(dataDir: string): Promise<() => Promise<void>> {
  const { DATABASE_URL } = parseEnv(readFileSync(join(dataDir, 'service.env'), 'utf8'));
  const holder = new pg.Client({ connectionString: DATABASE_URL });
  await holder.connect();
  const taken = holder.query(`SELECT pg_advisory_lock(hashtextextended('projections:work', 0))`);
  const tear = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leases'`;
  const tearer = new pg.Client({ connectionString: DATABASE_URL });
  await tearer.connect();
  await tearer.query(tear);
  await taken;
  await tearer.end();
  return () => holder.end();
}
