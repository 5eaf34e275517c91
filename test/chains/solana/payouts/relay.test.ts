/** Payers' transactions on a local Solana: prepared, signed, landed, or ended before they cost anything. */
import assert from 'node:assert/strict';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from 'solana-web3-v1';
import { Unavailable } from '../../../../commands/ports.ts';
import { fundWallet } from '../../../../sandbox/solana/controls.ts';
import { transferInstructions } from '../../../../sandbox/solana/wallet.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import {
  type ExpiringNumbering,
  type PayerTransactionOrder,
  PayoutBlocked,
  type Sent,
  type Unsigned,
} from '../../../../src/chains/ports.ts';
import { solanaFees } from '../../../../src/chains/solana/config.ts';
import { openingMessage, termsInMessage } from '../../../../src/chains/solana/payouts/transaction.ts';
import { createSolanaRelaying } from '../../../../src/chains/solana/relaying.ts';
import { createSolanaRpc } from '../../../../src/chains/solana/rpc.ts';
import { ownerKey, solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { createSolanaRelaySigner } from '../../../../src/chains/solana/signer/signer.ts';
import { usdcMint } from '../../../support/solana.ts';
import {
  memoOf,
  type PaidByProgram,
  payerTransactionOrder,
  programTransaction,
} from '../../../support/solanaRelays.ts';
import { watching } from '../payins/watching.ts';
import { depositSeed, type SolanaWorld, signal, solanaWorld, usdcToken } from '../world.ts';

const purpose = { kind: 'relay', reference: 'relay-1' } as const;
const amount = 3_000000n;
let salts = 0;

describe('relays on Solana', () => {
  let world: SolanaWorld;
  const relay = Keypair.generate();
  const account = relay.publicKey.toBase58();
  /** Salt of the deposit, another one in each spec. */
  let salt: string;
  let deposit: PublicKey;
  before(async () => {
    world = await solanaWorld();
    await fundWallet(world.solana.rpcUrl, account, { lamports: 10_000_000_000n });
    world.settle();
  });
  beforeEach(() => {
    salts += 1;
    salt = salts.toString(16).padStart(64, '0');
    deposit = new PublicKey(ownerKey(depositSeed, salt).address);
  });
  after(() => world.lab.stop());

  const relaying = () => {
    const config = world.config();
    return createSolanaRelaying(config, account, createSolanaRpc(config));
  };
  const signer = (depositAt = async (of: string) => ownerKey(depositSeed, of).address) =>
    createSolanaRelaySigner({
      key: solanaKey(relay.secretKey.slice(0, 32)),
      depositAt,
      treasury: world.treasury.publicKey.toBase58(),
      fees: solanaFees(),
      spending: createSpending({ perTransfer_usd: 0n, perHour_usd: 0n }, world.clock),
    });
  const lamports = (of: PublicKey) => world.lab.connection.getBalance(of, 'processed');

  /** A wallet whose money is final. */
  async function person(units?: bigint): Promise<Keypair> {
    const payer = await world.lab.person(units);
    world.settle();
    return payer;
  }

  async function transactionOf(payer: Keypair, altered: Partial<PaidByProgram> = {}): Promise<string> {
    const { blockhash } = await world.lab.connection.getLatestBlockhash('finalized');
    return programTransaction({ payer, feePayer: account, to: deposit, amount, blockhash, ...altered });
  }

  const orderOf = async (payer: Keypair, altered: Partial<PaidByProgram> = {}): Promise<PayerTransactionOrder> =>
    payerTransactionOrder(await transactionOf(payer, altered), { payer, to: deposit, amount }, salt);

  const prepared = (order: PayerTransactionOrder): Promise<Unsigned> =>
    (relaying().rail.numbering as ExpiringNumbering).prepare(order);

  async function signed(order: PayerTransactionOrder, attempt = 1): Promise<Sent> {
    const unsigned = await prepared(order);
    const { bytes, hash } = await signer().sign(unsigned, purpose);
    const { token, receiver, form } = order;
    const own = { attempt, account, nonce: null, signedAt: world.clock.now() };
    return { ...own, bytes, hash, validUntil: unsigned.validUntil, token, receiver, amount: String(amount), form };
  }

  async function land(sent: Sent) {
    await relaying().rail.broadcast(sent.bytes);
    world.settle();
    return relaying().rail.fate([sent], signal);
  }

  const endOf = (order: PayerTransactionOrder) =>
    relaying()
      .simulate(order, signal)
      .then(
        ({ fee, rent }) => `costs ${fee > 0n ? 'a fee' : 'nothing'}${rent > 0n ? ' and rent' : ''}`,
        (error) => {
          assert.ok(error instanceof PayoutBlocked, String(error));
          return error.ends;
        },
      );

  it('open the deposit’s account, then move the payer’s money to it; the payer pays nothing, and each cost is known', async () => {
    const payer = await person();
    const [own, before] = [await lamports(payer.publicKey), await lamports(relay.publicKey)];
    const order = await orderOf(payer);
    assert.equal(await endOf(order), 'costs a fee and rent');
    const unsigned = await prepared(order);
    assert.equal(unsigned.fee['rent'], '2039280');
    const opened = await land(await signed(order));
    assert.ok(opened.kind === 'final', opened.kind);
    assert.equal(await world.balance(deposit), 0n);
    assert.deepEqual([opened.cost?.payer, opened.cost?.rent], [account, '2039280']);

    assert.equal(await endOf(order), 'costs a fee');
    const sent = await signed(order, 2);
    assert.equal((await prepared(order)).fee['rent'], undefined);
    const fate = await land(sent);
    assert.ok(fate.kind === 'final', fate.kind);
    assert.deepEqual([fate.cost?.payer, fate.cost?.rent], [account, undefined]);
    assert.equal(await world.balance(deposit), amount);
    assert.equal(await lamports(payer.publicKey), own);
    const costs = [opened, fate].flatMap(({ cost }) => [BigInt(cost?.fee ?? 0), BigInt(cost?.rent ?? 0)]);
    assert.equal(
      BigInt(before - (await lamports(relay.publicKey))),
      costs.reduce((sum, each) => sum + each, 0n),
    );
    const [payin] = (await watching(world, [deposit]).poll('final'))?.logs ?? [];
    assert.deepEqual([payin?.from, payin?.amount, payin?.txHash], [payer.publicKey.toBase58(), amount, sent.hash]);
  });

  it('are one transaction, however often they are signed and sent', async () => {
    const payer = await person();
    await world.lab.pay({ from: await person(), to: deposit, amount: 1n });
    world.settle();
    const order = await orderOf(payer);
    const [first, second] = [await signed(order), await signed(order)];
    assert.deepEqual([second.bytes, second.hash], [first.bytes, first.hash]);
    assert.equal((await land(first)).kind, 'final');
    await relaying().rail.broadcast(second.bytes);
    world.settle();
    assert.equal(await world.balance(deposit), amount + 1n);
  });

  it('die with their blockhash, and are never signed again', async () => {
    const payer = await person();
    await world.lab.pay({ from: await person(), to: deposit, amount: 1n });
    world.settle();
    const order = await orderOf(payer);
    const sent = await signed(order);
    world.settle(700);
    const fate = await relaying().rail.fate([sent], signal);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'validityPassed', JSON.stringify(fate.kind));
    assert.equal(await endOf(order), 'expired');
    await assert.rejects(prepared(order), { ends: 'expired' });
    assert.equal(await world.balance(payer.publicKey), 500_000000n);
  });

  it('cost their fee once if the payer’s balance is drained after the simulation', async () => {
    const payer = await person(amount);
    const order = await orderOf(payer);
    assert.equal((await land(await signed(order))).kind, 'final');
    const sent = await signed(order, 2);
    await world.lab.pay({ from: payer, to: Keypair.generate().publicKey, amount });
    const before = await lamports(relay.publicKey);
    // A preflight refuses it. A leader that got it otherwise includes it, and it fails.
    await world.lab.connection.sendRawTransaction(Buffer.from(sent.bytes, 'base64'), { skipPreflight: true });
    world.settle();
    const fate = await relaying().rail.fate([sent], signal);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'reverted', fate.kind);
    assert.equal(String(before - (await lamports(relay.publicKey))), fate.proof.landed?.cost.fee);
    assert.equal(await endOf(order), 'drained');
  });

  it('end before they cost anything: too little, no account, expired, no catalogue token', async () => {
    assert.equal(await endOf(await orderOf(await person(1n))), 'drained');
    assert.equal(await endOf(await orderOf(Keypair.generate())), 'drained');
    const old = await orderOf(await person());
    world.settle(160);
    assert.equal(await endOf(old), 'expired');
    const units = await orderOf(await person(), { units: 300 });
    assert.equal(await endOf(units), 'costs a fee and rent');
    await world.lab.pay({ from: await person(), to: deposit, amount: 1n });
    world.settle();
    assert.equal(await endOf(units), 'refused');
  });

  it('wait while they cost more than was reserved, and while the account lacks coin', async () => {
    const order = await orderOf(await person());
    const dear = { ...order, form: { ...order.form, costMax: '1' } };
    await assert.rejects(prepared(dear), (error) => error instanceof PayoutBlocked && error.ends === null);
    const config = world.config();
    const poor = createSolanaRelaying(config, Keypair.generate().publicKey.toBase58(), createSolanaRpc(config));
    await assert.rejects(
      poor.simulate(order, signal),
      (error) => error instanceof PayoutBlocked && error.reason === 'gas' && error.ends === null,
    );
  });

  describe('are read from the transaction of a payer’s program', () => {
    it('and accepted with the payer’s own signature of the payment’s own terms alone', async () => {
      const payer = await person();
      const transaction = await transactionOf(payer);
      const read = relaying().read?.(transaction) ?? assert.fail();
      const order = await orderOf(payer);
      assert.deepEqual(
        [read.from, read.value, read.tokenAddress],
        [payer.publicKey.toBase58(), String(amount), usdcToken.address],
      );
      const receiver = deposit.toBase58();
      assert.equal(relaying().accountAt?.(receiver, usdcToken), read.to);
      const { nonce, signature } = read;
      assert.deepEqual(
        [nonce, signature].map((each) => each.length),
        [order.form.nonce, order.form.signature].map((each) => each.length),
      );
      const authorization = {
        token: usdcToken,
        payer: read.from,
        receiver,
        amount,
        validAfter: 0n,
        validBefore: 0n,
        nonce,
      };
      const accepted = (more = {}, text = signature) =>
        relaying().signatureOf({ ...authorization, ...more }, { kind: 'transaction', feePayer: account }, text);
      assert.equal(await accepted(), signature);
      const elsewhere = Keypair.generate().publicKey.toBase58();
      for (const more of [
        { amount: amount - 1n },
        { nonce: `0x${'00'.repeat(32)}` },
        { payer: elsewhere },
        { receiver: elsewhere },
        { token: { ...usdcToken, address: elsewhere } },
      ])
        assert.equal(await accepted(more), null, Object.keys(more).join());
      const forged = relaying().read?.(await transactionOf(payer, { signer: Keypair.generate() })) ?? assert.fail();
      assert.equal(await accepted({ nonce: forged.nonce }, forged.signature), null);
    });

    it('and no other transaction is', async () => {
      const payer = await person();
      const own = payer.publicKey;
      const drain = SystemProgram.transfer({ fromPubkey: relay.publicKey, toPubkey: own, lamports: 1_000_000 });
      const [create] = await transferInstructions({
        from: relay.publicKey,
        to: deposit,
        mint: usdcMint.toBase58(),
        decimals: 6,
        amount,
      });
      const naming = (instruction: TransactionInstruction, pubkey: PublicKey) =>
        new TransactionInstruction({
          ...instruction,
          keys: [...instruction.keys, { pubkey, isSigner: false, isWritable: false }],
        });
      const edits: readonly ((each: TransactionInstruction[]) => TransactionInstruction[])[] = [
        (each) => [...each, drain],
        (each) => [...each, SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: 1 })],
        ([limit, price, transfer]) => [limit!, price!, create!, transfer!],
        ([limit, price, transfer, memo]) => [limit!, price!, transfer!, transfer!, memo!],
        ([limit, price, transfer, memo]) => [limit!, price!, naming(transfer!, relay.publicKey), memo!],
        ([limit, price, transfer, memo]) => [limit!, price!, transfer!, naming(memo!, relay.publicKey)],
        ([limit, price, transfer, memo]) => [limit!, price!, transfer!, memo!, memo!],
        ([limit, , transfer, memo]) => [limit!, transfer!, memo!],
        ([, , transfer, memo]) => [transfer!, memo!],
        ([limit, price, transfer]) => [limit!, price!, transfer!, memoOf('x'.repeat(257))],
        ([limit, price, transfer, memo]) => [price!, transfer!, limit!, memo!],
        ([limit, , transfer, memo]) => [limit!, limit!, transfer!, memo!],
        ([, price, transfer, memo]) => [price!, price!, transfer!, memo!],
      ];
      for (const [at, edit] of edits.entries())
        assert.equal(relaying().read?.(await transactionOf(payer, { edit })), null, `edit ${at}`);
      const plain = await transactionOf(payer);
      const priceFirst = await transactionOf(payer, {
        edit: ([limit, price, transfer]) => [price!, limit!, transfer!],
      });
      for (const text of [plain, priceFirst]) assert.notEqual(relaying().read?.(text), null);
      const foreign = await transactionOf(payer, { feePayer: Keypair.generate().publicKey.toBase58() });
      const dear = await transactionOf(payer, { price_microLamports: 5_000_001 });
      const many = await transactionOf(payer, { units: 200_001 });
      for (const text of ['', 'AAAA', 'x'.repeat(9_000), `${plain} `, plain.slice(0, -4), foreign, dear, many])
        assert.equal(relaying().read?.(text), null, text.slice(0, 20));
    });
  });

  describe('signer', () => {
    const refuses = async (
      unsigned: Unsigned,
      why: string,
      kind: Parameters<ReturnType<typeof signer>['sign']>[1]['kind'] = 'relay',
    ) => assert.rejects(signer().sign(unsigned, { ...purpose, kind }), { reason: 'mismatch' }, why);

    it('refuses everything but the payer’s own transaction to a deposit of ours, and the opening of its account', async () => {
      const payer = await person();
      const order = await orderOf(payer);
      const opening = await prepared(order);
      assert.equal((await land(await signed(order))).kind, 'final');
      const paying = await prepared(order);
      await signer().sign(paying, purpose);
      const elsewhere = Keypair.generate().publicKey.toBase58();
      const other = await orderOf(await person());
      const forged = await orderOf(payer, { signer: Keypair.generate() });
      const forms: readonly Partial<PayerTransactionOrder['form']>[] = [
        { deposit: { ...order.form.deposit, salt: 'ab'.repeat(32) } },
        { deposit: { ...order.form.deposit, salt: '' } },
        { deposit: { ...order.form.deposit, address: elsewhere } },
        { payer: elsewhere },
        { signature: other.form.signature },
        { signature: forged.form.signature },
      ];
      for (const unsigned of [opening, paying]) {
        for (const form of forms)
          await refuses(
            { ...unsigned, order: { ...order, form: { ...order.form, ...form } } as PayerTransactionOrder },
            Object.keys(form).join(),
          );
        for (const more of [
          { amount: amount + 1n },
          { amount: 0n },
          { receiver: elsewhere },
          { receiverMemo: '1' },
          { token: { ...usdcToken, decimals: 9 } },
          { token: { ...usdcToken, address: elsewhere } },
        ])
          await refuses({ ...unsigned, order: { ...order, ...more } }, Object.keys(more).join());
        for (const kind of ['payout', 'refund', 'withdrawal', 'sweep', 'anchor', 'cancel'] as const)
          await refuses(unsigned, kind, kind);
      }
      // Another transaction than the ordered one, also of the same payer.
      await refuses({ ...paying, order: await orderOf(payer, { memo: 'other' }) }, 'another memo');
    });

    it('signs nothing without a proof that the deposit is ours', async () => {
      const unsigned = await prepared(await orderOf(await person()));
      const silent = signer(async () => {
        throw new Unavailable('the signer does not answer', 5);
      });
      await assert.rejects(silent.sign(unsigned, purpose), Unavailable);
      const foreign = signer(async () => Keypair.generate().publicKey.toBase58());
      await assert.rejects(foreign.sign(unsigned, purpose), { reason: 'mismatch' });
      await signer().sign(unsigned, purpose);
    });

    it('refuses to open the account of another deposit, or at too high a price', async () => {
      const order = await orderOf(await person());
      const opening = await prepared(order);
      const own = deposit;
      salt = 'cd'.repeat(32);
      deposit = new PublicKey(ownerKey(depositSeed, salt).address);
      const another = await orderOf(await person());
      assert.notEqual(own.toBase58(), deposit.toBase58());
      await refuses({ ...opening, payload: (await prepared(another)).payload }, 'the account of another deposit');
      await assert.rejects(signer().sign({ ...opening, account: deposit.toBase58() }, purpose), { reason: 'account' });
      const { message } = opening.payload as { readonly message: string };
      const dear = openingMessage(account, order, {
        ...(termsInMessage(Buffer.from(message, 'base64')) ?? assert.fail()),
        price_microLamports: solanaFees().priceMax_microLamports + 1n,
      });
      const payload = { message: Buffer.from(dear).toString('base64') };
      await assert.rejects(signer().sign({ ...opening, payload }, purpose), { reason: 'fee' });
    });
  });
});
