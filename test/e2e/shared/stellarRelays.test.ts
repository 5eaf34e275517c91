/** Payers on Stellar who sign an authorization entry and pay no fee: by x402 at a payment's link, and through the facilitator. */
import assert from 'node:assert/strict';
import { Keypair, Networks, rpc } from '@stellar/stellar-sdk';
import { fundAccount, usdc } from '../../../sandbox/stellar/controls.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import type { Answer } from '../../support/shop.ts';
import { entryTransaction, signedTransfer, type TransferTerms } from '../../support/stellarRelays.ts';
import { ask402, encodedHeader } from '../../support/x402.ts';

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
    const terms = { contract, to, amount: BigInt(amount), passphrase, validUntil: sequence + 100, ...altered };
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

  it('requires the amount at the treasury’s M address with the memo of the payment', async () => {
    const payment = await create();
    const bill = await billOf(payment);
    assert.deepEqual(
      [bill.scheme, bill.network, bill.extra, bill.payTo.slice(0, 1)],
      ['exact', 'stellar:pubnet', { areFeesSponsored: true }, 'M'],
    );
    assert.equal(bill.amount, String(Math.round(Number(payment.source.amount) * 1e7)));
    // MPP has no method for Stellar. A page names the account that signs (gasFreePages.test.ts).
    assert.equal((await ask402(payment.paymentLink)).headers.get('www-authenticate'), null);
    const authorization = await fetch(`${payment.paymentLink}/authorization`);
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
