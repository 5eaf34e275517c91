import assert from 'node:assert/strict';
import { Keypair, type PublicKey } from 'solana-web3-v1';
import { forkTo } from '../../../sandbox/solana/controls.ts';
import { type SolanaLab, solanaLab, tokenAccount } from '../../support/solana.ts';

describe('local Solana: forks', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  beforeEach(async () => {
    lab = await solanaLab();
    payer = await lab.person();
    lab.solana.advanceSlots(5);
  });
  afterEach(() => lab.stop());
  const head = () => lab.connection.getSlot('processed');
  const receiver = () => Keypair.generate().publicKey;
  const fork = (slot: number, landAgain?: boolean) => forkTo(lab.solana.rpcUrl, slot, landAgain);
  const exists = async (owner: PublicKey) => (await lab.connection.getAccountInfo(await tokenAccount(owner))) !== null;
  async function statusOf(signature: string) {
    const { value } = await lab.connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
    return value[0];
  }

  it('remove transactions with all their traces', async () => {
    const to = receiver();
    const before = await head();
    const lamports = await lab.connection.getBalance(payer.publicKey);
    lab.solana.advanceSlots();
    const signature = await lab.pay({ from: payer, to, amount: 5n });
    lab.solana.advanceSlots();
    assert.equal((await statusOf(signature))?.confirmationStatus, 'confirmed');

    assert.deepEqual(await fork(before), [signature]);
    assert.equal(await statusOf(signature), null);
    assert.equal(await exists(to), false);
    assert.equal(await lab.balance(payer.publicKey), 500_000000n);
    assert.equal(await lab.connection.getBalance(payer.publicKey), lamports);
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    lab.solana.advanceSlots(2);
    assert.equal(await lab.connection.getTransaction(signature, options), null);
    assert.deepEqual(await lab.connection.getSignaturesForAddress(await tokenAccount(to), {}, 'confirmed'), []);
  });

  it('keep everything before them', async () => {
    const [kept, gone] = [receiver(), receiver()];
    const signature = await lab.pay({ from: payer, to: kept, amount: 5n });
    const before = await head();
    lab.solana.advanceSlots();
    await lab.pay({ from: payer, to: gone, amount: 7n });
    await fork(before);
    assert.ok(await statusOf(signature));
    assert.equal(await lab.balance(kept), 5n);
    assert.equal(await lab.balance(payer.publicKey), 499_999_995n);
    assert.equal(await exists(gone), false);
  });

  it('continue with other blocks at the same heights, never back', async () => {
    const before = await head();
    lab.solana.advanceSlots();
    const { blockhash } = await lab.connection.getLatestBlockhash('processed');
    const seen = await head();
    await fork(before);
    assert.ok((await head()) > seen);
    assert.equal((await lab.connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value, false);
    lab.solana.advanceSlots(5);
    const block = await lab.connection.getBlockSignatures(seen, 'confirmed');
    assert.notEqual(block.blockhash, blockhash);
    assert.deepEqual(block.signatures, []);
  });

  it('remove a transaction that can be sent again while its blockhash is valid', async () => {
    const to = receiver();
    const before = await head();
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to, amount: 5n }));
    lab.solana.advanceSlots();
    const signature = await lab.send(transaction);
    await fork(before);
    assert.equal(await lab.send(transaction), signature);
    assert.equal(await lab.balance(to), 5n);
    await assert.rejects(lab.send(transaction), /already been processed/);
  });

  it('make a transaction worthless that was signed for a block that is gone', async () => {
    const before = await head();
    lab.solana.advanceSlots();
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to: receiver(), amount: 5n }));
    const signature = await lab.send(transaction);
    await fork(before);
    await assert.rejects(lab.send(transaction), /Blockhash not found/);
    await lab.send(transaction, { skipPreflight: true });
    assert.equal(await statusOf(signature), null);
  });

  it('let removed transactions land again without help, in another slot', async () => {
    const to = receiver();
    const before = await head();
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to, amount: 5n }));
    lab.solana.advanceSlots();
    const signature = await lab.send(transaction);
    const first = await statusOf(signature);
    assert.deepEqual(await fork(before, true), [signature]);
    const second = await statusOf(signature);
    assert.ok((second?.slot ?? 0) > (first?.slot ?? 0));
    assert.equal(await lab.balance(to), 5n);
  });

  it('cannot reach final slots, nor future ones', async () => {
    const to = receiver();
    await lab.pay({ from: payer, to, amount: 5n });
    lab.solana.advanceSlots(4);
    const finalized = await lab.connection.getSlot('finalized');
    await assert.rejects(fork(finalized - 1), /a fork goes back to a slot from/);
    await assert.rejects(fork(await head()), /a fork goes back to a slot from/);
    await fork(finalized);
    assert.equal(await lab.balance(to, 'finalized'), 5n);
  });

  it('can follow one another', async () => {
    const to = receiver();
    for (let round = 0; round < 3; round++) {
      const before = await head();
      lab.solana.advanceSlots();
      await lab.pay({ from: payer, to, amount: 5n });
      await fork(before);
    }
    assert.equal(await exists(to), false);
    await lab.pay({ from: payer, to, amount: 5n });
    assert.equal(await lab.balance(to), 5n);
  });

  it('restore closed accounts', async () => {
    const before = await head();
    const account = await tokenAccount(payer.publicKey);
    lab.solana.advanceSlots();
    await lab.pay({ from: payer, to: receiver(), amount: 500_000000n });
    await lab.send(await lab.signed(payer, [lab.close(payer.publicKey, account)]));
    assert.equal(await exists(payer.publicKey), false);
    await fork(before);
    assert.equal(await lab.balance(payer.publicKey), 500_000000n);
  });
});
