import assert from 'node:assert/strict';
import {
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  createKeyPairSignerFromBytes,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS as tokenProgram,
} from '@solana-program/token';
import { usdc } from '../../../sandbox/solana/usdc.ts';
import { type SolanaLab, solanaLab } from '../../support/solana.ts';

describe('local Solana: the node through @solana/kit', () => {
  let lab: SolanaLab;
  before(async () => {
    lab = await solanaLab({ slot_ms: 20 });
  });
  after(() => lab.stop());

  it('is healthy, and describes itself', async () => {
    assert.equal(await lab.rpc.getHealth().send(), 'ok');
    assert.match((await lab.rpc.getVersion().send())['solana-core'], /^\d+\.\d+\.\d+$/);
    assert.match(await lab.rpc.getGenesisHash().send(), /^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    assert.equal(await lab.rpc.getGenesisHash().send(), await lab.connection.getGenesisHash());
  });

  it('counts slots, heights and epochs', async () => {
    const epoch = await lab.rpc.getEpochInfo({ commitment: 'finalized' }).send();
    assert.equal(epoch.epoch * epoch.slotsInEpoch + epoch.slotIndex, epoch.absoluteSlot);
    assert.ok(epoch.blockHeight < epoch.absoluteSlot, 'slots without blocks came first');
    assert.ok((await lab.rpc.getSlot({ commitment: 'finalized' }).send()) >= epoch.absoluteSlot);
    const { value, context } = await lab.rpc.getLatestBlockhash({ commitment: 'finalized' }).send();
    const height = await lab.rpc.getBlockHeight({ commitment: 'finalized' }).send();
    assert.ok(value.lastValidBlockHeight <= height + 150n);
    assert.equal(context.slot - value.lastValidBlockHeight, epoch.absoluteSlot - epoch.blockHeight - 150n);
    const first = await lab.connection.getFirstAvailableBlock();
    assert.equal((await lab.rpc.getBlock(BigInt(first)).send())?.parentSlot, BigInt(first - 1));
  });

  it('charges the rent and fees of the public network', async () => {
    assert.equal(await lab.rpc.getMinimumBalanceForRentExemption(165n).send(), 2_039_280n);
    assert.equal(await lab.rpc.getMinimumBalanceForRentExemption(0n).send(), 890_880n);
    assert.deepEqual(await lab.rpc.getRecentPrioritizationFees([usdc.mint]).send(), [], 'no block has a transaction');
    const { address } = await generateKeyPairSigner();
    await lab.rpc.requestAirdrop(address, lamports(5_000_000_000n)).send();
    lab.solana.advanceSlots();
    const fees = await lab.rpc.getRecentPrioritizationFees([address]).send();
    assert.deepEqual(
      fees.map(({ prioritizationFee }) => prioritizationFee),
      [0n],
    );
  });

  it('gives airdrops', async () => {
    const { address } = await generateKeyPairSigner();
    for (const _ of [1, 2]) await lab.rpc.requestAirdrop(address, lamports(5_000_000_000n)).send();
    const { value } = await lab.rpc.getBalance(address, { commitment: 'processed' }).send();
    assert.equal(value, 10_000_000_000n);
  });

  it('accepts a payment, and confirms it', async () => {
    const payer = await createKeyPairSignerFromBytes((await lab.person()).secretKey);
    lab.solana.advanceSlots(2);
    const { address: owner } = await generateKeyPairSigner();
    const ataOf = async (wallet: typeof owner) =>
      (await findAssociatedTokenPda({ owner: wallet, mint: usdc.mint, tokenProgram }))[0];
    const [source, destination] = [await ataOf(payer.address), await ataOf(owner)];
    const { value: latest } = await lab.rpc.getLatestBlockhash().send();
    const transfer = { source, ...usdc, destination, authority: payer, amount: 12_345678n };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(payer, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
      (living) =>
        appendTransactionMessageInstructions(
          [
            getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner, mint: usdc.mint }),
            getTransferCheckedInstruction(transfer),
          ],
          living,
        ),
    );
    const transaction = await signTransactionMessageWithSigners(message);
    assertIsTransactionWithBlockhashLifetime(transaction);
    const rpcSubscriptions = createSolanaRpcSubscriptions(lab.solana.wsUrl);
    await sendAndConfirmTransactionFactory({ rpc: lab.rpc, rpcSubscriptions })(transaction, {
      commitment: 'confirmed',
    });
    const { value } = await lab.rpc.getTokenAccountBalance(destination).send();
    assert.equal(value.amount, '12345678');
    const signature = getSignatureFromTransaction(transaction);
    const [status] = (await lab.rpc.getSignatureStatuses([signature]).send()).value;
    assert.equal(status?.err, null);
  });
});
