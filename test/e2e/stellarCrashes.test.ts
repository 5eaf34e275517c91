/** The real process, killed with SIGKILL at every named point of payins and payouts on Stellar, and started again. */
import assert from 'node:assert/strict';
import { rpc, scValToNative } from '@stellar/stellar-sdk';
import { parseUnits } from 'viem';
import { verifyChain } from '../../commands/seal.ts';
import type { StoredEvent } from '../../domain/event.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import { createCustomers } from '../support/customers.ts';
import { historyOf } from '../support/history.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';

const around = (append: string) => [`${append}.beforeAppend`, `${append}.afterAppend`];

/** In the order of a payment's life. A ledger is final: a payin is detected, confirmed and funds its payment at once. */
const payinPoints = [
  'payins.beforeCheckpoint#20',
  'payins.afterCheckpoint#20',
  ...around('PayinDetected+PayinConfirmed+PaymentFunded'),
];
const payoutPoints = [
  ...around('PayoutRequested'),
  ...around('TreasuryOpened+NonceAssigned'),
  ...around('NonceAssigned'),
  'payout.beforeSign',
  'payout.afterSign',
  ...around('PayoutSigned'),
  'payout.beforeBroadcast',
  'payout.afterBroadcast',
  ...around('PayoutConfirmed'),
];
const rounds = [
  ...payinPoints.map((point) => ({ point, from: 1500, to: 8453 }) as const),
  ...payoutPoints.map((point) => ({ point, from: 8453, to: 1500 }) as const),
];

const settings = { POLL_MS_8453: '50', POLL_MS_1500: '50' };
const decimals = 7;

describe('kill -9 with payments over Stellar in flight', function () {
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
      // One that was cut off is gone on with and dies again at the next point: there are fewer payments than rounds.
      for (const from of [1500, 8453]) assert.ok(customers.orders.some((order) => order.from === from));
      assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    });

    it('each receiver on Stellar was paid once, and the treasury paid nothing else', () => {
      const paid = payouts.map(({ to, amount }) => `${to} ${amount}`).sort();
      const toStellar = customers.orders.filter(({ to }) => to === 1500);
      const owed = toStellar.map(({ receiver, amount }) => `${receiver} ${parseUnits(amount, decimals)}`).sort();
      assert.ok(owed.length > 0);
      assert.deepEqual(paid, owed);
    });

    it('each payment into the contract is one payin', () => {
      const fromStellar = customers.orders.filter(({ from }) => from === 1500);
      for (const { payment, payinHash } of fromStellar) {
        const payins = (history.get(`payment-${payment.id}`) ?? []).filter(({ type }) => type === 'PayinConfirmed');
        assert.deepEqual(
          payins.map(({ data }) => (data as { transfer: Transfer }).transfer.txHash),
          [payinHash],
        );
      }
    });

    it('the chain of hashes of every stream is whole', () => {
      for (const events of history.values()) assert.equal(verifyChain(events), null);
    });
  });

  /** What USDC's contract tells of the treasury's transfers, from the first ledger on. */
  async function treasuryTransfers() {
    const { chains, stellar } = sandbox.file();
    const server = new rpc.Server(chains['1500']?.rpcUrl ?? '', { allowHttp: true });
    const { oldestLedger } = await server.getHealth();
    const { events } = await server.getEvents({
      startLedger: oldestLedger,
      filters: [{ type: 'contract' }],
      limit: 10_000,
    });
    return events
      .map(({ topic, value }) => ({ topic: topic.map(scValToNative), value: scValToNative(value) }))
      .filter(({ topic }) => topic[0] === 'transfer' && topic[1] === stellar?.treasury)
      .map(({ topic, value }) => ({ to: topic[2] as string, amount: BigInt(value.amount ?? value) }));
  }
});
