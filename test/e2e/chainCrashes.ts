/** The real process, killed with SIGKILL at every named point of payins and payouts on Stellar and Solana, and started again. */
import assert from 'node:assert/strict';
import { rpc, scValToNative } from '@stellar/stellar-sdk';
import { Connection, PublicKey } from 'solana-web3-v1';
import { parseUnits } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import { usdc } from '../../sandbox/solana/usdc.ts';
import { tokenAccountOf } from '../../src/chains/solana/tokenProgram.ts';
import { createCustomers } from '../support/customers.ts';
import { type Answer, createSandbox, type SandboxOptions } from '../support/sandbox.ts';

const around = (append: string) => [`${append}.beforeAppend`, `${append}.afterAppend`];

/**
 * In the order of a payment's life. On Stellar a closed ledger is final: a payin is detected, confirmed and funds its
 * payment at once. On Solana the payment gets its address from the stock.
 */
const payins = {
  1500: [
    'payins.beforeCheckpoint#6',
    'payins.afterCheckpoint#6',
    ...around('PayinDetected+PayinConfirmed+PaymentFunded'),
  ],
  501: [...around('PaymentCreated'), ...around('PayinDetected'), ...around('PayinConfirmed+PaymentFunded')],
};
/** Points of a treasury's first payout. Only points before any other round are certain to belong to it. */
const opening = { 1500: around('TreasuryOpened+NonceAssigned'), 501: around('TreasuryOpened') };
/** Solana has no nonces. */
const numbering = { 1500: around('NonceAssigned'), 501: [] };
const payouts = (chainId: 1500 | 501) => [
  ...around('PayoutRequested'),
  ...numbering[chainId],
  'payout.beforeSign',
  'payout.afterSign',
  ...around('PayoutSigned'),
  'payout.beforeBroadcast',
  'payout.afterBroadcast',
  ...around('PayoutConfirmed'),
];
const routes = [
  { from: 1500, to: 501 },
  { from: 501, to: 1500 },
] as const;
export interface ChainRound {
  readonly point: string;
  readonly from: 501 | 1500;
  readonly to: 501 | 1500;
}

export const chainRounds: readonly ChainRound[] = routes.flatMap(({ from, to }) =>
  [...opening[to], ...payins[from], ...payouts(to)].map((point) => ({ point, from, to })),
);

const settings = { POLL_MS_501: '50', POLL_MS_1500: '50' };
const nameOf = (chainId: 1500 | 501) => chainOf(chainId).name;

interface Paid {
  readonly to: string;
  /** Smallest units. */
  readonly amount: bigint;
}

export interface ChainCrashOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  readonly rounds: readonly ChainRound[];
}

/** Specs of one world whose service dies once per round, in this order, with a payment of that route in flight. */
export function survivesChainCrashes({ rounds, eventStoreUrl }: ChainCrashOptions): void {
  const sandbox = createSandbox({ chains: [501, 1500], eventStoreUrl });
  const customers = createCustomers(sandbox);
  after(() => sandbox.destroy());

  describe('the service dies', () => {
    for (const { point, from, to } of rounds) {
      it(`at ${point}, on the way from ${nameOf(from)} to ${nameOf(to)}`, async () => {
        const started = await sandbox.start({ ...settings, CRASH_AT: point });
        if (started === 'ready') await customers.come(from, to);
        assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
      });
    }

    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await sandbox.kill();
    });
  });

  describe('and without further crashes', () => {
    let done: readonly Answer['body'][];
    let history: ReadonlyMap<string, readonly StoredEvent[]>;
    let paid: Record<1500 | 501, readonly Paid[]>;

    before(async () => {
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
      // An interrupted payment may have used up the next round's crash: its route still gets a payment.
      for (const { from, to } of routes)
        if (!customers.orders.some((order) => order.to === to)) customers.newOrder(from, to);
      done = await customers.finish();
      paid = { 1500: await stellarTransfers(), 501: await solanaTransfers() };
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      history = await sandbox.history();
    });

    it('every payment completes', () => {
      assert.deepEqual([...new Set(done.map(({ status }) => status))], ['payment_payout_completed']);
    });

    for (const { from, to } of routes) {
      const onRoute = () => customers.orders.filter((order) => order.to === to);

      it(`each receiver on ${nameOf(to)} was paid once, and the treasury paid nothing else`, () => {
        const decimals = chainOf(to).tokens[0]?.decimals ?? 0;
        const owed = onRoute().map(({ receiver, amount }) => `${receiver} ${parseUnits(amount, decimals)}`);
        // An interrupted payment continues and may die again at the next point: there are fewer payments than rounds.
        assert.ok(owed.length > 0);
        assert.deepEqual(paid[to].map(({ to, amount }) => `${to} ${amount}`).sort(), owed.sort());
      });

      it(`the payments of each customer on ${nameOf(from)} are one payin each`, () => {
        for (const { payment, payinHash } of onRoute()) {
          const confirmed = (history.get(`payment-${payment.id}`) ?? []).filter(
            ({ type }) => type === 'PayinConfirmed',
          );
          const hashes = confirmed.map(({ data }) => (data as { transfer: Transfer }).transfer.txHash);
          assert.deepEqual(hashes, [payinHash]);
        }
      });
    }

    it('the chain of hashes of every stream is whole', () => {
      for (const events of history.values()) assert.equal(verifyChain(events), null);
    });
  });

  const urlOf = (chainId: 1500 | 501) => sandbox.file().chains[chainId]?.rpcUrl ?? '';

  /** The treasury's transfers in the log of USDC's contract, from the first ledger on. */
  async function stellarTransfers(): Promise<Paid[]> {
    const treasury = sandbox.file().stellar?.treasury;
    const server = new rpc.Server(urlOf(1500), { allowHttp: true });
    const { oldestLedger: startLedger } = await server.getHealth();
    const { events } = await server.getEvents({ startLedger, filters: [{ type: 'contract' }], limit: 10_000 });
    return events
      .map(({ topic, value }) => ({ topic: topic.map(scValToNative), value: scValToNative(value) }))
      .filter(({ topic }) => topic[0] === 'transfer' && topic[1] === treasury)
      .map(({ topic, value }) => ({ to: topic[2], amount: BigInt(value.amount ?? value) }));
  }

  /** Amounts that transactions of the treasury's token account brought to other accounts. */
  async function solanaTransfers(): Promise<Paid[]> {
    const treasury = sandbox.file().solana?.treasury ?? '';
    const connection = new Connection(urlOf(501), 'confirmed');
    const account = new PublicKey(tokenAccountOf(treasury, usdc.mint));
    const signatures = await connection.getSignaturesForAddress(account);
    const landed = await connection.getParsedTransactions(
      signatures.map(({ signature }) => signature),
      { maxSupportedTransactionVersion: 0 },
    );
    return landed.flatMap((transaction) => {
      const { preTokenBalances, postTokenBalances, err } = transaction?.meta ?? {};
      if (!transaction || err) return [];
      const before = new Map(
        preTokenBalances?.map(({ owner, uiTokenAmount }) => [owner, BigInt(uiTokenAmount.amount)]),
      );
      return (postTokenBalances ?? [])
        .map(({ owner = '', uiTokenAmount }) => ({
          to: owner,
          amount: BigInt(uiTokenAmount.amount) - (before.get(owner) ?? 0n),
        }))
        .filter(({ to, amount }) => to !== treasury && amount > 0n);
    });
  }
}
