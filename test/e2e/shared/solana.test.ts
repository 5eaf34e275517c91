/** Solana as source and as destination, from the view of customers and merchants: the real service, chains and webhooks. */
import assert from 'node:assert/strict';
import { Connection, Keypair, PublicKey } from 'solana-web3-v1';
import { getAddress } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { keepKeys } from '../../../sandbox/keys.ts';
import { addFault, advanceSlots, clearFaults, fundWallet, plantMint } from '../../../sandbox/solana/controls.ts';
import { usdc } from '../../../sandbox/solana/usdc.ts';
import { walletLinkAt } from '../../../sandbox/walletLink.ts';
import { waitAlone_blocks } from '../../../src/chains/solana/payouts/fate.ts';
import { createPayoutReference } from '../../../src/chains/solana/payouts/transaction.ts';
import { referenceKey } from '../../../src/chains/solana/signer/keys.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { outputOfTool } from '../../support/operatorTools.ts';
import type { Answer } from '../../support/sandbox.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { gateCases } from '../../support/suite.ts';
import { walletOrders } from '../../support/walletOrders.ts';

describe('payments over Solana', () => {
  const sandbox = sharedSandbox();
  before(startSharedSandbox);
  // The sandbox is shared: a failed spec must remove its fault.
  afterEach(() => clearFaults(solanaUrl()));

  let receivers = 0;
  const newEvmReceiver = () => getAddress(`0x${(0x501a_0000 + ++receivers).toString(16).padStart(40, '0')}`);
  const newWallet = () => Keypair.generate().publicKey.toBase58();
  const solanaUrl = () => sandbox.file().chains['501']?.rpcUrl ?? '';
  const chain = () => new Connection(solanaUrl(), 'confirmed');

  const { order, create, webhooksOf } = walletOrders(sandbox);
  const isDone = ({ status }: Answer['body']) => assert.equal(status, 'payment_payout_completed');

  it('lead from Solana to Base, exact to the last digit, with both webhooks', async () => {
    const receiverAddress = newEvmReceiver();
    const payment = await create(
      order('exactOut', { chainId: 'solana' }, { chainId: 8453, receiverAddress, amount: '2.718281' }),
    );
    const { source } = payment;
    assert.deepEqual([source.chainId, source.amount, source.receiverMemo], ['501', '2.730999', null]);
    assert.equal(new PublicKey(source.receiverAddress).toBase58(), source.receiverAddress);
    const txHash = await sandbox.pay(payment);
    const done = await sandbox.follow(payment.id);
    isDone(done);
    assert.equal(done.source.txHash, txHash);
    assert.equal(done.source.amountReceived, '2.730999');
    assert.equal(await sandbox.balance(8453, 'USDC', receiverAddress), 2_718281n);
    assert.equal(await sandbox.balance(501, 'USDC', source.receiverAddress), 2_730999n);

    const [payin, payout] = await webhooksOf(payment.id);
    assert.equal(payin.type, 'payment_payin_completed');
    assert.equal(payin.data.source.amountReceived, '2.730999');
    assert.equal(payin.data.destination.txHash, null);
    assert.equal(payout.type, 'payment_payout_completed');
    assert.equal(payout.data.destination.txHash, done.destination.txHash);
    assert.ok(!('paymentLink' in payout.data));
  });

  it('lead from Base to Solana, to a wallet that has no token account yet', async () => {
    const receiverAddress = newWallet();
    const payment = await create(
      order('exactIn', { chainId: 8453, amount: '3.141592' }, { chainId: 900, receiverAddress }),
    );
    assert.equal(payment.destination.chainId, '501');
    await sandbox.pay(payment);
    const done = await sandbox.follow(payment.id);
    isDone(done);
    assert.equal(await sandbox.balance(501, 'USDC', receiverAddress), 2_729579n);
    const landed = await chain().getParsedTransaction(done.destination.txHash, {
      commitment: 'finalized',
      maxSupportedTransactionVersion: 0,
    });
    assert.equal(landed?.meta?.err, null);
    const key = referenceKey(keepKeys(sandbox.dataDir).solana.depositSeed);
    const reference = createPayoutReference(key)({ reference: payment.id, referenceOrdinal: 1 });
    const named = landed?.transaction.message.accountKeys.map(({ pubkey }) => pubkey.toBase58());
    assert.ok(named?.includes(reference));
    const [payin, payout] = await webhooksOf(payment.id);
    assert.equal(payin.data.destination.confirmedAt, null);
    assert.equal(payout.data.destination.amount, '2.729579');
  });

  it('lead from a contract payment on Stellar to Solana, and from Solana to Stellar', async () => {
    const payer = await sandbox.stellarAccount('20');
    const receiverAddress = newWallet();
    const intent = { intent: 'stellar_payin_contracts' };
    const source = { chainId: 1500, senderAddress: payer.publicKey() };
    const payment = await create(
      order('exactOut', source, { chainId: 501, receiverAddress, amount: '5.000001' }, intent),
    );
    await sandbox.pay(payment, payment.source.amount, payer.secret());
    isDone(await sandbox.follow(payment.id));
    assert.equal(await sandbox.balance(501, 'USDC', receiverAddress), 5_000001n);

    const account = await sandbox.stellarAccount();
    const back = await create(
      order('exactIn', { chainId: 501, amount: '4' }, { chainId: 1500, receiverAddress: account.publicKey() }),
    );
    await sandbox.pay(back);
    isDone(await sandbox.follow(back.id));
    assert.equal(await sandbox.balance(1500, 'USDC', account.publicKey()), 3_9860000n);
  });

  it('remain on Solana', async () => {
    const receiverAddress = newWallet();
    const payment = await create(order('exactOut', { chainId: 501 }, { chainId: 501, receiverAddress, amount: '1' }));
    await sandbox.pay(payment);
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_completed');
    assert.equal(await sandbox.balance(501, 'USDC', receiverAddress), 1_000000n);
  });

  it('have a Solana Pay link on their page, whose reference finds the payin', async () => {
    const payment = await create(
      order('exactOut', { chainId: 501 }, { chainId: 8453, receiverAddress: newEvmReceiver(), amount: '1' }),
    );
    const { wallet } = sandbox.file();
    const { body } = await sandbox.call('GET', `/payment-api/payments/${payment.id}`, { key: wallet.ordersKey });
    const link = new URL((await walletLinkAt(body.paymentLink, 'solana')) ?? '');
    assert.equal(link.protocol + link.pathname, `solana:${payment.source.receiverAddress}`);
    assert.equal(link.searchParams.get('amount'), payment.source.amount);
    assert.equal(link.searchParams.get('spl-token'), chainOf(501).tokens[0]?.address);
    const txHash = await sandbox.pay(body);
    isDone(await sandbox.follow(payment.id));
    const found = await chain().getSignaturesForAddress(new PublicKey(link.searchParams.get('reference') ?? ''));
    assert.deepEqual(
      found.map(({ signature }) => signature),
      [txHash],
    );
  });

  it('show the payin as soon as it is registered', async () => {
    const payment = await create(
      order('exactOut', { chainId: 501 }, { chainId: 8453, receiverAddress: newEvmReceiver(), amount: '1' }),
    );
    const txHash = await sandbox.pay(payment);
    const { wallet } = sandbox.file();
    const register = (hash: string) =>
      sandbox.call('POST', `/payment-api/payments/${payment.id}/payin`, {
        key: wallet.ordersKey,
        body: { txHash: hash, fromAddress: newWallet() },
      });
    // Base58 has no zero.
    assert.equal((await register(`0${txHash.slice(1)}`)).status, 400);
    const { status } = await register(txHash);
    assert.ok(status === 200 || status === 409);
    const done = await sandbox.follow(payment.id);
    assert.equal(done.source.txHash, txHash);
  });

  it('add several transfers up, and ignore a token that only looks like USDC', async () => {
    const payment = await create(
      order('exactOut', { chainId: 501 }, { chainId: 8453, receiverAddress: newEvmReceiver(), amount: '2' }),
    );
    const mint = newWallet();
    await plantMint(solanaUrl(), mint);
    await fundWallet(solanaUrl(), payment.source.receiverAddress, { tokens: { [mint]: 5_000000n } });
    await sandbox.pay(payment, '1');
    await sandbox.pay(payment, '1.5');
    const done = await sandbox.follow(payment.id);
    isDone(done);
    assert.equal(done.source.amountReceived, '2.50');
  });

  describe('with a hindered payout', () => {
    const faults = ['lostAnswer', 'duplicate', 'drop', 'unavailable'] as const;
    for (const kind of gateCases(faults, (fault) => fault === 'lostAnswer')) {
      it(`pay once after ${kind}`, async () => {
        const receiverAddress = newWallet();
        await addFault(solanaUrl(), { method: 'sendTransaction', kind });
        const payment = await create(
          order('exactOut', { chainId: 8453 }, { chainId: 501, receiverAddress, amount: '1.5' }),
        );
        await sandbox.pay(payment);
        isDone(await sandbox.follow(payment.id));
        assert.equal(await sandbox.balance(501, 'USDC', receiverAddress), 1_500000n);
      });
    }

    it('sign again only after proof that the first transaction can never land', async () => {
      const receiverAddress = newWallet();
      const payment = await create(
        order('exactOut', { chainId: 8453 }, { chainId: 501, receiverAddress, amount: '1.25' }),
      );
      /** Block heights up to which the network can accept each signed transaction, in the order of signing. */
      const validUntil = async (): Promise<readonly bigint[]> => {
        const events = (await sandbox.history()).get(`payment-${payment.id}`) ?? [];
        return events.flatMap(({ type, data }) =>
          type === 'PayoutSigned' ? [BigInt((data as { validUntil: string }).validUntil)] : [],
        );
      };
      await addFault(solanaUrl(), { method: 'sendTransaction', kind: 'drop', times: 100_000 });
      await sandbox.pay(payment);
      await sandbox.until(async () => (await validUntil()).length > 0);
      await advanceSlots(solanaUrl(), 100);
      // A single node needs more time.
      await advanceSlots(solanaUrl(), 60 + Number(waitAlone_blocks));
      await sandbox.until(async () => (await validUntil()).length > 1);
      await clearFaults(solanaUrl());
      isDone(await sandbox.follow(payment.id));

      // A transaction is valid for 150 blocks after its blockhash. The second blockhash is from after the end of the first transaction's validity.
      const [first = 0n, second = 0n, ...more] = await validUntil();
      assert.ok(second - 150n > first, `signed for ${second} while ${first} was not over`);
      assert.deepEqual(more, []);
      const attempts = async () =>
        sandbox.query<{ status: string }>(
          `SELECT status FROM transactions WHERE payment_id = '${payment.id}' AND kind = 'payout' ORDER BY index`,
        );
      // The reports may lag a moment behind the payment's own row.
      await sandbox.until(async () => (await attempts()).at(-1)?.status === 'settled');
      assert.deepEqual(await attempts(), [{ status: 'lapsed' }, { status: 'settled' }]);
      assert.equal(await sandbox.balance(501, 'USDC', receiverAddress), 1_250000n);
    });
  });

  it('leave money in deposits, which the operator sweeps to the treasury, once', async () => {
    const payment = await create(
      order('exactOut', { chainId: 501 }, { chainId: 8453, receiverAddress: newEvmReceiver(), amount: '1' }),
    );
    await sandbox.pay(payment);
    isDone(await sandbox.follow(payment.id));
    const sweep = () => outputOfTool(sandbox.dataDir, 'sweep', 'solana');
    assert.match(await sweep(), /1.011 USDC/);
    assert.equal(await sandbox.balance(501, 'USDC', payment.source.receiverAddress), 0n);
    assert.match(await sweep(), /none holds anything/);
  });

  describe('are refused', () => {
    const pointed = async (receiverAddress: string) => {
      const refused = await sandbox.create(
        order('exactOut', { chainId: 8453 }, { chainId: 501, receiverAddress, amount: '1' }),
      );
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      return `${refused.body.errors[0].pointer} ${refused.body.message}`;
    };

    it('to an address that is no wallet of Solana, with a pointer', async () => {
      for (const [receiver, said] of [
        [newEvmReceiver(), /no Solana address/],
        ['0OIl', /no Solana address/],
        [chainOf(501).tokens[0]?.address ?? '', /no Solana address/],
        [
          tokenAccountOf(sandbox.file().solana?.treasury ?? '', usdc.mint),
          /token account: give the address of the wallet/,
        ],
        ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', /is a program/],
        [tokenAccountOf(newWallet(), usdc.mint), /not on the curve and nothing is there/],
      ] as const) {
        const answer = await pointed(receiver);
        assert.match(answer, said);
        assert.match(answer, /^\/destination\/receiverAddress /);
      }
    });
  });
});
