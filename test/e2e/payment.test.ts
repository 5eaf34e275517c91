/** The main job from the view of a merchant and a customer: the real service, stores, chains and webhooks. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type Answer, createSandbox, type Json } from '../support/sandbox.ts';

const receiver = '0x1111111111111111111111111111111111111111';
const coffee = { title: 'Coffee', currency: 'USD' };

describe('a payment from creation to webhook', () => {
  const sandbox = createSandbox({ asNewcomer: true });
  before(() => sandbox.start());
  after(() => sandbox.destroy());

  const walletOrder = (source: Json, destination: Json, more: Json = {}): Json => ({
    appId: sandbox.file().wallet.appId,
    type: 'exactOut',
    display: coffee,
    source,
    destination: { receiverAddress: receiver, ...destination },
    ...more,
  });

  it('leads from Base to Ethereum without a key: every status, exact amount, two signed webhooks', async () => {
    const before = await sandbox.balance(1, 'USDC', receiver);
    const order = walletOrder(
      { chainId: 8453, tokenSymbol: 'USDC' },
      { chainId: 1, tokenSymbol: 'USDC', amount: '10.00' },
    );
    const created = await sandbox.create(order);
    assert.equal(created.status, 201);
    assert.equal(created.body.status, 'payment_unpaid');
    assert.equal(created.body.source.amount, '10.02');
    assert.equal(created.body.source.fee, '0.02');
    assert.match(created.body.source.receiverAddress, /^0x[0-9a-fA-F]{40}$/);

    const payinHash = await sandbox.pay(created.body);
    const seen: string[] = [];
    const done = await sandbox.follow(created.body.id, (payment) => {
      if (seen.at(-1) !== payment.status) seen.push(payment.status);
      return payment.status === 'payment_payout_completed';
    });
    assertWalk(seen);
    assert.equal((await sandbox.balance(1, 'USDC', receiver)) - before, 10_000_000n);
    assert.equal(done.source.txHash, payinHash);
    assert.equal(done.source.amountReceived, '10.02');

    await settledWebhooks(created.body.id, 2);
    const [payin, payout] = sandbox.webhooks(created.body.id).map(checkedWebhook);
    assert.equal(payin.type, 'payment_payin_completed');
    assert.equal(payin.data.status, 'payment_payin_completed');
    assert.equal(payin.data.source.txHash, payinHash);
    assert.equal(payin.data.source.amountReceived, '10.02');
    assert.ok(payin.data.source.senderAddress && payin.data.source.confirmedAt);
    assert.equal(payin.data.destination.txHash, null);
    assert.equal(payin.data.destination.confirmedAt, null);
    assert.equal(payout.type, 'payment_payout_completed');
    assert.equal(payout.data.destination.txHash, done.destination.txHash);
    assert.ok(payout.data.destination.confirmedAt);
    for (const { data } of [payin, payout]) assertFullSchema(data);
  });

  it('ends in payment_completed when a keyless payment stays on its chain', async () => {
    const order = walletOrder(
      { chainId: 8453, tokenSymbol: 'USDC', amount: '5' },
      { chainId: 8453, tokenSymbol: 'USDC' },
      { type: 'exactIn' },
    );
    const done = await paid(await sandbox.create(order));
    assert.equal(done.status, 'payment_completed');
    assert.equal(done.destination.amount, '4.985');
  });

  it('pays a merchant’s settlement wallet for an exactIn order without destination', async () => {
    const { merchant } = sandbox.file();
    const wallet = merchant.settlement.receiverAddress;
    const before = await sandbox.balance(8453, 'USDC', wallet);
    const order = {
      orderId: 'order-1',
      type: 'exactIn',
      display: { name: 'Tea' },
      source: { chainId: '137', tokenSymbol: 'USDC', amount: '25.00' },
    };
    const created = await sandbox.create(order, merchant.ordersKey);
    assert.equal(created.status, 201);
    assert.equal(created.body.display.title, 'Tea');
    const done = await paid(created);
    assert.equal(done.status, 'payment_payout_completed');
    assert.equal((await sandbox.balance(8453, 'USDC', wallet)) - before, 24_965_000n);
  });

  it('is exact between 18 and 6 decimals', async () => {
    const before = await sandbox.balance(137, 'USDC', receiver);
    const order = walletOrder(
      { chainId: 56, tokenSymbol: 'USDC' },
      { chainId: 137, tokenSymbol: 'USDC', amount: '1.234567' },
    );
    const created = await sandbox.create(order);
    assert.equal(created.body.source.amount, '1.245801');
    await paid(created);
    assert.equal((await sandbox.balance(137, 'USDC', receiver)) - before, 1_234_567n);
  });

  it('handles a token whose transfer returns nothing', async () => {
    const before = await sandbox.balance(1, 'USDT', receiver);
    const order = walletOrder({ chainId: 1, tokenSymbol: 'USDT' }, { chainId: 1, tokenSymbol: 'USDT', amount: '3' });
    assert.equal((await paid(await sandbox.create(order))).status, 'payment_completed');
    assert.equal((await sandbox.balance(1, 'USDT', receiver)) - before, 3_000_000n);
  });

  it('refuses an amount that one of the tokens cannot represent', async () => {
    const order = walletOrder(
      { chainId: 8453, tokenSymbol: 'USDC' },
      { chainId: 56, tokenSymbol: 'USDC', amount: '1.2345678' },
    );
    const refused = await sandbox.create(order);
    assert.equal(refused.status, 400);
    assert.equal(refused.body.errors[0].pointer, '/destination/amount');
  });

  it('adds payins up and holds an excess', async () => {
    const order = walletOrder(
      { chainId: 42161, tokenSymbol: 'USDC' },
      { chainId: 8453, tokenSymbol: 'USDC', amount: '2' },
    );
    const created = await sandbox.create(order);
    await sandbox.pay(created.body, '1');
    await sandbox.follow(created.body.id, (payment) => payment.status === 'payment_started');
    await sandbox.pay(created.body, '1.5');
    const done = await sandbox.follow(created.body.id);
    assert.equal(done.status, 'payment_payout_completed');
    assert.equal(done.source.amountReceived, '2.50');
  });

  it('answers one payment to fifty creators with one orderId and different terms', async () => {
    const { wallet } = sandbox.file();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        sandbox.create(
          walletOrder(
            { chainId: 8453, tokenSymbol: 'USDC' },
            { chainId: 1, tokenSymbol: 'USDC', amount: `${index + 1}` },
            { orderId: 'same' },
          ),
          wallet.ordersKey,
        ),
      ),
    );
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
    assert.equal(new Set(answers.map(({ body }) => body.destination.amount)).size, 1);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(49).fill(200), 201]);
    const other = await sandbox.call('GET', `/payment-api/payments/order/${wallet.appId}/same`, {
      key: sandbox.file().merchant.ordersKey,
    });
    assert.equal(other.status, 404);
  });

  it('counts settled payments in the statistics and lists the deliveries', async () => {
    const { merchant } = sandbox.file();
    const key = merchant.adminKey;
    let stats: Answer;
    // A week: a day may end between the payment and its statistics.
    await sandbox.until(async () => {
      stats = await sandbox.call('GET', '/merchant-api/me/stats?period=7d', { key });
      return stats.body.paymentCount === 1;
    });
    stats ??= assert.fail();
    assert.equal(stats.body.volumeUsdc, '25.00');
    assert.equal(stats.body.netToWalletUsdc, '24.965');
    const refused = await sandbox.call('GET', '/merchant-api/me/stats?period=today', { key: merchant.ordersKey });
    assert.deepEqual([refused.status, refused.body.error], [403, 'scope_insufficient']);
    await sandbox.until(async () => {
      const { body } = await sandbox.call('GET', '/merchant-api/me/webhook/deliveries?limit=10', { key });
      return body.data.length === 2 && body.data.every((delivery: Json) => delivery['status'] === 'delivered');
    });
  });

  async function paid(created: Answer): Promise<Answer['body']> {
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await sandbox.pay(created.body);
    return sandbox.follow(created.body.id);
  }

  async function settledWebhooks(paymentId: string, count: number): Promise<void> {
    await sandbox.follow(paymentId, () => sandbox.webhooks(paymentId).length >= count);
    assert.equal(sandbox.webhooks(paymentId).length, count);
  }

  function checkedWebhook(webhook: ReturnType<typeof sandbox.webhooks>[number]): Answer['body'] {
    assert.equal(webhook.valid, true);
    const signed = `${webhook.headers['x-service-timestamp']}.${webhook.body}`;
    const mac = createHmac('sha256', sandbox.file().wallet.webhookSecret).update(signed).digest('hex');
    assert.equal(webhook.headers['x-service-signature'], `sha256=${mac}`);
    return JSON.parse(webhook.body);
  }
});

/** Polls statuses, so short ones may be missed. The order is fixed and the end is certain. */
function assertWalk(seen: readonly string[]): void {
  const path = ['unpaid', 'started', 'payin_completed', 'bridging', 'payout_started', 'payout_completed'].map(
    (name) => `payment_${name}`,
  );
  const places = seen.map((status) => path.indexOf(status));
  assert.ok(
    places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1)),
    seen.join(' → '),
  );
  assert.equal(seen.at(-1), 'payment_payout_completed');
}

function assertFullSchema(data: Json): void {
  for (const internal of ['metadata', 'webhookUrl', 'webhookSecretSource', 'paymentLink', 'merchant']) {
    assert.ok(!(internal in data), `${internal} is not sent`);
  }
  const fields = [
    'id',
    'appId',
    'orderId',
    'keyless',
    'status',
    'errorCode',
    'errorMessage',
    'type',
    'createdAt',
    'updatedAt',
    'expiresAt',
    'display',
    'source',
    'destination',
    'webhookSecret',
  ];
  for (const field of fields) assert.ok(field in data, `${field} is there, null at least`);
}
