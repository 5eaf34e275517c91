/** Payers on Stellar who sign an authorization entry and pay no fee: by x402 at a payment's link, and through the facilitator. */
import assert from 'node:assert/strict';
import { Keypair, Networks, Operation, rpc, type Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import { patientFetch } from '../../../sandbox/patientFetch.ts';
import { fundAccount, usdc } from '../../../sandbox/stellar/controls.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import type { Answer } from '../../support/shop.ts';
import { ownerHeaders } from '../../support/signIn.ts';
import { entryTransaction, signedTransfer, type TransferTerms } from '../../support/stellarRelays.ts';
import { ask402, challengeIn, encodedHeader, payByMpp } from '../../support/x402.ts';

const passphrase = Networks.PUBLIC;
const receiverAddress = '0x3333333333333333333333333333333333333333';

describe('paying without gas on Stellar', () => {
  const sandbox = sharedSandbox();
  before(startSharedSandbox);

  const url = () => sandbox.file().chains['1500']?.rpcUrl ?? '';
  const server = () => new rpc.Server(url(), { allowHttp: true });
  const key = () => sandbox.file().wallet.ordersKey;

  async function create(): Promise<Answer['body']> {
    const { status, body } = await sandbox.create(
      {
        type: 'exactOut',
        display: { title: 'Tea' },
        source: { chainId: 1500, tokenSymbol: 'USDC' },
        destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress },
      },
      key(),
    );
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  const billOf = async ({ paymentLink }: Answer['body']): Promise<Answer['body']> =>
    (await ask402(paymentLink)).required.accepts[0];

  async function payerWith(units: bigint): Promise<Keypair> {
    const payer = Keypair.random();
    await fundAccount(url(), payer.publicKey(), { usdc: units });
    return payer;
  }

  async function transactionOf(
    payer: Keypair,
    bill: Answer['body'],
    altered: Partial<TransferTerms> = {},
  ): Promise<string> {
    const { sequence } = await server().getLatestLedger();
    const { payTo: to, asset: contract, amount } = bill;
    const terms = { contract, to, amount: BigInt(amount), passphrase, validUntil: sequence + 10_000, ...altered };
    const { entry } = await signedTransfer(payer, terms);
    return entryTransaction(entry);
  }

  const payloadOf = (accepted: Answer['body'], transaction: string) => ({
    x402Version: 2,
    accepted,
    payload: { transaction },
  });
  const hand = ({ paymentLink }: Answer['body'], bill: Answer['body'], transaction: string) =>
    ask402(paymentLink, encodedHeader(payloadOf(bill, transaction)));
  const lumensOf = async (payer: Keypair) => (await server().getAccountEntry(payer.publicKey())).balance().toString();

  async function newLink() {
    const { status, body } = await sandbox.call('POST', '/merchant-api/me/links', {
      headers: await ownerHeaders(sandbox, sandbox.file().merchant.appId),
      body: { type: 'exactIn', amount: '2.00', title: 'Tea', source: { chainId: '1500', tokenSymbol: 'USDC' } },
    });
    assert.equal(status, 201, JSON.stringify(body));
    const { pathname } = new URL(body.url);
    return {
      link: { paymentLink: `${sandbox.file().baseUrl}${pathname}` },
      linkId: pathname.split('/').at(-1) ?? '',
    };
  }

  it('requires the amount at the treasury’s M address with the memo of the payment', async () => {
    const payment = await create();
    const bill = await billOf(payment);
    assert.deepEqual(
      [bill.scheme, bill.network, bill.extra, bill.payTo.slice(0, 1)],
      ['exact', 'stellar:pubnet', { areFeesSponsored: true }, 'M'],
    );
    assert.equal(bill.amount, String(Math.round(Number(payment.source.amount) * 1e7)));
    // A page names the account that signs (gasFreePages.test.ts).
    const authorization = await patientFetch(`${payment.paymentLink}/authorization`);
    assert.deepEqual((await authorization.json()).authorizations, []);
  });

  it('pays with one header, however often it is sent, and the payer pays no fee', async () => {
    const payment = await create();
    const payer = await payerWith(10_0000000n);
    const before = await lumensOf(payer);
    const bill = await billOf(payment);
    const transaction = await transactionOf(payer, bill);
    const answers = await Promise.all([1, 2, 3, 4].map(() => hand(payment, bill, transaction)));
    for (const { status, response, body } of answers) {
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual([response.success, response.payer], [true, payer.publicKey()]);
    }
    const hashes = new Set(answers.map(({ response }) => response.transaction));
    const done = await sandbox.follow(payment.id);
    assert.deepEqual([done.status, [...hashes]], ['payment_payout_completed', [done.source.txHash]]);
    assert.equal(await lumensOf(payer), before);
    const { balanceEntry } = await server().getAssetBalance(payer.publicKey(), usdc, passphrase);
    assert.equal(balanceEntry?.amount, String(10_0000000n - BigInt(bill.amount)));
  });

  it('pays by the method stellar of the Payment scheme, also with a quote, and gives equal receipts', async () => {
    const { link } = await newLink();
    for (const { paymentLink } of [await create(), link]) {
      const { fields, request } = challengeIn(await ask402(paymentLink));
      assert.deepEqual([fields['method'], fields['intent']], ['stellar', 'charge']);
      assert.deepEqual(request.methodDetails, { feePayer: true, network: 'stellar:pubnet' });
      const bill = { payTo: request.recipient, asset: request.currency, amount: request.amount };
      const payer = await payerWith(10_0000000n);
      const transaction = await transactionOf(payer, bill);
      for (const payload of [{ type: 'hash', hash: 'ab'.repeat(32) }, { type: 'transaction' }])
        assert.equal((await payByMpp(paymentLink, fields, payload)).status, 400, payload.type);
      const evm = { ...fields, method: 'evm' };
      assert.equal((await payByMpp(paymentLink, evm, { type: 'transaction', transaction })).status, 400);
      const pay = () => payByMpp(paymentLink, fields, { type: 'transaction', transaction });
      const answers = [...(await Promise.all([pay(), pay(), pay()])), await pay()];
      for (const { status, body, receipt } of answers) {
        assert.equal(status, 200, JSON.stringify(body));
        assert.deepEqual([receipt.method, receipt.status, receipt.reference], ['stellar', 'success', body.transaction]);
        assert.deepEqual(receipt, answers[0]?.receipt);
      }
      const { balanceEntry } = await server().getAssetBalance(payer.publicKey(), usdc, passphrase);
      assert.equal(balanceEntry?.amount, String(10_0000000n - BigInt(bill.amount)));
    }
  });

  it('refuses everything but the payer’s own entry for the exact amount due', async () => {
    const payment = await create();
    const [payer, poor, stranger] = [await payerWith(10_0000000n), await payerWith(1n), Keypair.random()];
    const bill = await billOf(payment);
    const faultOf = async (transaction: string) => {
      const { status, response } = await hand(payment, bill, transaction);
      return status === 402 ? response.errorReason : String(status);
    };
    const half = BigInt(bill.amount) / 2n;
    const { sequence } = await server().getLatestLedger();
    const other = (await billOf(await create())).payTo;
    const own = (altered: Partial<TransferTerms>) => transactionOf(payer, bill, altered);
    assert.equal(
      await faultOf(await own({ amount: half })),
      'invalid_exact_stellar_payload_authorization_value_mismatch',
    );
    for (const to of [other, payer.publicKey()])
      assert.equal(await faultOf(await own({ to })), 'invalid_exact_stellar_payload_recipient_mismatch');
    assert.equal(await faultOf(await own({ signer: stranger })), 'invalid_exact_stellar_signature');
    assert.equal(await faultOf(await transactionOf(poor, bill)), 'invalid_exact_stellar_insufficient_balance');
    assert.equal(
      await faultOf(await own({ validUntil: sequence })),
      'invalid_exact_stellar_payload_authorization_valid_before',
    );
    assert.equal(await faultOf('AAAA'), '400');
    assert.equal((await sandbox.read(payment.id)).status, 'payment_unpaid');
  });

  describe('with a reusable link', () => {
    let link: Answer['body'];
    let linkId: string;
    before(async () => {
      ({ link, linkId } = await newLink());
    });

    /** Payments of the link, by the log. */
    async function paymentsMade(): Promise<number> {
      const streams = [...(await sandbox.history())].filter(([stream]) => stream.startsWith('payment-'));
      return streams.filter(([, [first]]) => JSON.stringify(first?.data).includes(linkId)).length;
    }

    it('names another memo in each 402 and stores nothing; all copies of a header make one payment', async () => {
      const [bill, other] = [await billOf(link), await billOf(link)];
      assert.notEqual(bill.payTo, other.payTo);
      assert.deepEqual(Object.keys(bill.extra).sort(), ['areFeesSponsored', 'quote']);
      const payer = await payerWith(10_0000000n);
      const transaction = await transactionOf(payer, bill);
      const mixed = await hand(link, other, transaction);
      assert.equal(mixed.response.errorReason, 'invalid_exact_stellar_payload_recipient_mismatch');
      const poor = await hand(link, bill, await transactionOf(await payerWith(1n), bill));
      assert.equal(poor.response.errorReason, 'invalid_exact_stellar_insufficient_balance');
      const { link: another } = await newLink();
      const altered = { ...bill, extra: { ...bill.extra, quote: `${bill.extra.quote}a` } };
      const unquoted = { ...bill, extra: { ...bill.extra, quote: undefined } };
      for (const refused of [
        await hand(another, bill, transaction),
        await hand(link, altered, transaction),
        await hand(link, unquoted, transaction),
      ])
        assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, '/quote']);
      const body = { x402Version: 2, paymentPayload: payloadOf(bill, transaction), paymentRequirements: bill };
      const facilitated = await sandbox.call('POST', '/x402/verify', { key: key(), body });
      assert.equal(facilitated.body.invalidReason, 'invalid_exact_stellar_payload_recipient_mismatch');
      assert.equal(await paymentsMade(), 0);

      const answers = await Promise.all([1, 2, 3, 4].map(() => hand(link, bill, transaction)));
      for (const answer of [...answers, await hand(link, bill, transaction)]) {
        assert.equal(answer.status, 200, JSON.stringify([answer.body, answer.response]));
        assert.deepEqual([answer.body, answer.response], [answers[0]?.body, answers[0]?.response]);
      }
      assert.equal(await paymentsMade(), 1);
      const { balanceEntry } = await server().getAssetBalance(payer.publicKey(), usdc, passphrase);
      assert.equal(balanceEntry?.amount, String(10_0000000n - BigInt(bill.amount)));
    });

    it('gives the purchase to a header whose entry another party sent, also after the money was recorded as unmatched', async () => {
      const bill = await billOf(link);
      const payer = await payerWith(10_0000000n);
      const transaction = await transactionOf(payer, bill);
      const hash = await sendByStranger(transaction);
      const verdicts = async () =>
        (await sandbox.query<{ verdict: string }>(`SELECT verdict FROM unmatched WHERE tx_hash = '${hash}'`)).map(
          ({ verdict }) => verdict,
        );
      await sandbox.until(async () => (await verdicts()).length === 1);
      const before = await paymentsMade();
      const answers = await Promise.all([1, 2].map(() => hand(link, bill, transaction)));
      for (const { status, body, response } of [...answers, await hand(link, bill, transaction)]) {
        assert.equal(status, 200, JSON.stringify([body, response]));
        assert.equal(response.transaction, hash);
      }
      assert.equal(await paymentsMade(), before + 1);
      await sandbox.until(async () => (await verdicts()).join() === 'assigned');
      const { balanceEntry } = await server().getAssetBalance(payer.publicKey(), usdc, passphrase);
      assert.equal(balanceEntry?.amount, String(10_0000000n - BigInt(bill.amount)));
    });
  });

  /** Sends the call of a program's transaction from another account. @returns its hash */
  async function sendByStranger(transaction: string): Promise<string> {
    const stranger = Keypair.random();
    await fundAccount(url(), stranger.publicKey(), { lumens: 100_0000000n });
    const { operations } = TransactionBuilder.fromXDR(transaction, passphrase) as Transaction;
    const { func, auth } = operations[0] as Operation.InvokeHostFunction;
    const account = await server().getAccount(stranger.publicKey());
    const call = new TransactionBuilder(account, { fee: '10000', networkPassphrase: passphrase })
      .addOperation(Operation.invokeHostFunction({ func, auth: auth ?? [] }))
      .setTimeout(60)
      .build();
    const prepared = await server().prepareTransaction(call);
    prepared.sign(stranger);
    const { hash } = await server().sendTransaction(prepared);
    await sandbox.until(async () => (await server().getTransaction(hash)).status === 'SUCCESS');
    return hash;
  }

  it('settles through the facilitator, for the payments of its app alone', async () => {
    const payment = await create();
    const bill = await billOf(payment);
    const transaction = await transactionOf(await payerWith(10_0000000n), bill);
    const body = { x402Version: 2, paymentPayload: payloadOf(bill, transaction), paymentRequirements: bill };
    const call = async (path: string, as: string) => (await sandbox.call('POST', path, { key: as, body })).body;
    const foreign = await call('/x402/settle', sandbox.file().merchant.ordersKey);
    assert.deepEqual(
      [foreign.success, foreign.errorReason],
      [false, 'invalid_exact_stellar_payload_recipient_mismatch'],
    );
    assert.equal((await call('/x402/verify', key())).isValid, true);
    const settled = await call('/x402/settle', key());
    assert.equal(settled.success, true, JSON.stringify(settled));
    assert.deepEqual(await call('/x402/settle', key()), settled);
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
  });
});
