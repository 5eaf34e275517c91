/** Transactions that payers' wallets on Stellar sign, read by Stellar's own library. */
import assert from 'node:assert/strict';
import { Memo, Operation, scValToNative, Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import type { PayerOrder, PayerTransactions } from '../../../commands/payerTransactions.ts';
import { chainOf, findToken } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { createStellarPayerTransactions } from '../../../src/chains/stellar/payerTransactions.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { type StellarWorld, stellarWorld } from './world.ts';

const memo = '4611686018427387904';
const usdcToken = findToken(chainOf(1500), 'USDC') ?? assert.fail();

describe('the transaction for a wallet of Stellar', () => {
  let world: StellarWorld;
  let transactions: PayerTransactions;
  before(async () => {
    world = await stellarWorld();
    const config = world.config();
    transactions = createStellarPayerTransactions(config, createStellarRpc(config)) as PayerTransactions;
  });

  const orderOf = (deposit: Partial<PayerOrder['deposit']> = {}, amount = 12_5000000n): PayerOrder => ({
    paymentId: 'payment-1',
    chainId: 1500,
    token: usdcToken,
    amount,
    deposit: { address: world.treasury.publicKey(), memo, contract: null, contractMemo: null, ...deposit },
    payer: world.payer.publicKey(),
  });

  async function prepared(order: PayerOrder): Promise<Transaction> {
    const { transaction, hash } = await preparedFor(order);
    const read = TransactionBuilder.fromXDR(transaction, world.lab.passphrase);
    assert.ok(read instanceof Transaction);
    assert.deepEqual([read.signatures, read.hash().toString('hex'), read.source], [[], hash, order.payer]);
    const left_s = Number(read.timeBounds?.maxTime) - world.stellar.chain.history.head().closedAt_s;
    assert.ok(left_s > 0 && left_s <= 180, 'the network refuses it after three minutes');
    return read;
  }

  async function preparedFor(order: PayerOrder) {
    const made = await transactions.prepare(order, await transactions.readTerms());
    if (isRefusal(made)) assert.fail(JSON.stringify(made));
    return made;
  }

  it('is one payment of the amount, with the memo that names the payment', async () => {
    const transaction = await prepared(orderOf());
    assert.deepEqual([transaction.memo.type, String(transaction.memo.value)], ['text', memo]);
    const [operation, ...others] = transaction.operations;
    assert.equal(others.length, 0);
    assert.ok(operation?.type === 'payment');
    assert.deepEqual(
      [operation.destination, operation.amount, `${operation.asset.code}-${operation.asset.issuer}`],
      [world.treasury.publicKey(), '12.5000000', usdcToken.address.replace(':', '-')],
    );
  });

  it('is one call of the contract’s pay() with payer, amount and memo', async () => {
    const contractMemo = '00112233445566778899aabbccdd';
    const transaction = await prepared(orderOf({ memo: null, contract: world.payinContract, contractMemo }));
    const [operation, ...others] = transaction.operations;
    assert.equal(others.length, 0);
    assert.ok(operation?.type === 'invokeHostFunction');
    const call = operation.func.invokeContract();
    assert.equal(String(call.functionName()), 'pay');
    assert.deepEqual(call.args().map(scValToNative), [world.payer.publicKey(), 12_5000000n, contractMemo]);
    assert.equal(transaction.memo.type, 'none');
  });

  it('is none for more than the account holds', async () => {
    const refused = await transactions.prepare(orderOf({}, 10n ** 15n), await transactions.readTerms());
    assert.ok(isRefusal(refused) && refused.pointer === '/token', JSON.stringify(refused));
  });

  it('is accepted with a signature of the payer for this network only', async () => {
    const hashOf = (signed: string, payer = world.payer.publicKey()) => {
      const hash = transactions.signed?.hashOf(signed, payer);
      return hash !== undefined && !isRefusal(hash) ? hash : null;
    };
    const transaction = await prepared(orderOf());
    const signedFor = (network: string, key = world.payer) => {
      const copy = TransactionBuilder.fromXDR(transaction.toXDR(), network);
      copy.sign(key);
      return copy.toXDR();
    };
    assert.equal(hashOf(signedFor(world.lab.passphrase)), transaction.hash().toString('hex'));
    for (const wrong of [
      transaction.toXDR(),
      signedFor('Test SDF Network ; September 2015'),
      signedFor(world.lab.passphrase, world.treasury),
      'A'.repeat(16_388),
    ])
      assert.equal(hashOf(wrong), null);
    assert.equal(hashOf(signedFor(world.lab.passphrase), world.treasury.publicKey()), null);
    const altered = TransactionBuilder.cloneFrom(transaction)
      .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
      .addMemo(Memo.text('1'))
      .build();
    altered.sign(world.payer);
    assert.notEqual(hashOf(altered.toXDR()), transaction.hash().toString('hex'));
  });

  it('is sent by the service once the payer has signed it, and again without harm', async () => {
    const transaction = await prepared(orderOf({}, 1_0000000n));
    transaction.sign(world.payer);
    assert.equal(await transactions.signed?.send(transaction.toXDR()), undefined);
    assert.equal(await transactions.signed?.send(transaction.toXDR()), undefined);
  });
});
