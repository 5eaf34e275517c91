/** Stellar as source and as destination, from the view of customers and merchants: the real service, chains, contract and webhooks. */
import assert from 'node:assert/strict';
import { Keypair, rpc } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { getAddress } from 'viem';
import { type ChainId, chainOf, findToken, type TokenSymbol } from '../../../domain/chains.ts';
import { fundWallet } from '../../../sandbox/solana/controls.ts';
import { addFault, clearFaults, closeLedgers } from '../../../sandbox/stellar/controls.ts';
import type { Json } from '../../support/sandbox.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { solanaClient } from '../../support/solana.ts';
import { muxed } from '../../support/stellar.ts';
import { gateCases } from '../../support/suite.ts';
import { walletOrders } from '../../support/walletOrders.ts';

/** Destinations of contract payments: reference, section 1. */
const allRoutes: readonly (readonly [ChainId, TokenSymbol])[] = [
  [8453, 'USDC'],
  [56, 'USDT'],
  [56, 'USDC'],
  [1, 'USDT'],
  [1, 'USDC'],
  [42161, 'USDC'],
  [137, 'USDC'],
  [501, 'USDC'],
];
/** The gate tries both families, with 6 and with 18 decimals. */
const routes = gateCases(
  allRoutes,
  ([chainId, symbol]) => chainId === 501 || chainId === 8453 || (chainId === 56 && symbol === 'USDT'),
);

/**
 * Fee: 0.01 and a thousandth, truncated to the decimals of both tokens. Stellar has 7 decimals, most destinations 6,
 * BNB Chain 18. Each row: requested amount, the customer's payment, the receiver's amount with 6 and with 18 decimals.
 */
const terms = [
  { type: 'exactIn', amount: '3.141592', pays: ['3.141592', '3.141592'], gets: ['3.128451', '3.1284505'] },
  { type: 'exactOut', amount: '2.718281', pays: ['2.730999', '2.7309992'], gets: ['2.718281', '2.718281'] },
  { type: 'anyAmount', amount: null, pays: ['7.1234567', '7.1234567'], gets: ['7.106333', '7.1063333'] },
] as const;

describe('payments over Stellar', () => {
  const sandbox = sharedSandbox();
  before(startSharedSandbox);
  // The sandbox is shared: a failed spec must remove its fault.
  afterEach(() => clearFaults(stellarUrl()));

  let receivers = 0;
  /** On Solana the receiver has a token account, which the fee would have to pay for otherwise. */
  async function receiverOn(chainId: ChainId): Promise<string> {
    if (chainId !== 501) return newReceiver();
    const { publicKey } = SolanaKeypair.generate();
    const url = sandbox.file().chains['501']?.rpcUrl ?? '';
    await fundWallet(url, publicKey.toBase58(), { usdc: 0n });
    // The fee depends on the nodes' answers: an account that is not final yet may be missing.
    const isOpen = () =>
      solanaClient(url)
        .balance(publicKey, 'finalized')
        .then(
          () => true,
          () => false,
        );
    await sandbox.until(isOpen);
    return publicKey.toBase58();
  }
  const newReceiver = () => getAddress(`0x${(0x5e11a_0000 + ++receivers).toString(16).padStart(40, '0')}`);
  const stellarUrl = () => sandbox.file().chains['1500']?.rpcUrl ?? '';
  const treasury = () => sandbox.file().stellar?.treasury ?? '';

  const { order, create, webhooksOf } = walletOrders(sandbox);
  const units = (chainId: ChainId, symbol: TokenSymbol, amount: string): bigint => {
    const decimals = findToken(chainOf(chainId), symbol)?.decimals ?? 0;
    const [whole = '', fraction = ''] = amount.split('.');
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  };

  describe('into the contract', () => {
    for (const [chainId, symbol] of routes) {
      const fine = (findToken(chainOf(chainId), symbol)?.decimals ?? 0) > 6 ? 1 : 0;
      describe(`for ${symbol} on ${chainOf(chainId).name}`, () => {
        for (const { type, amount, pays, gets } of terms) {
          it(`${type}: ${pays[fine]} bring ${gets[fine]}, exact to the last digit`, async () => {
            const { payer, payment, txHash, done } = await found(chainId, symbol, type);
            assert.equal(payment.source.receiverAddressContract, sandbox.file().stellar?.contract);
            assert.equal(Date.parse(payment.expiresAt) - Date.parse(payment.createdAt), 3_600_000);
            if (amount !== null) assert.equal(payment.source.amount, pays[fine]);

            assert.equal(done.status, 'payment_payout_completed');
            assert.equal(done.source.amountReceived, pays[fine]);
            assert.equal(done.source.txHash, txHash);
            assert.equal(done.source.senderAddress, payer.publicKey());
            const left = await sandbox.balance(1500, 'USDC', payer.publicKey());
            assert.equal(left, units(1500, 'USDC', funds) - units(1500, 'USDC', pays[fine]));
            const got = await sandbox.balance(chainId, symbol, done.destination.receiverAddress);
            assert.equal(got, units(chainId, symbol, gets[fine]));

            const [payin, payout] = await webhooksOf(payment.id);
            assert.equal(payin.type, 'payment_payin_completed');
            assert.equal(payin.data.source.amountReceived, pays[fine]);
            assert.equal(payout.type, 'payment_payout_completed');
            assert.equal(payout.data.destination.amount, gets[fine]);
          });
        }
      });
    }

    const funds = '100';
    const key = (chainId: ChainId, symbol: TokenSymbol, type: string) => `${type} ${symbol} ${chainId}`;
    const ended = new Map<string, Promise<Awaited<ReturnType<typeof goThrough>>>>();

    async function goThrough(
      chainId: ChainId,
      tokenSymbol: TokenSymbol,
      { type, amount, pays }: (typeof terms)[number],
    ) {
      const payer = await sandbox.stellarAccount(funds);
      const stated = amount === null ? {} : { amount };
      const source = { chainId: 1500, senderAddress: payer.publicKey(), ...(type === 'exactIn' && stated) };
      const destination = {
        chainId,
        tokenSymbol,
        receiverAddress: await receiverOn(chainId),
        ...(type === 'exactOut' && stated),
      };
      const payment = await create(order(type, source, destination, { intent: 'stellar_payin_contracts' }));
      const decimals = findToken(chainOf(chainId), tokenSymbol)?.decimals ?? 0;
      const txHash = await sandbox.pay(payment, pays[decimals > 6 ? 1 : 0], payer.secret());
      return { payer, payment, txHash, done: await sandbox.follow(payment.id) };
    }

    /** Payments of one route run one after the other, the routes run concurrently. Each test awaits its own payment. */
    before(() => {
      for (const [chainId, symbol] of routes) {
        let before: Promise<unknown> = Promise.resolve();
        for (const term of terms) {
          const going = before.then(() => goThrough(chainId, symbol, term));
          // The payment's own test reports a failure.
          before = going.catch(() => {});
          ended.set(key(chainId, symbol, term.type), going);
        }
      }
    });

    async function found(chainId: ChainId, symbol: TokenSymbol, type: string) {
      const going = ended.get(key(chainId, symbol, type));
      assert.ok(going);
      return going;
    }

    it('are known by their memo: another sender’s money is held, and the announced sender can still pay', async () => {
      const [announced, other] = [await sandbox.stellarAccount('20'), await sandbox.stellarAccount('20')];
      const payment = await create(contractOrder(announced, { type: 'exactOut', amount: '3.00' }));
      const strange = await sandbox.pay(payment, payment.source.amount, other.secret());
      const standings = async () =>
        sandbox.query<{ standing: string }>(
          `SELECT standing FROM payins WHERE payment_id = '${payment.id}' AND tx_hash = '${strange}' AND phase = 'confirmed'`,
        );
      await sandbox.until(async () => (await standings()).length === 1);
      assert.deepEqual(await standings(), [{ standing: 'otherSender' }]);
      assert.equal((await sandbox.read(payment.id)).status, 'payment_unpaid');
      await sandbox.pay(payment, payment.source.amount, announced.secret());
      const done = await sandbox.follow(payment.id);
      assert.equal(done.status, 'payment_payout_completed');
      assert.equal(done.source.senderAddress, announced.publicKey());
    });

    it('are paid as well by a plain payment to the treasury with their memo, under the same limits', async () => {
      const payer = await sandbox.stellarAccount('20');
      const sendPlainly = async (amount: string) => {
        const payment = await create(contractOrder(payer, { type: 'anyAmount' }));
        assert.equal(payment.source.receiverMemo, payment.source.receiverMemoContract);
        const plain = { ...payment, source: { ...payment.source, receiverAddressContract: null } };
        const txHash = await sandbox.pay(plain, amount, payer.secret());
        const { status, source } = await sandbox.follow(payment.id);
        assert.deepEqual([source.txHash, source.amountReceived], [txHash, amount]);
        return status;
      };
      assert.equal(await sendPlainly('3.00'), 'payment_payout_completed');
      assert.equal(await sendPlainly('0.0199999'), 'payment_bounced');
    });

    // The gate has one amount beside each limit. The specs of the domain have all.
    for (const amount of gateCases(['0.0199999', '10000.0000001'], (_, index) => index === 0)) {
      it(`bounce with ${amount} of any amount: nothing is paid out, the money is kept for a refund`, async () => {
        const payer = await sandbox.stellarAccount('20000');
        const payment = await create(contractOrder(payer, { type: 'anyAmount' }));
        await sandbox.pay(payment, amount, payer.secret());
        const done = await sandbox.follow(payment.id);
        assert.equal(done.status, 'payment_bounced');
        assert.equal(done.source.amountReceived, amount);
        assert.equal(await sandbox.balance(8453, 'USDC', done.destination.receiverAddress), 0n);
        assert.deepEqual(sandbox.webhooks(payment.id), []);
      });
    }

    for (const amount of gateCases(['0.02', '10000'], (_, index) => index === 1)) {
      it(`accept ${amount} of any amount`, async () => {
        const payer = await sandbox.stellarAccount('20000');
        const payment = await create(contractOrder(payer, { type: 'anyAmount' }));
        await sandbox.pay(payment, amount, payer.secret());
        assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
      });
    }
  });

  const contractOrder = (payer: Keypair, { type, amount }: { type: string; amount?: string }): Json =>
    order(
      type,
      { chainId: 1500, senderAddress: payer.publicKey() },
      { chainId: 8453, receiverAddress: newReceiver(), ...(amount && { amount }) },
      { intent: 'stellar_payin_contracts' },
    );

  describe('with a memo', () => {
    it('lead from the treasury’s account to another chain', async () => {
      const receiverAddress = newReceiver();
      const payment = await create(
        order('exactOut', { chainId: 1500 }, { chainId: 137, receiverAddress, amount: '4.20' }),
      );
      assert.equal(payment.source.receiverAddress, treasury());
      assert.match(payment.source.receiverMemo, /^\d{1,19}$/);
      await sandbox.pay(payment);
      const done = await sandbox.follow(payment.id);
      assert.equal(done.status, 'payment_payout_completed');
      assert.equal(await sandbox.balance(137, 'USDC', receiverAddress), 4_200_000n);
      await webhooksOf(payment.id);
    });

    it('remain on Stellar', async () => {
      const receiver = await sandbox.stellarAccount();
      const payment = await create(
        order('exactIn', { chainId: 1500, amount: '5' }, { chainId: 1500, receiverAddress: receiver.publicKey() }),
      );
      await sandbox.pay(payment);
      assert.equal((await sandbox.follow(payment.id)).status, 'payment_completed');
      assert.equal(await sandbox.balance(1500, 'USDC', receiver.publicKey()), 49_850_000n);
    });

    it('are shown to the operator if no payment has the memo', async () => {
      const payment = await create(
        order('exactOut', { chainId: 1500 }, { chainId: 137, receiverAddress: newReceiver(), amount: '1' }),
      );
      const stray = { ...payment, source: { ...payment.source, receiverMemo: 'thanks' } };
      const txHash = await sandbox.pay(stray, '1.5');
      const kept = () => sandbox.query<{ memo: string }>(`SELECT memo FROM unmatched WHERE tx_hash = '${txHash}'`);
      await sandbox.until(async () => (await kept()).length === 1);
      assert.equal((await kept())[0]?.memo, 'thanks');
      assert.equal((await sandbox.read(payment.id)).status, 'payment_unpaid');
    });
  });

  describe('paid out on Stellar', () => {
    const toStellar = (receiverAddress: string, amount: string, more: Json = {}) =>
      order('exactOut', { chainId: 8453 }, { chainId: 1500, receiverAddress, amount, ...more });

    it('reach an account with the receiver’s memo', async () => {
      const receiver = await sandbox.stellarAccount();
      const payment = await create(toStellar(receiver.publicKey(), '6.000001', { receiverMemo: 'invoice 7' }));
      await sandbox.pay(payment);
      const done = await sandbox.follow(payment.id);
      assert.equal(done.status, 'payment_payout_completed');
      assert.equal(await sandbox.balance(1500, 'USDC', receiver.publicKey()), 60_000_010n);
      assert.equal(await memoOf(done.destination.txHash), 'invoice 7');
      await webhooksOf(payment.id);
    });

    it('reach a muxed account, and a contract', async () => {
      const receiver = await sandbox.stellarAccount();
      const contract = sandbox.file().stellar?.contract ?? '';
      const viaMuxed = await create(toStellar(muxed(receiver.publicKey(), 42n), '2.5'));
      const held = await create(toStellar(contract, '0.5'));
      for (const payment of [viaMuxed, held]) await sandbox.pay(payment);
      for (const { id } of [viaMuxed, held]) {
        assert.equal((await sandbox.follow(id)).status, 'payment_payout_completed');
      }
      assert.equal(await sandbox.balance(1500, 'USDC', receiver.publicKey()), 25_000_000n);
    });

    it('do not reach an account that cannot take USDC: refused when they are created', async () => {
      const stranger = Keypair.random().publicKey();
      const { status, body } = await sandbox.create(toStellar(stranger, '1'));
      assert.equal(status, 400);
      assert.equal(body.errors[0].pointer, '/destination/receiverAddress');
      assert.match(body.errors[0].message, /does not exist on Stellar/);
    });

    it('are not promised while the network does not answer: 503 with Retry-After, nothing created', async () => {
      const receiver = await sandbox.stellarAccount();
      await addFault(stellarUrl(), { kind: 'unavailable', method: 'getLedgerEntries', times: 100_000 });
      const body = { ...toStellar(receiver.publicKey(), '1'), orderId: 'unasked' };
      const { ordersKey, appId } = sandbox.file().wallet;
      // Readiness names the reason of an answer of the last minute, unless a busy machine delays ledgers.
      await sandbox.until(async () => {
        const refused = await sandbox.tryToCreate(body, ordersKey);
        assert.equal(refused.status, 503, JSON.stringify(refused.body));
        assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]/);
        return reportsReason('getLedgerEntries');
      });
      await clearFaults(stellarUrl());
      const read = await sandbox.call('GET', `/payment-api/payments/order/${appId}/unasked`, { key: ordersKey });
      assert.equal(read.status, 404);
    });
  });

  describe('while the service is down', () => {
    it('are found after a thousand ledgers, each once', async () => {
      const payer = await sandbox.stellarAccount('50');
      const contract = await create(contractOrder(payer, { type: 'exactOut', amount: '3.986' }));
      const classic = await create(
        order('exactOut', { chainId: 1500 }, { chainId: 137, receiverAddress: newReceiver(), amount: '2' }),
      );
      await sandbox.kill();
      await closeLedgers(stellarUrl(), 300);
      await sandbox.pay(contract, contract.source.amount, payer.secret());
      await closeLedgers(stellarUrl(), 400);
      await sandbox.pay(classic);
      await closeLedgers(stellarUrl(), 300);
      await startSharedSandbox();

      const [first, second] = await Promise.all([contract, classic].map(({ id }) => sandbox.follow(id)));
      assert.deepEqual([first.status, second.status], ['payment_payout_completed', 'payment_payout_completed']);
      assert.equal(await sandbox.balance(8453, 'USDC', first.destination.receiverAddress), 3_986_000n);
      assert.equal(await sandbox.balance(137, 'USDC', second.destination.receiverAddress), 2_000_000n);
    });
  });

  /** The operator finds the node and the method of a 503 in readiness and in the metrics. */
  async function reportsReason(method: string): Promise<boolean> {
    const { checks } = (await sandbox.operations('/readyz')).body;
    const { body: metrics } = await sandbox.operations('/metrics');
    const isInReadiness = new RegExp(`answered 503 .*node 1 ${method}: `).test(checks['chain:1500'].detail);
    return isInReadiness && /pi_alarms_total\{reason="chainUnanswered"\} [1-9]/.test(String(metrics));
  }

  async function memoOf(hash: string): Promise<unknown> {
    const got = await new rpc.Server(stellarUrl(), { allowHttp: true }).getTransaction(hash);
    assert.equal(got.status, 'SUCCESS');
    return got.envelopeXdr.v1().tx().memo().value()?.toString();
  }
});
