/** The real process pays out on Stellar through channels, whose number changes between its deaths. */
import assert from 'node:assert/strict';
import { Keypair, Networks } from '@stellar/stellar-sdk';
import { parseUnits } from 'viem';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import { fundAccount } from '../../sandbox/stellar/controls.ts';
import { createCustomers, isCutOff } from '../support/customers.ts';
import { historyOf } from '../support/history.ts';
import { createSandbox } from '../support/sandbox.ts';
import { stellarTools } from '../support/stellar.ts';

const [a, b, c] = [1, 2, 3].map(() => Keypair.random()) as [Keypair, Keypair, Keypair];

/** Crash point and channels of each round. */
const deaths: readonly (readonly [string, readonly Keypair[]])[] = [
  ['TreasuryOpened+NonceAssigned.afterAppend', [a, b, c]],
  ['PayoutSigned.afterAppend#2', [b, c]],
  ['payout.afterBroadcast', []],
];
const settings = (channels: readonly Keypair[]) => ({
  POLL_MS_8453: '50',
  POLL_MS_1500: '50',
  STELLAR_CHANNEL_SECRETS: channels.map((channel) => channel.secret()).join(),
});
const ordersAtATime = 4;

describe('payouts on Stellar through channels, with kill -9', () => {
  const sandbox = createSandbox({ chains: [8453, 1500] });
  const customers = createCustomers(sandbox);
  const tools = () => stellarTools(sandbox.file().chains['1500']?.rpcUrl ?? '', Networks.PUBLIC);
  const treasuryHolds = () => tools().balance(sandbox.file().stellar?.treasury ?? '');
  let float: bigint;
  before(async () => {
    assert.equal(await sandbox.start(settings([])), 'ready', sandbox.printed());
    const { rpcUrl } = sandbox.file().chains['1500'] ?? assert.fail('the sandbox has Stellar');
    for (const channel of [a, b, c]) await fundAccount(rpcUrl, channel.publicKey(), { lumens: 1_0000000n });
    float = await treasuryHolds();
    await sandbox.kill();
  });
  after(() => sandbox.destroy());

  /** Customers pay one after the other until the service dies. */
  async function shop(): Promise<void> {
    const orders = Array.from({ length: ordersAtATime }, () => customers.newOrder(8453, 1500));
    try {
      await Promise.all(orders.map(customers.create));
      for (const order of orders) await customers.pay(order);
    } catch (error) {
      if (!isCutOff(error)) throw error;
    }
  }

  for (const [point, channels] of deaths) {
    it(`the service dies at ${point} with ${channels.length} channels`, async () => {
      const started = await sandbox.start({ ...settings(channels), CRASH_AT: point });
      if (started === 'ready') await shop();
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    });
  }

  it('every receiver is paid once, through several accounts', async () => {
    assert.equal(await sandbox.start(settings([a, b, c])), 'ready', sandbox.printed());
    const done = await customers.finish();
    assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    const owed = customers.orders.map(({ amount }) => parseUnits(amount, 7));
    assert.deepEqual(await Promise.all(customers.orders.map(({ receiver }) => tools().balance(receiver))), owed);
    assert.equal(
      float - (await treasuryHolds()),
      owed.reduce((sum, each) => sum + each, 0n),
    );

    assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
    const events = [...(await historyOf(sandbox.dataDir)).values()].flat();
    const signed = events.filter(({ type }) => type === 'PayoutSigned').map(({ data }) => data as SignedAttempt);
    assert.ok(new Set(signed.map(({ account }) => account)).size > 1, 'one account numbered everything');
  });
});
