import assert from 'node:assert/strict';
import { Keypair, SystemProgram, type VersionedTransaction } from 'solana-web3-v1';
import { lamportsPerSol, type SolanaLab, solanaLab, tokenAccount, usdcMint } from '../../support/solana.ts';

describe('local Solana: payments', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
  });
  after(() => lab.stop());
  const receiver = () => Keypair.generate().publicKey;
  const balance = async (owner = payer.publicKey) =>
    BigInt((await lab.connection.getTokenAccountBalance(await tokenAccount(owner))).value.amount);

  it('moves USDC to a wallet that had no account for it, memo and reference included', async () => {
    const [to, reference] = [receiver(), receiver()];
    const signature = await lab.pay({ from: payer, to, amount: 12_340000n, memo: 'order 7', reference });
    lab.solana.advanceSlots();
    const got = await lab.connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    assert.ok(got?.meta);
    assert.equal(got.meta.err, null);
    assert.equal(got.version, 0);
    const account = (await tokenAccount(to)).toBase58();
    const place = got.transaction.message.staticAccountKeys.findIndex((key) => key.toBase58() === account);
    const credited = got.meta.postTokenBalances?.find(({ accountIndex }) => accountIndex === place);
    assert.equal(credited?.owner, to.toBase58());
    assert.equal(credited?.mint, usdcMint.toBase58());
    assert.equal(credited?.uiTokenAmount.amount, '12340000');
    assert.ok(!got.meta.preTokenBalances?.some(({ accountIndex }) => accountIndex === place));
    for (const address of [await tokenAccount(to), reference]) {
      const [found] = await lab.connection.getSignaturesForAddress(address, {}, 'confirmed');
      assert.equal(found?.signature, signature);
      assert.equal(found?.memo, '[7] order 7');
      assert.equal(found?.confirmationStatus, 'confirmed');
    }
    assert.equal(await balance(to), 12_340000n);
  });

  it('accepts the same transaction any number of times and carries it out once', async () => {
    const to = receiver();
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to, amount: 5n }));
    const signature = await lab.send(transaction);
    assert.equal(await lab.send(transaction, { skipPreflight: true }), signature);
    await assert.rejects(lab.send(transaction), /already been processed/);
    assert.equal(await balance(to), 5n);
  });

  it('states why a transaction would fail, with its logs, and lets it fail without preflight', async () => {
    const instructions = await lab.payment({ from: payer, to: receiver(), amount: 10n ** 15n });
    const transaction = await lab.signed(payer, instructions);
    await assert.rejects(lab.send(transaction), (error: Error & { logs?: string[] }) => {
      assert.equal(error.name, 'Error');
      assert.equal(error.constructor.name, 'SendTransactionError');
      assert.match(error.message, /Error processing Instruction 1: custom program error: 0x1/);
      assert.ok(error.logs?.some((line) => /insufficient funds/.test(line)));
      return true;
    });
    const before = await lab.connection.getBalance(payer.publicKey);
    const signature = await lab.send(transaction, { skipPreflight: true });
    const { value } = await lab.connection.getSignatureStatuses([signature]);
    assert.deepEqual(value[0]?.err, { InstructionError: [1, { Custom: 1 }] });
    assert.equal(await lab.connection.getBalance(payer.publicKey), before - 5_000);
  });

  it('refuses unsigned transactions, and transactions that nobody can pay for', async () => {
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to: receiver(), amount: 1n }));
    transaction.signatures[0]?.fill(1);
    await assert.rejects(lab.send(transaction), /did not pass signature verification/);
    assert.equal(await landed(transaction), false);
    const poor = Keypair.generate();
    const transfer = { fromPubkey: poor.publicKey, toPubkey: receiver(), lamports: 1 };
    const unpaid = await lab.signed(poor, [SystemProgram.transfer(transfer)]);
    await assert.rejects(lab.send(unpaid), /no record of a prior credit/);
    assert.equal(await landed(unpaid), false);
  });

  async function landed(transaction: VersionedTransaction): Promise<boolean> {
    const signature = await lab.send(transaction, { skipPreflight: true });
    const { value } = await lab.connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    return value[0] !== null;
  }

  it('gives lamports by airdrop, confirmed over the WebSocket', async () => {
    const poor = receiver();
    const signature = await lab.connection.requestAirdrop(poor, Number(2n * lamportsPerSol));
    const confirmed = lab.connection.confirmTransaction(
      { signature, ...(await lab.connection.getLatestBlockhash()) },
      'confirmed',
    );
    lab.solana.advanceSlots();
    assert.deepEqual((await confirmed).value, { err: null });
    assert.equal(await lab.connection.getBalance(poor), Number(2n * lamportsPerSol));
  });
});
