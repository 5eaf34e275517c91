/** One press pays: payers with a browser wallet, and misbehaving wallets, payers and strangers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Keypair, Memo, Operation, type Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import type { Page } from 'playwright-core';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../../domain/chains.ts';
import { fund } from '../../sandbox/tokens.ts';
import { publicNetwork } from '../../src/chains/stellar/config.ts';
import type { Answer, Json } from '../support/shop.ts';
import { type Behaviour, declines, type EvmWallet, WalletError } from '../support/standInWallets.ts';
import { gateCases, isFull } from '../support/suite.ts';
import {
  createWalletWorld,
  desktop,
  gasFreeButton,
  payButton,
  paysByOnePress,
  paysChosenAmount,
  phone,
  receiver,
  toldOfWallet,
  type WalletVisit,
} from './wallets.ts';

/** A chain of each family in the gate; the full suite pays on all seven, in wallets.full.test.ts. */
const cases = gateCases<readonly [ChainId, string, WalletVisit]>(
  [
    [8453, 'Base, on a phone', phone],
    [1, 'Ethereum, on a desktop', desktop],
    [501, 'Solana, on a phone', phone],
    [1500, 'Stellar, on a desktop', desktop],
  ],
  ([chainId]) => chainId !== 1,
);

/** The gate has these cases in test/web/preparedWallets.test.ts, with a served page instead of a service. */
const itInFull = isFull ? it : it.skip;

/** Key of the account that a lying wallet signs with. */
let signer: Keypair | undefined;

/** A wallet that signs a payment to itself instead of the requested one. */
function redirected(params: readonly unknown[]): unknown {
  const [{ transactionXdr }] = params as [{ transactionXdr: string }];
  const asked = TransactionBuilder.fromXDR(transactionXdr, publicNetwork) as Transaction;
  const altered = TransactionBuilder.cloneFrom(asked)
    .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
    .build();
  if (signer) altered.sign(signer);
  return { signedTransaction: altered.toXDR() };
}

describe('a payer with a wallet in the browser', () => {
  const { shop, create, withWallet } = createWalletWorld([1, 8453, 501, 1500]);
  before(() => shop.open());
  after(() => shop.close());

  for (const [chainId, where, options] of cases) {
    it(`pays by one press on ${where}`, async () => {
      const { page, leave } = await withWallet(chainId, options);
      const payment = await create(chainId);
      await paysByOnePress(page, payment);
      const paid = await shop.follow(payment.id);
      assert.equal(paid.source.amountReceived ?? paid.source.amount, payment.source.amount);
      await leave();
    });
  }

  it('pays without gas by one signature, from an account with no coin', async () => {
    const key: Hex = `0x${randomBytes(32).toString('hex')}`;
    const payer = privateKeyToAddress(key);
    await fund(shop.world().rpcUrl(8453), 8453, payer, { tokens: { USDC: 10_000000n } });
    const { page, wallet, leave } = await withWallet(8453, { ...phone, evm: { key } });
    const payment = await create(8453);
    await page.goto(payment.paymentLink);
    await gasFreeButton(page).click();
    await page.getByText('has been paid').waitFor();
    const done = await shop.follow(payment.id);
    assert.equal(done.status, 'payment_completed');
    const { asked, sent } = wallet as EvmWallet;
    assert.deepEqual([sent, asked.filter((method) => /send|sign/i.test(method))], [[], ['eth_signTypedData_v4']]);
    const left = 10_000000n - BigInt(Math.round(Number(payment.source.amount) * 1e6));
    assert.equal(await shop.balance(8453, 'USDC', payer), left);
    await leave();
  });

  async function post(payment: Answer['body'], part: string, body: Json): Promise<Answer> {
    return shop.callOnce('POST', `${new URL(payment.paymentLink).pathname}/${part}`, { body });
  }

  const intoContract = (payer: Keypair) =>
    create(1500, { intent: 'stellar_payin_contracts' }, { senderAddress: payer.publicKey() });

  it('pays a contract payment on Stellar by one press, which calls the contract', async () => {
    const payer = await shop.stellarAccount('20');
    const payment = await intoContract(payer);
    const { page, wallet, leave } = await withWallet(1500, { ...phone, stellarSecret: payer.secret() });
    await paysByOnePress(page, payment);
    assert.deepEqual(wallet.asked.slice(-3), ['REQUEST_ACCESS', 'REQUEST_NETWORK_DETAILS', 'SUBMIT_TRANSACTION']);
    await leave();
  });

  it('types a sum where any is accepted and presses once: on Base, Solana, Stellar, and into the contract', async () => {
    // The gate has the sum of a prepared transaction into the contract.
    for (const chainId of gateCases([8453, 501, 1500] as const, (each) => each === 8453)) {
      const payment = await create(chainId, { type: 'anyAmount' });
      const { page, leave } = await withWallet(chainId, chainId === 8453 ? desktop : phone);
      await paysChosenAmount(page, payment, '4,25');
      assert.equal((await shop.follow(payment.id)).source.amountReceived, '4.25');
      await leave();
    }
    const payer = await shop.stellarAccount('20');
    const called = await create(
      1500,
      { type: 'anyAmount', intent: 'stellar_payin_contracts' },
      { senderAddress: payer.publicKey() },
    );
    const { page, leave } = await withWallet(1500, { ...desktop, stellarSecret: payer.secret() });
    await paysChosenAmount(page, called, '4.25');
    assert.equal((await shop.follow(called.id)).source.amountReceived, '4.25');
    await leave();
  });

  itInFull('sees which account can pay a contract payment, and nothing is signed', async () => {
    const [payer, other] = [await shop.stellarAccount('20'), await shop.stellarAccount('20')];
    const payment = await intoContract(payer);
    const { page, wallet, leave } = await withWallet(1500, { ...desktop, stellarSecret: other.secret() });
    await page.goto(payment.paymentLink);
    await payButton(page).click();
    await toldOfWallet(page, new RegExp(`Only the account ${payer.publicKey()} can pay`)).waitFor();
    assert.ok(!wallet.asked.includes('SUBMIT_TRANSACTION'));
    await leave();
  });

  const stellarStates: readonly (readonly [what: string, usdc: string, behaviour: Behaviour, text: RegExp])[] = [
    ['declines the signature', '20', declines('SUBMIT_TRANSACTION'), /You declined in the wallet/],
    ['has too little', '1', () => undefined, /too little USDC on Stellar/],
    [
      'is on another network',
      '20',
      (type) => (type === 'REQUEST_NETWORK_DETAILS' ? { networkDetails: { networkPassphrase: 'Test' } } : undefined),
      /is not on Stellar/,
    ],
    [
      'signs another transaction',
      '20',
      (type, params) => (type === 'SUBMIT_TRANSACTION' ? redirected(params) : undefined),
      /too long|could not/,
    ],
  ];
  for (const [what, usdc, behaviour, text] of gateCases(
    stellarStates,
    ([what]) => what === 'signs another transaction',
  )) {
    it(`on Stellar ${what}: the page says so, and nothing is sent`, async () => {
      const payer = await shop.stellarAccount(usdc);
      signer = payer;
      const payment = await create(1500);
      const { page, leave } = await withWallet(1500, { ...desktop, stellarSecret: payer.secret(), behaviour });
      await page.goto(payment.paymentLink);
      await payButton(page).click();
      await toldOfWallet(page, text).waitFor();
      assert.equal(await shop.balance(1500, 'USDC', payer.publicKey()), BigInt(usdc) * 10n ** 7n);
      await leave();
    });
  }

  itInFull('on Solana declines, or answers no signature: the page says so', async () => {
    const answers: readonly (readonly [Behaviour, RegExp])[] = [
      [declines('connect'), /You declined in the wallet/],
      [declines('signAndSendTransaction'), /You declined in the wallet/],
      [(method) => (method === 'signAndSendTransaction' ? [1, 2, 3] : undefined), /has not shown the payment yet/],
    ];
    const payment = await create(501);
    for (const [behaviour, text] of answers) {
      const { page, leave } = await withWallet(501, { ...phone, behaviour });
      await page.goto(payment.paymentLink);
      await payButton(page).click();
      await toldOfWallet(page, text).waitFor();
      await leave();
    }
  });

  itInFull('on Solana lets the prepared transaction expire: the page says that nothing was sent', async () => {
    const payment = await create(501);
    let page: Page | undefined;
    const late: Behaviour = async (method) => {
      if (method !== 'signAndSendTransaction') return undefined;
      await page?.clock.fastForward(61_000);
      throw new WalletError(-32603, 'Blockhash not found');
    };
    const visiting = await withWallet(501, { ...desktop, behaviour: late });
    page = visiting.page;
    await page.clock.install();
    await page.goto(payment.paymentLink);
    await payButton(page).click();
    await toldOfWallet(page, /took too long, so nothing was sent/).waitFor();
    await visiting.leave();
  });

  describe('a stranger, or a payer who alters a prepared transaction', () => {
    const prepared = async (payment: Answer['body'], payer: Keypair) => {
      const { status, body } = await post(payment, 'transaction', { account: payer.publicKey() });
      assert.equal(status, 200, JSON.stringify(body));
      const transaction = TransactionBuilder.fromXDR(body.transaction, publicNetwork) as Transaction;
      return { transaction, seal: body.seal as string };
    };
    const signedBy = (transaction: Transaction, payer: Keypair, network = publicNetwork): string => {
      const copy = TransactionBuilder.fromXDR(transaction.toXDR(), network) as Transaction;
      copy.sign(payer);
      return copy.toXDR();
    };

    it('can have only the prepared transaction sent, for the payment and account that it was prepared for', async () => {
      const [payer, other] = [await shop.stellarAccount('20'), await shop.stellarAccount('20')];
      const [own, another] = [await create(1500), await create(1500)];
      const { transaction, seal } = await prepared(own, payer);
      const theirs = await prepared(own, other);
      const account = payer.publicKey();
      const signed = signedBy(transaction, payer);
      const altered = (alter: (builder: TransactionBuilder) => void, options: object = {}) => {
        const builder = TransactionBuilder.cloneFrom(transaction, options);
        alter(builder);
        return signedBy(builder.build(), payer);
      };
      const attempts: readonly (readonly [what: string, payment: Answer['body'], body: Json, status: number])[] = [
        ['for another payment', another, { account, transaction: signed, seal }, 409],
        ['unsigned', own, { account, transaction: transaction.toXDR(), seal }, 400],
        ['signed by another account', own, { account, transaction: signedBy(transaction, other), seal }, 400],
        ['of another account', own, { account: other.publicKey(), transaction: signed, seal }, 400],
        ['with the seal of another account’s', own, { account, transaction: signed, seal: theirs.seal }, 409],
        ['with a forged seal', own, { account, transaction: signed, seal: 'A'.repeat(43) }, 409],
        [
          'signed for another network',
          own,
          { account, transaction: signedBy(transaction, payer, 'Test SDF Network ; September 2015'), seal },
          400,
        ],
        [
          'with one operation more',
          own,
          { account, transaction: altered((b) => b.addOperation(Operation.bumpSequence({ bumpTo: '0' }))), seal },
          409,
        ],
        ['with another memo', own, { account, transaction: altered((b) => b.addMemo(Memo.text('1'))), seal }, 409],
        ['with a higher fee', own, { account, transaction: altered(() => {}, { fee: '5000' }), seal }, 409],
        [
          'with other time bounds',
          own,
          { account, transaction: altered(() => {}, { timebounds: { minTime: 0, maxTime: 0 } }), seal },
          409,
        ],
        ['as a text', own, { account, transaction: 'AAAA', seal }, 400],
        ['very long', own, { account, transaction: 'A'.repeat(16_385), seal }, 400],
      ];
      for (const [what, payment, body, status] of attempts) {
        const answer = await post(payment, 'signed', body);
        assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
      }
      for (const each of [payer, other]) assert.equal(await shop.balance(1500, 'USDC', each.publicKey()), 200_000_000n);
      const good = await post(own, 'signed', { account, transaction: signed, seal });
      assert.deepEqual([good.status, good.body], [200, { txHash: transaction.hash().toString('hex') }]);
      await shop.follow(own.id);
      // A landed payment is not sent again: the payment waits for nothing.
      assert.equal((await post(own, 'signed', { account, transaction: signed, seal })).status, 409);
    });

    it('cannot have an older transaction sent once the amount due has changed', async () => {
      const payer = await shop.stellarAccount('20');
      const payment = await create(1500);
      const { transaction, seal } = await prepared(payment, payer);
      await shop.pay(payment, '1.00');
      await shop.follow(payment.id, ({ source }) => source.amountReceived === '1.00');
      const body = { account: payer.publicKey(), transaction: signedBy(transaction, payer), seal };
      const answer = await post(payment, 'signed', body);
      assert.deepEqual([answer.status, answer.body.errors?.[0]?.pointer], [409, '/expired']);
    });

    it('learns nothing and changes nothing with a link of no payment, or another’s transaction as a hash', async () => {
      const payment = await create(8453);
      const nobody = { paymentLink: `${shop.url()}/pay/${'A'.repeat(43)}` };
      for (const [part, body] of [
        ['transaction', { account: receiver }],
        ['signed', { account: receiver, transaction: 'AAAA', seal: 'A' }],
        ['payin', { txHash: `0x${'1'.repeat(64)}`, account: receiver }],
      ] as const)
        assert.equal((await post(nobody, part, body)).status, 404);
      const other = await create(8453);
      const paid = await shop.pay(other);
      const hint = await post(payment, 'payin', { txHash: paid, account: receiver });
      assert.equal(hint.status, 200);
      assert.equal((await post(payment, 'payin', { txHash: 'of another chain', account: receiver })).status, 400);
      assert.equal((await post(payment, 'transaction', { account: receiver })).status, 409);
      await shop.follow(other.id);
      assert.equal((await shop.read(payment.id)).status, 'payment_unpaid');
      await shop.pay(payment);
      await shop.follow(payment.id);
    });
  });
});
