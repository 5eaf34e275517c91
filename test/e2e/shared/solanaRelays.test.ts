/** Payers on Solana whose programs sign a transaction and who hold no SOL: by x402 at a payment's link, and through the facilitator. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Keypair, PublicKey } from 'solana-web3-v1';
import { patientFetch } from '../../../sandbox/patientFetch.ts';
import { fundWallet } from '../../../sandbox/solana/controls.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import type { Answer } from '../../support/shop.ts';
import { ownerHeaders } from '../../support/signIn.ts';
import { type SolanaClient, solanaClient, tokenAccount } from '../../support/solana.ts';
import { type PaidByProgram, programTransaction, untilSettled } from '../../support/solanaRelays.ts';
import { ask402, challengeIn, encodedHeader, payByMpp } from '../../support/x402.ts';

const receiverAddress = '0x3333333333333333333333333333333333333333';
const held = 10_000000n;

describe('paying without gas on Solana', () => {
  const sandbox = sharedSandbox();
  let client: SolanaClient;
  before(async () => {
    await startSharedSandbox();
    client = solanaClient(url());
  });

  const url = () => sandbox.file().chains['501']?.rpcUrl ?? '';
  const key = () => sandbox.file().wallet.ordersKey;

  async function create(): Promise<Answer['body']> {
    const { status, body } = await sandbox.create(
      {
        type: 'exactOut',
        display: { title: 'Tea' },
        source: { chainId: 501, tokenSymbol: 'USDC' },
        destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress },
      },
      key(),
    );
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  const billOf = async ({ paymentLink }: Answer['body']): Promise<Answer['body']> =>
    (await ask402(paymentLink)).required.accepts[0];

  /** A wallet with USDC and no SOL, known to every confirmed block. */
  async function payerWith(units: bigint): Promise<Keypair> {
    const payer = Keypair.generate();
    await fundWallet(url(), payer.publicKey.toBase58(), { usdc: units });
    await sandbox.until(async () => (await client.balance(payer.publicKey, 'finalized').catch(() => null)) === units);
    return payer;
  }

  async function transactionOf(
    payer: Keypair,
    { payTo, amount, extra }: Answer['body'],
    altered: Partial<PaidByProgram> = {},
  ): Promise<string> {
    const { blockhash } = await client.connection.getLatestBlockhash('finalized');
    const terms = { feePayer: extra.feePayer, to: new PublicKey(payTo), amount: BigInt(amount), blockhash };
    return programTransaction({ payer, ...terms, ...altered });
  }

  const payloadOf = (accepted: Answer['body'], transaction: string) => ({
    x402Version: 2,
    accepted,
    payload: { transaction },
  });
  const hand = ({ paymentLink }: Answer['body'], bill: Answer['body'], transaction: string) =>
    ask402(paymentLink, encodedHeader(payloadOf(bill, transaction)));
  const lamportsOf = (owner: PublicKey) => client.connection.getBalance(owner, 'processed');
  const isOpen = async (owner: string) =>
    (await client.connection.getAccountInfo(await tokenAccount(new PublicKey(owner)), 'processed')) !== null;

  it('requires the amount at the payment’s own deposit, from the relay account as the fee payer, and opens nothing for it', async () => {
    const payment = await create();
    const bill = await billOf(payment);
    assert.deepEqual(
      [bill.scheme, bill.network, bill.payTo, Object.keys(bill.extra)],
      ['exact', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', payment.source.receiverAddress, ['feePayer']],
    );
    assert.equal(bill.amount, String(Math.round(Number(payment.source.amount) * 1e6)));
    // A page names the account that signs (gasFreePages.test.ts).
    const authorization = await patientFetch(`${payment.paymentLink}/authorization`);
    assert.deepEqual((await authorization.json()).authorizations, []);
    assert.equal(await isOpen(bill.payTo), false);
  });

  it('pays with one header, however often it is sent, by a payer without SOL', async () => {
    const payment = await create();
    const payer = await payerWith(held);
    const bill = await billOf(payment);
    const answers = await untilSettled(
      () => transactionOf(payer, bill),
      (transaction) => Promise.all([1, 2, 3, 4].map(() => hand(payment, bill, transaction))),
    );
    for (const { status, response, body } of answers) {
      assert.equal(status, 200, JSON.stringify([body, response]));
      assert.deepEqual([response.success, response.payer], [true, payer.publicKey.toBase58()]);
    }
    const hashes = new Set(answers.map(({ response }) => response.transaction));
    const done = await sandbox.follow(payment.id);
    assert.deepEqual([done.status, [...hashes]], ['payment_payout_completed', [done.source.txHash]]);
    assert.equal(await lamportsOf(payer.publicKey), 0);
    assert.equal(await client.balance(payer.publicKey), held - BigInt(bill.amount));
  });

  it('pays by the method solana of the Payment scheme, and gives equal receipts', async () => {
    const { paymentLink, source } = await create();
    const { fields, request } = challengeIn(await ask402(paymentLink));
    const { feePayerKey, ...details } = request.methodDetails;
    assert.deepEqual(
      [fields['method'], fields['intent'], request.recipient],
      ['solana', 'charge', source.receiverAddress],
    );
    assert.deepEqual(details, { decimals: 6, feePayer: true, network: 'mainnet-beta' });
    const bill = { payTo: request.recipient, amount: request.amount, extra: { feePayer: feePayerKey } };
    const payer = await payerWith(held);
    // The payer cannot have paid the fee: the challenge says that the relay account does.
    const pushed = await payByMpp(paymentLink, fields, { type: 'signature', signature: '1'.repeat(64) });
    assert.equal(pushed.status, 400);
    const answers = await untilSettled(
      // As `@solana/mpp` orders them, without a memo.
      () => transactionOf(payer, bill, { edit: ([limit, price, transfer]) => [price!, limit!, transfer!] }),
      async (transaction) => {
        const pay = () => payByMpp(paymentLink, fields, { type: 'transaction', transaction });
        return (await Promise.all([pay(), pay(), pay()])).map((each) => ({
          ...each,
          response: { errorReason: each.body.error },
        }));
      },
    );
    for (const { status, body, receipt } of answers) {
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual([receipt.method, receipt.status, receipt.reference], ['solana', 'success', body.transaction]);
      assert.deepEqual(receipt, answers[0]?.receipt);
    }
    assert.equal(await client.balance(payer.publicKey), held - BigInt(bill.amount));
  });

  it('refuses everything but the payer’s own transaction for the exact amount due, and opens nothing for it', async () => {
    const payment = await create();
    const [payer, poor, stranger] = [await payerWith(held), await payerWith(1n), Keypair.generate()];
    const bill = await billOf(payment);
    const faultOf = async (transaction: string) => {
      const { status, response } = await hand(payment, bill, transaction);
      return status === 402 ? response.errorReason : String(status);
    };
    const other = new PublicKey((await billOf(await create())).payTo);
    const own = (altered: Partial<PaidByProgram>) => transactionOf(payer, bill, altered);
    assert.equal(
      await faultOf(await own({ amount: BigInt(bill.amount) / 2n })),
      'invalid_exact_svm_payload_authorization_value_mismatch',
    );
    for (const to of [other, stranger.publicKey])
      assert.equal(await faultOf(await own({ to })), 'invalid_exact_svm_payload_recipient_mismatch');
    assert.equal(await faultOf(await own({ signer: stranger })), 'invalid_exact_svm_signature');
    assert.equal(await faultOf(await transactionOf(poor, bill)), 'invalid_exact_svm_insufficient_balance');
    const unknown = new PublicKey(randomBytes(32)).toBase58();
    assert.equal(
      await faultOf(await own({ blockhash: unknown })),
      'invalid_exact_svm_payload_authorization_valid_before',
    );
    for (const transaction of ['AAAA', await own({ feePayer: stranger.publicKey.toBase58() })])
      assert.equal(await faultOf(transaction), '400');
    assert.equal((await sandbox.read(payment.id)).status, 'payment_unpaid');
    assert.equal(await isOpen(bill.payTo), false);
  });

  it('buys through a reusable link: its terms name a new deposit each time and store nothing, and all copies of a header make one payment', async () => {
    const { appId } = sandbox.file().merchant;
    const made = await sandbox.call('POST', '/merchant-api/me/links', {
      headers: await ownerHeaders(sandbox, appId),
      body: { type: 'exactIn', amount: '2.00', title: 'Tea', source: { chainId: '501', tokenSymbol: 'USDC' } },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const link = { paymentLink: `${sandbox.file().baseUrl}${new URL(made.body.url).pathname}` };
    const [bill, other] = [await billOf(link), await billOf(link)];
    assert.notEqual(bill.payTo, other.payTo);
    assert.deepEqual(Object.keys(bill.extra).sort(), ['feePayer', 'quote']);
    const facilitated = await sandbox.call('POST', '/x402/verify', {
      key: key(),
      body: {
        x402Version: 2,
        paymentPayload: payloadOf(bill, await transactionOf(await payerWith(1n), bill)),
        paymentRequirements: bill,
      },
    });
    assert.equal(facilitated.body.invalidReason, 'invalid_exact_svm_payload_recipient_mismatch');
    const payer = await payerWith(held);
    const mixed = await hand(link, other, await transactionOf(payer, bill));
    assert.equal(mixed.response.errorReason, 'invalid_exact_svm_payload_recipient_mismatch');
    const unquoted = { ...bill, extra: { ...bill.extra, quote: undefined } };
    assert.equal((await hand(link, unquoted, await transactionOf(payer, bill))).status, 400);
    for (const { payTo } of [bill, other]) assert.equal(await isOpen(payTo), false);

    const answers = await untilSettled(
      () => transactionOf(payer, bill),
      (transaction) => Promise.all([1, 2, 3].map(() => hand(link, bill, transaction))),
    );
    for (const { status, response, body } of answers) assert.equal(status, 200, JSON.stringify([body, response]));
    const pages = new Set(answers.map(({ body }) => body.paymentLink));
    assert.equal(pages.size, 1);
    assert.equal(await client.balance(payer.publicKey), held - BigInt(bill.amount));
    assert.equal(await isOpen(other.payTo), false);
  });

  it('settles through the facilitator, for the payments of its app alone', async () => {
    const payment = await create();
    const bill = await billOf(payment);
    const payer = await payerWith(held);
    let transaction = await transactionOf(payer, bill);
    const call = async (path: string, as: string) => {
      const body = { x402Version: 2, paymentPayload: payloadOf(bill, transaction), paymentRequirements: bill };
      return (await sandbox.call('POST', path, { key: as, body })).body;
    };
    const supported = (await sandbox.call('GET', '/x402/supported', { key: key() })).body.kinds;
    assert.deepEqual(supported.find(({ network }: Answer['body']) => network === bill.network)?.extra, bill.extra);
    const foreign = await call('/x402/settle', sandbox.file().merchant.ordersKey);
    assert.deepEqual([foreign.success, foreign.errorReason], [false, 'invalid_exact_svm_payload_recipient_mismatch']);
    assert.equal((await call('/x402/verify', key())).isValid, true);
    const [settled] = await untilSettled(
      async () => {
        transaction = await transactionOf(payer, bill);
        return transaction;
      },
      async () => {
        const response = await call('/x402/settle', key());
        return [{ status: 200, response }];
      },
    );
    assert.equal(settled?.response.success, true, JSON.stringify(settled));
    assert.deepEqual(await call('/x402/settle', key()), settled?.response);
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
  });
});
