/** The real process, killed with SIGKILL at every named point of payins and payouts on Solana, and started again. */
import assert from 'node:assert/strict';
import { Connection, PublicKey } from '@solana/web3.js';
import { parseUnits } from 'viem';
import { verifyChain } from '../../commands/seal.ts';
import type { StoredEvent } from '../../domain/event.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import { tokenAccountOf } from '../../src/chains/solana/addresses.ts';
import { createCustomers } from '../support/customers.ts';
import { historyOf } from '../support/history.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';

const around = (append: string) => [`${append}.beforeAppend`, `${append}.afterAppend`];

/** In the order of a payment's life. */
const payinPoints = [
  ...around('PaymentCreated'),
  'payins.beforeCheckpoint#20',
  'payins.afterCheckpoint#20',
  ...around('PayinDetected'),
  ...around('PayinConfirmed+PaymentFunded'),
];
const payoutPoints = [
  ...around('PayoutRequested'),
  ...around('TreasuryOpened'),
  'payout.beforeSign',
  'payout.afterSign',
  ...around('PayoutSigned'),
  'payout.beforeBroadcast',
  'payout.afterBroadcast',
  ...around('PayoutConfirmed'),
];
const rounds = [
  ...payinPoints.map((point) => ({ point, from: 501, to: 8453 }) as const),
  ...payoutPoints.map((point) => ({ point, from: 8453, to: 501 }) as const),
];

const settings = { POLL_MS_8453: '50', POLL_MS_501: '50' };
const decimals = 6;

describe('kill -9 with payments over Solana in flight', function () {
  this.timeout(60_000);
  const sandbox = createSandbox();
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  describe('the service dies', () => {
    for (const { point, from, to } of rounds) {
      it(`at ${point}, on the way from ${from} to ${to}`, async () => {
        const started = await sandbox.start({ ...settings, CRASH_AT: point });
        if (started === 'ready') await customers.come(from, to);
        assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
      });
    }

    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await sandbox.kill();
    });
  });

  describe('and once it is left alone', () => {
    let done: readonly Answer['body'][];
    let history: ReadonlyMap<string, readonly StoredEvent[]>;
    let payouts: readonly { readonly to: string; readonly amount: bigint }[];

    before(async () => {
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
      done = await customers.finish();
      payouts = await treasuryTransfers();
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      history = await historyOf(sandbox.dataDir);
    });

    it('every payment completes', () => {
      for (const from of [501, 8453]) assert.ok(customers.orders.some((order) => order.from === from));
      assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    });

    it('each receiver on Solana was paid once, and the treasury paid nothing else', () => {
      const toSolana = customers.orders.filter(({ to }) => to === 501);
      const owed = toSolana.map(({ receiver, amount }) => `${receiver} ${parseUnits(amount, decimals)}`).sort();
      assert.ok(owed.length > 0);
      assert.deepEqual(payouts.map(({ to, amount }) => `${to} ${amount}`).sort(), owed);
    });

    it('each payin is counted once, each to a wallet of its own', () => {
      const fromSolana = customers.orders.filter(({ from }) => from === 501);
      for (const { payment, payinHash } of fromSolana) {
        const payins = (history.get(`payment-${payment.id}`) ?? []).filter(({ type }) => type === 'PayinConfirmed');
        assert.deepEqual(
          payins.map(({ data }) => (data as { transfer: Transfer }).transfer.txHash),
          [payinHash],
        );
      }
      assert.equal(new Set(fromSolana.map(({ payment }) => payment.source.receiverAddress)).size, fromSolana.length);
    });

    it('the chain of hashes of every stream is whole', () => {
      for (const events of history.values()) assert.equal(verifyChain(events), null);
    });
  });

  /** What left the treasury's token account, from the first slot on. */
  async function treasuryTransfers() {
    const { chains, solana } = sandbox.file();
    const connection = new Connection(chains['501']?.rpcUrl ?? '', 'confirmed');
    const treasury = solana?.treasury ?? '';
    const signatures = await connection.getSignaturesForAddress(new PublicKey(tokenAccountOf(treasury)));
    const landed = await connection.getTransactions(
      signatures.map(({ signature }) => signature),
      { commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
    );
    return landed.flatMap((transaction) => {
      const { preTokenBalances, postTokenBalances } = transaction?.meta ?? {};
      const before = new Map(preTokenBalances?.map((each) => [each.owner, BigInt(each.uiTokenAmount.amount)]));
      return (postTokenBalances ?? [])
        .map(({ owner = '', uiTokenAmount }) => ({
          to: owner,
          amount: BigInt(uiTokenAmount.amount) - (before.get(owner) ?? 0n),
        }))
        .filter(({ amount }) => amount > 0n);
    });
  }
});
