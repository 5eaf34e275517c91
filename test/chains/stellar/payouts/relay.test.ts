/** Authorization entries of payers on a local Stellar: prepared, signed, landed, or ended before they cost a fee. */
import assert from 'node:assert/strict';
import { Keypair, Operation, xdr } from '@stellar/stellar-sdk';
import { fundAccount } from '../../../../sandbox/stellar/controls.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { type EntryOrder, PayoutBlocked, type Sent, type SequenceNumbering } from '../../../../src/chains/ports.ts';
import { entryIn, hexOf } from '../../../../src/chains/stellar/authorization.ts';
import { stellarDepositOf } from '../../../../src/chains/stellar/deposits/scheme.ts';
import { createStellarRelaying } from '../../../../src/chains/stellar/relaying.ts';
import { createStellarRpc } from '../../../../src/chains/stellar/rpc.ts';
import { createStellarRelaySigner } from '../../../../src/chains/stellar/signer/relaySigner.ts';
import { entryOrder, signedTransfer } from '../../../support/stellarRelays.ts';
import { type PayingWorld, payingWorld, withEnvelope } from '../paying.ts';
import { scanned, signal } from '../world.ts';

const purpose = { kind: 'relay', reference: 'relay-1' } as const;
const paymentId = '0198f3c2-0000-8000-8000-000000000001';
const amount = 3_0000000n;

describe('relays on Stellar', () => {
  let world: PayingWorld;
  const relay = Keypair.random();
  before(async () => {
    world = await payingWorld({ ledger_ms: 'manual' });
    await fundAccount(world.stellar.rpcUrl, relay.publicKey(), { lumens: 100_0000000n });
  });
  after(() => world.lab.stop());

  const relaying = () => {
    const config = world.config();
    return createStellarRelaying(config, relay.publicKey(), createStellarRpc(config));
  };
  const signer = () =>
    createStellarRelaySigner({
      secret: relay.secret(),
      config: world.config(),
      clock: { now: world.now },
      spending: createSpending({ perTransfer_usd: 0n, perHour_usd: 0n }, { now: world.now }),
    });
  const deposit = () =>
    stellarDepositOf({ treasury: world.treasury.publicKey(), payinContract: null }, paymentId, false);
  const head = () => world.stellar.chain.history.head().sequence;

  async function orderOf(payer: Keypair, altered: Partial<Parameters<typeof signedTransfer>[1]> = {}) {
    const to = relaying().receiverOf(deposit()) ?? assert.fail();
    const { lab } = world;
    const terms = { contract: lab.usdcId, to, amount, passphrase: lab.passphrase, validUntil: head() + 60, ...altered };
    return entryOrder(await signedTransfer(payer, terms), { deposit: deposit(), to, amount });
  }

  async function prepared(order: EntryOrder) {
    const { numbering } = relaying().rail;
    const { minedNonce, prepare } = numbering as SequenceNumbering;
    return prepare(order, await minedNonce(signal));
  }

  async function signed(order: EntryOrder): Promise<Sent> {
    const unsigned = await prepared(order);
    const { bytes, hash } = await signer().sign(unsigned, purpose);
    const { token, receiver, form } = order;
    const own = { attempt: 1, account: relay.publicKey(), nonce: String(unsigned.nonce), signedAt: world.now() };
    return { ...own, bytes, hash, validUntil: unsigned.validUntil, token, receiver, amount: String(amount), form };
  }

  async function land(sent: Sent) {
    await relaying().rail.broadcast(sent.bytes);
    world.stellar.closeLedgers(1, 5);
    return relaying().rail.fate([sent], signal);
  }

  const blockOf = (order: EntryOrder) =>
    relaying()
      .simulate(order, signal)
      .then(
        ({ fee }) => (fee > 0n ? 'costs something' : 'costs nothing'),
        (error) => (error instanceof PayoutBlocked ? error : assert.fail(String(error))),
      );
  const endOf = async (order: EntryOrder) => {
    const blocked = await blockOf(order);
    return typeof blocked === 'string' ? blocked : blocked.ends;
  };

  /** Sends the entry of an order with a transaction of another party. @returns its hash */
  async function sendByStranger({ form }: EntryOrder): Promise<string> {
    const stranger = await world.lab.person();
    const entry = entryIn(form.signature) ?? assert.fail();
    const func = xdr.HostFunction.hostFunctionTypeInvokeContract(entry.rootInvocation().function().contractFn());
    const operation = Operation.invokeHostFunction({ func, auth: [entry] }) as never;
    const call = await world.lab.prepare(stranger.publicKey(), operation);
    call.sign(stranger);
    await world.lab.send(call);
    return call.hash().toString('hex');
  }

  it('move the payer’s money to the treasury with the memo of the payment, and the payer pays no fee', async () => {
    const payer = await world.lab.person();
    const lumens = async () => (await world.lab.server.getAccountEntry(payer.publicKey())).balance().toString();
    const before = await lumens();
    const from = world.here();
    const fate = await land(await signed(await orderOf(payer)));
    assert.ok(fate.kind === 'final', fate.kind);
    assert.equal(fate.cost?.payer, relay.publicKey());
    assert.equal(await lumens(), before);
    assert.equal(await world.lab.balance(payer.publicKey()), 497_0000000n);
    const { logs } = await scanned(world.config(), from);
    assert.deepEqual(
      logs.map(({ from: sender, memo, amount: units }) => [sender, memo, units]),
      [[payer.publicKey(), deposit().memo, amount]],
    );
  });

  it('take one transaction for one entry, however often it is sent', async () => {
    const order = await orderOf(await world.lab.person());
    const [first, second] = [await signed(order), await prepared(order)];
    assert.equal((await land(first)).kind, 'final');
    assert.equal(await endOf(order), 'superseded');
    const { bytes, hash } = await signer().sign(
      relaying().rail.numbering.kind === 'sequence'
        ? (relaying().rail.numbering as SequenceNumbering).numbered(second, BigInt(first.nonce ?? 0) + 1n)
        : second,
      purpose,
    );
    const again: Sent = { ...first, attempt: 2, nonce: String(BigInt(first.nonce ?? 0) + 1n), bytes, hash };
    const fate = await land(again);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'reverted', JSON.stringify(fate, null, 0).slice(0, 200));
  });

  it('count what somebody else has sent first as superseded, and name the transaction that moved the money', async () => {
    const payer = await world.lab.person();
    const order = await orderOf(payer);
    const hash = await sendByStranger(order);
    world.stellar.closeLedgers(3, 5);
    const blocked = await blockOf(order);
    assert.ok(blocked instanceof PayoutBlocked);
    assert.deepEqual([blocked.ends, blocked.movedBy], ['superseded', hash]);
    assert.equal(await world.lab.balance(payer.publicKey()), 497_0000000n);
  });

  it('name no transaction if the payer used the nonce for another amount or another memo', async () => {
    const other = stellarDepositOf({ treasury: world.treasury.publicKey(), payinContract: null }, 'other', false);
    const to = relaying().receiverOf(other) ?? assert.fail();
    for (const altered of [{ amount: amount - 1n }, { to }]) {
      const payer = await world.lab.person();
      const order = await orderOf(payer);
      const spent = await orderOf(payer, { ...altered, nonce: order.form.nonce });
      await sendByStranger(spent);
      const blocked = await blockOf(order);
      assert.ok(blocked instanceof PayoutBlocked);
      assert.deepEqual([blocked.ends, blocked.movedBy], ['superseded', null]);
    }
  });

  it('end before they cost a fee: too little, no trustline, expired, valid for too long', async () => {
    assert.equal(await endOf(await orderOf(await world.lab.person())), 'costs something');
    assert.equal(await endOf(await orderOf(await world.lab.person(1n))), 'drained');
    const bare = Keypair.random();
    await fundAccount(world.stellar.rpcUrl, bare.publicKey(), { lumens: 5_0000000n });
    assert.equal(await endOf(await orderOf(bare)), 'refused');
    assert.equal(await endOf(await orderOf(await world.lab.person(), { validUntil: head() + 1 })), 'expired');
    assert.equal(await endOf(await orderOf(await world.lab.person(), { validUntil: head() + 20_000 })), 'refused');
  });

  it('wait while they cost more than was reserved', async () => {
    const order = await orderOf(await world.lab.person());
    const dear = { ...order, form: { ...order.form, costMax: '1' } };
    await assert.rejects(prepared(dear), (error) => error instanceof PayoutBlocked && error.ends === null);
  });

  it('are outbid by a fee bump of the same transaction, and land once', async () => {
    const order = await orderOf(await world.lab.person());
    const first = await signed(order);
    const { prepare } = relaying().rail.numbering as SequenceNumbering;
    const fee = (await prepared(order)).fee;
    const attempt = { ...first, chainId: 1500 as const, fee, receiverMemo: null };
    const bump = await prepare(order, BigInt(first.nonce ?? 0), attempt);
    const { bytes, hash } = await signer().sign(bump, purpose);
    assert.notEqual(hash, first.hash);
    await relaying().rail.broadcast(bytes);
    world.stellar.closeLedgers(1, 5);
    const fate = await relaying().rail.fate([first, { ...first, attempt: 2, bytes, hash }], signal);
    assert.equal(fate.kind, 'final');
  });

  describe('are read from the transaction of a payer’s program', () => {
    it('by the one entry in it', async () => {
      const payer = await world.lab.person();
      const order = await orderOf(payer);
      const { envelope } = (await prepared(order)).payload as { readonly envelope: string };
      const read = relaying().read?.(envelope) ?? assert.fail();
      assert.deepEqual(
        [read.from, read.to, read.value, read.nonce, read.signature],
        [payer.publicKey(), order.receiver, String(amount), order.form.nonce, order.form.signature],
      );
      assert.equal(read.tokenAddress, order.token.address);
      const { validAfter, validBefore, nonce } = read;
      const authorization = { token: order.token, payer: read.from, receiver: read.to, amount, nonce } as never;
      const accepted = (signature: string, more = {}) =>
        relaying().signatureOf(
          {
            ...(authorization as object),
            validAfter: BigInt(validAfter),
            validBefore: BigInt(validBefore),
            ...more,
          } as never,
          { kind: 'entry' },
          signature,
        );
      assert.equal(await accepted(read.signature), read.signature);
      for (const more of [{ amount: amount - 1n }, { nonce: '1' }, { validBefore: 1n }, { payer: relay.publicKey() }])
        assert.equal(await accepted(read.signature, more), null, JSON.stringify(Object.keys(more)));
      const forged = await orderOf(payer, { signer: Keypair.random() });
      const { nonce: other, validUntil, signature } = forged.form;
      assert.equal(await accepted(signature, { nonce: other, validBefore: BigInt(validUntil) }), null);
    });

    it('and no other transaction is', async () => {
      const payer = await world.lab.person();
      const plain = await world.lab.build(payer.publicKey(), [Operation.bumpSequence({ bumpTo: '0' }) as never]);
      for (const text of ['', 'AAAA', 'x'.repeat(9_000), plain.toEnvelope().toXDR('base64')])
        assert.equal(relaying().read?.(text), null);
    });
  });

  describe('signer', () => {
    it('refuses everything but the payer’s own entry to the treasury with a memo of ours', async () => {
      const payer = await world.lab.person();
      const order = await orderOf(payer);
      const unsigned = await prepared(order);
      await signer().sign(unsigned, purpose);
      const elsewhere = (await world.lab.person()).publicKey();
      const other = stellarDepositOf({ treasury: world.treasury.publicKey(), payinContract: null }, 'other', false);
      const entry = entryIn(order.form.signature) ?? assert.fail();
      entry
        .credentials()
        .address()
        .signatureExpirationLedger(head() + 61);
      const forms: readonly Partial<EntryOrder['form']>[] = [
        { deposit: { ...order.form.deposit, memo: '1' } },
        { deposit: { ...order.form.deposit, salt: other.salt } },
        { deposit: { ...order.form.deposit, address: elsewhere } },
        { payer: elsewhere },
        { signature: hexOf(entry) },
      ];
      for (const form of forms)
        await assert.rejects(
          signer().sign({ ...unsigned, order: { ...order, form: { ...order.form, ...form } } as EntryOrder }, purpose),
          { reason: 'mismatch' },
          Object.keys(form).join(),
        );
      for (const more of [{ amount: amount + 1n }, { receiver: elsewhere }, { receiverMemo: '1' }])
        await assert.rejects(signer().sign({ ...unsigned, order: { ...order, ...more } }, purpose), {
          reason: 'mismatch',
        });
      // Another entry of the payer for the same terms: the transaction is not the ordered one.
      await assert.rejects(signer().sign({ ...unsigned, order: await orderOf(payer) }, purpose), {
        reason: 'mismatch',
      });
      for (const kind of ['payout', 'refund', 'withdrawal', 'sweep', 'anchor', 'cancel'] as const)
        await assert.rejects(signer().sign(unsigned, { ...purpose, kind }), { reason: 'mismatch' });
    });

    it('refuses an entry of the treasury, and one that nobody signed', async () => {
      for (const by of [world.treasury, relay]) {
        const order = await orderOf(by);
        const unsigned = await prepared(await orderOf(await world.lab.person()));
        await assert.rejects(signer().sign({ ...unsigned, order }, purpose), { reason: 'mismatch' });
      }
      const payer = await world.lab.person();
      const order = await orderOf(payer, { signer: Keypair.random() });
      assert.equal(await endOf(order), 'refused');
      // A caller that skips the simulation gets no signature either.
      const unsigned = await prepared(await orderOf(payer));
      const { envelope } = unsigned.payload as { readonly envelope: string };
      const forged = xdr.TransactionEnvelope.fromXDR(envelope, 'base64');
      const [operation] = forged.v1().tx().operations();
      operation
        ?.body()
        .invokeHostFunctionOp()
        .auth([entryIn(order.form.signature) ?? assert.fail()]);
      const asked = withEnvelope({ ...unsigned, order }, forged.toXDR('base64'));
      await assert.rejects(signer().sign(asked, purpose), { reason: 'mismatch' });
    });

    it('cancels by a transaction without an effect alone', async () => {
      const { prepareCancel, minedNonce } = relaying().rail.numbering as SequenceNumbering;
      const unsigned = await prepareCancel(await minedNonce(signal));
      await signer().sign(unsigned, { kind: 'cancel', reference: 'nonce 1' });
      const { payload } = await prepared(await orderOf(await world.lab.person()));
      const { envelope } = payload as { readonly envelope: string };
      await assert.rejects(signer().sign(withEnvelope(unsigned, envelope), { kind: 'cancel', reference: 'nonce 1' }));
    });
  });
});
