import assert from 'node:assert/strict';
import { Account, Keypair, MuxedAccount, Operation, type Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import { muxed, payCall, type StellarLab, stellarLab, usdc } from '../../support/stellar.ts';

type Added = (builder: TransactionBuilder) => unknown;

describe('local Stellar: transactions', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let merchant: Keypair;
  beforeEach(async () => {
    lab = await stellarLab({ ledger_ms: 'manual' });
    [treasury, merchant] = [await lab.person(), await lab.person(0n)];
  });
  afterEach(() => lab.stop());

  const payout = (amount = '1') => Operation.payment({ destination: merchant.publicKey(), asset: usdc, amount });
  async function signed(...signers: Keypair[]): Promise<Transaction> {
    const transaction = await lab.build(treasury.publicKey(), [payout()]);
    transaction.sign(...signers);
    return transaction;
  }
  const hashOf = (transaction: { hash(): Buffer }) => transaction.hash().toString('hex');
  async function refusal(transaction: Parameters<typeof lab.server.sendTransaction>[0]): Promise<string | undefined> {
    const answer = await lab.server.sendTransaction(transaction);
    assert.equal(answer.status, 'ERROR');
    return answer.errorResult?.result().switch().name;
  }
  const statusOf = async (hash: string) => (await lab.server.getTransaction(hash)).status;

  it('land once, however often they are sent', async () => {
    const transaction = await signed(treasury);
    const sent = [];
    for (let times = 0; times < 2; times++) sent.push((await lab.server.sendTransaction(transaction)).status);
    assert.equal(await statusOf(hashOf(transaction)), 'NOT_FOUND');
    lab.stellar.closeLedgers();
    sent.push((await lab.server.sendTransaction(transaction)).status);
    assert.deepEqual(sent, ['PENDING', 'DUPLICATE', 'TRY_AGAIN_LATER']);
    lab.stellar.closeLedgers(8);
    assert.equal((await lab.server.sendTransaction(transaction)).status, 'TRY_AGAIN_LATER');
    lab.stellar.closeLedgers();
    assert.equal(await refusal(transaction), 'txBadSeq');
    assert.equal(await statusOf(hashOf(transaction)), 'SUCCESS');
    assert.equal(await lab.balance(merchant.publicKey()), 1_0000000n);
  });

  it('wait for the next ledger one by one for each account', async () => {
    const first = await signed(treasury);
    const second = await lab.build(treasury.publicKey(), [payout('2')]);
    second.sign(treasury);
    assert.equal((await lab.server.sendTransaction(first)).status, 'PENDING');
    assert.equal((await lab.server.sendTransaction(second)).status, 'TRY_AGAIN_LATER');
    lab.stellar.closeLedgers();
    assert.equal(await refusal(second), 'txBadSeq');
  });

  it('from channel accounts are in one ledger side by side, with the treasury as the operation’s source', async () => {
    const channels = [await lab.person(0n), await lab.person(0n), await lab.person(0n)];
    for (const channel of channels) {
      const operation = Operation.payment({
        source: treasury.publicKey(),
        destination: merchant.publicKey(),
        asset: usdc,
        amount: '5',
      });
      const transaction = await lab.build(channel.publicKey(), [operation]);
      transaction.sign(channel, treasury);
      assert.equal((await lab.server.sendTransaction(transaction)).status, 'PENDING');
    }
    lab.stellar.closeLedgers();
    assert.equal(await lab.balance(merchant.publicKey()), 15_0000000n);
  });

  it('are refused with the network’s codes', async () => {
    const other = Keypair.random();
    const next = await sequenceOf(treasury);
    const now = lab.stellar.chain.history.head().closedAt_s;
    const build = ({ account = treasury, sequence = next, fee = '100', from = 0, to = now + 60 }, more?: Added) => {
      const builder = new TransactionBuilder(new Account(account.publicKey(), sequence), {
        fee,
        networkPassphrase: lab.passphrase,
        timebounds: { minTime: from, maxTime: to },
      }).addOperation(payout());
      more?.(builder);
      const transaction = builder.build();
      transaction.sign(account);
      return transaction;
    };
    const foreign = Operation.bumpSequence({ bumpTo: '9', source: merchant.publicKey() });

    assert.equal(await refusal(await signed(other)), 'txBadAuth');
    assert.equal(await refusal(await signed()), 'txBadAuth');
    assert.equal(await refusal(await signed(treasury, other)), 'txBadAuthExtra');
    assert.equal(await refusal(build({ sequence: '5' })), 'txBadSeq');
    assert.equal(await refusal(build({ fee: '99' })), 'txInsufficientFee');
    assert.equal(await refusal(build({ from: now + 30 })), 'txTooEarly');
    assert.equal(await refusal(build({ to: now - 1 })), 'txTooLate');
    assert.equal(await refusal(build({ account: other })), 'txNoAccount');
    assert.equal(await refusal(build({}, (builder) => builder.setMinAccountSequenceAge(1n))), 'txNotSupported');
    assert.equal(await refusal(build({}, (builder) => builder.addOperation(foreign))), 'txFailed');
  });

  it('are dead for sure when a ledger closed after their time bound and they are not in it', async () => {
    const transaction = await signed(treasury);
    lab.stellar.faults.add({ method: 'sendTransaction', kind: 'drop' });
    assert.equal((await lab.server.sendTransaction(transaction)).status, 'PENDING');
    lab.stellar.closeLedgers(3, 30);
    const got = await lab.server.getTransaction(hashOf(transaction));
    assert.equal(got.status, 'NOT_FOUND');
    assert.ok(got.latestLedgerCloseTime > Number(transaction.timeBounds?.maxTime));
    assert.equal(await refusal(transaction), 'txTooLate');
  });

  it('do not land if they wait until their time has passed', async () => {
    const transaction = await signed(treasury);
    await lab.server.sendTransaction(transaction);
    lab.stellar.closeLedgers(1, 120);
    assert.equal(await statusOf(hashOf(transaction)), 'NOT_FOUND');
    assert.equal(await lab.balance(merchant.publicKey()), 0n);
    // A node does not accept a transaction again that a ledger has just refused.
    lab.stellar.closeLedgers(8);
    assert.equal((await lab.server.sendTransaction(transaction)).status, 'TRY_AGAIN_LATER');
    lab.stellar.closeLedgers();
    assert.equal(await refusal(transaction), 'txTooLate');
  });

  it('still cost the fee and the sequence number if they failed', async () => {
    const before = await lab.server.getAccountEntry(treasury.publicKey());
    const got = await lab.go(treasury, [payout('99999')]);
    assert.equal(got.status, 'FAILED');
    const after = await lab.server.getAccountEntry(treasury.publicKey());
    assert.equal(BigInt(after.balance().toString()), BigInt(before.balance().toString()) - 100n);
    assert.equal(BigInt(after.seqNum().toString()), BigInt(before.seqNum().toString()) + 1n);
  });

  describe('in a fee bump', () => {
    const bumped = (inner: Transaction, payer: Keypair, fee: string) => {
      const transaction = TransactionBuilder.buildFeeBumpTransaction(payer, fee, inner, lab.passphrase);
      transaction.sign(payer);
      return transaction;
    };

    it('land when they were lost, and are found by their own hash too', async () => {
      const inner = await signed(treasury);
      lab.stellar.faults.add({ method: 'sendTransaction', kind: 'drop' });
      await lab.server.sendTransaction(inner);
      const outer = bumped(inner, merchant, '5000');
      const got = await lab.send(outer);
      assert.ok(got.status === 'SUCCESS' && got.feeBump);
      assert.equal(await statusOf(hashOf(inner)), 'SUCCESS');
      assert.equal(await refusal(inner), 'txBadSeq');
      assert.equal(await lab.balance(merchant.publicKey()), 1_0000000n);
    });

    it('replace themselves while they wait, for ten times the fee', async () => {
      const inner = await signed(treasury);
      await lab.server.sendTransaction(inner);
      assert.equal(await refusal(bumped(inner, merchant, '1500')), 'txInsufficientFee');
      assert.equal((await lab.server.sendTransaction(bumped(inner, merchant, '10000'))).status, 'PENDING');
      lab.stellar.closeLedgers();
      assert.equal(await lab.balance(merchant.publicKey()), 1_0000000n);
    });

    it('need the payer’s signature', async () => {
      const outer = TransactionBuilder.buildFeeBumpTransaction(
        merchant,
        '5000',
        await signed(treasury),
        lab.passphrase,
      );
      outer.sign(treasury);
      assert.equal(await refusal(outer), 'txBadAuth');
    });
  });

  it('from an account with several signers need its weight', async () => {
    const [a, b] = [Keypair.random(), Keypair.random()];
    const signer = (key: Keypair) => ({ ed25519PublicKey: key.publicKey(), weight: 1 });
    await lab.go(treasury, [
      Operation.setOptions({ signer: signer(a) }),
      Operation.setOptions({ signer: signer(b) }),
      Operation.setOptions({ masterWeight: 0, lowThreshold: 1, medThreshold: 2, highThreshold: 2 }),
    ]);
    assert.equal(await refusal(await signed(treasury)), 'txBadAuth');
    assert.equal(await refusal(await signed(a)), 'txFailed');
    assert.equal((await lab.send(await signed(a, b))).status, 'SUCCESS');
  });

  it('can never land if their numbers were skipped', async () => {
    const transaction = await signed(treasury);
    const bump = Operation.bumpSequence({ bumpTo: transaction.sequence, source: treasury.publicKey() });
    const other = await lab.build(merchant.publicKey(), [bump]);
    other.sign(merchant, treasury);
    assert.equal((await lab.send(other)).status, 'SUCCESS');
    assert.equal(await refusal(transaction), 'txBadSeq');
  });

  it('from a muxed account use its account', async () => {
    const source = MuxedAccount.fromAddress(muxed(treasury.publicKey(), 5n), await sequenceOf(treasury));
    const transaction = new TransactionBuilder(source, { fee: '100', networkPassphrase: lab.passphrase })
      .addOperation(payout())
      .setTimeout(60)
      .build();
    transaction.sign(treasury);
    assert.match(transaction.source, /^M/);
    assert.equal((await lab.send(transaction)).status, 'SUCCESS');
  });

  async function sequenceOf(account: Keypair): Promise<string> {
    return (await lab.server.getAccount(account.publicKey())).sequenceNumber();
  }

  it('with a contract call hold nothing else', async () => {
    const payinId = await lab.deployPayin(treasury, merchant.publicKey());
    const call = payCall(payinId, treasury.publicKey(), 1n, 'm');
    const transaction = await lab.prepare(treasury.publicKey(), call);
    const data = transaction.toEnvelope().v1().tx().ext().sorobanData();
    const two = TransactionBuilder.cloneFrom(transaction, { sorobanData: data }).addOperation(payout()).build();
    two.sign(treasury);
    assert.equal(await refusal(two), 'txMalformed');
  });

  it('create accounts', async () => {
    const fresh = Keypair.random().publicKey();
    const create = Operation.createAccount({ destination: fresh, startingBalance: '1.5' });
    assert.equal((await lab.go(treasury, [create])).status, 'SUCCESS');
    assert.equal((await lab.server.getAccountEntry(fresh)).balance().toString(), '15000000');
    assert.equal((await lab.go(treasury, [create])).status, 'FAILED');
    const poor = Operation.createAccount({ destination: Keypair.random().publicKey(), startingBalance: '0.5' });
    assert.equal((await lab.go(treasury, [poor])).status, 'FAILED');
  });

  it('are reported as unsupported if this simulator does not know them', async () => {
    await fundAccount(lab.stellar.rpcUrl, treasury.publicKey(), { lumens: 1n });
    const got = await lab.go(treasury, [Operation.inflation({})]);
    assert.ok(got.status === 'FAILED');
    assert.equal(got.resultXdr.result().results()[0]?.switch().name, 'opNotSupported');
  });
});
