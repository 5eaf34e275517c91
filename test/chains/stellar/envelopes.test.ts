import assert from 'node:assert/strict';
import {
  Account,
  Asset,
  Keypair,
  MuxedAccount,
  Networks,
  Operation,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { partiesIn, signersIn } from '../../../src/chains/stellar/changes.ts';

const passphrase = Networks.PUBLIC;
const accountWith = (seed: number) => Keypair.fromRawEd25519Seed(Buffer.alloc(32, seed)).publicKey();
const payerId = accountWith(1);
const sourceId = accountWith(2);
const actorId = accountWith(3);
const otherId = accountWith(4);

const muxed = (id: string) => new MuxedAccount(new Account(id, '0'), '7').accountId();

function transaction(from = sourceId, acting?: string): Transaction {
  const account = from.startsWith('M') ? MuxedAccount.fromAddress(from, '41') : new Account(from, '41');
  const payment = { destination: otherId, asset: Asset.native(), amount: '1', ...(acting && { source: acting }) };
  const builder = new TransactionBuilder(account, { fee: '100', networkPassphrase: passphrase });
  return builder.addOperation(Operation.payment(payment)).setTimeout(0).build();
}

const read = (envelope: xdr.TransactionEnvelope) => partiesIn(envelope.toXDR('base64'), passphrase);

/** Keeps the head of the envelope and appends a value of a newer protocol. */
const newer = (envelope: xdr.TransactionEnvelope, head: number) =>
  partiesIn(Buffer.concat([envelope.toXDR().subarray(0, head), Buffer.alloc(60, 0x65)]).toString('base64'), passphrase);

describe('the accounts of a transaction on Stellar', () => {
  const usual = { source: sourceId, sequence: 42n, payer: sourceId };

  it('include its source, and the sources of its operations', () => {
    assert.deepEqual(read(transaction().toEnvelope()), { ...usual, acting: [] });
    assert.deepEqual(read(transaction(sourceId, actorId).toEnvelope()), { ...usual, acting: [actorId] });
  });

  it('include the account of a muxed address', () => {
    const envelope = transaction(muxed(sourceId), muxed(actorId)).toEnvelope();
    assert.deepEqual(read(envelope), { ...usual, acting: [actorId] });
  });

  it('include the payer of a fee bump', () => {
    const bumped = (from: string) =>
      TransactionBuilder.buildFeeBumpTransaction(from, '500', transaction(muxed(sourceId)), passphrase);
    for (const from of [payerId, muxed(payerId)])
      assert.deepEqual(read(bumped(from).toEnvelope()), { ...usual, payer: payerId, acting: [] });
  });

  it('are known in envelopes of the first kind', () => {
    const tx = transaction().toEnvelope().v1().tx();
    const first = new xdr.TransactionV0({
      sourceAccountEd25519: tx.sourceAccount().ed25519(),
      fee: tx.fee(),
      seqNum: tx.seqNum(),
      timeBounds: null,
      memo: tx.memo(),
      operations: tx.operations(),
      ext: new xdr.TransactionV0Ext(0),
    });
    const envelope = xdr.TransactionEnvelope.envelopeTypeTxV0(
      new xdr.TransactionV0Envelope({ tx: first, signatures: [] }),
    );
    assert.deepEqual(read(envelope), { ...usual, acting: [] });
  });

  it('are known from the beginning of an envelope, whatever a newer protocol appends', () => {
    assert.deepEqual(newer(transaction().toEnvelope(), 52), { ...usual, acting: undefined });
    const bump = TransactionBuilder.buildFeeBumpTransaction(payerId, '500', transaction(), passphrase);
    assert.deepEqual(newer(bump.toEnvelope(), 100), { ...usual, payer: payerId, acting: undefined });
  });

  it('are unknown if the text does not begin like an envelope', () => {
    const envelope = transaction().toEnvelope().toXDR();
    for (const [bytes, why] of [
      [envelope.subarray(0, 40), /end too early/],
      [Buffer.alloc(0), /end too early/],
      [Buffer.concat([Buffer.from([0, 0, 0, 9]), envelope]), /kind 9/],
    ] as const)
      assert.throws(() => partiesIn(bytes.toString('base64'), passphrase), why);
  });

  it('select the transactions of an account: its own, those that it pays for or acts in, and those that moved money from it', () => {
    const parties = { ...usual, payer: payerId, acting: [actorId] };
    const change = (amount: bigint) => [{ asset: 'coin', amount, counterparty: null }];
    assert.deepEqual(signersIn(parties, sourceId, []), { nonce: 42n, outgoing: true });
    for (const account of [payerId, actorId])
      assert.deepEqual(signersIn(parties, account, []), { nonce: null, outgoing: true });
    assert.deepEqual(signersIn(parties, otherId, change(-1n)), { nonce: null, outgoing: false });
    const unread = { ...parties, acting: undefined };
    assert.equal(signersIn(unread, otherId, change(1n)).outgoing, false);
    assert.equal(signersIn(unread, otherId, change(-1n)).outgoing, true);
  });
});
