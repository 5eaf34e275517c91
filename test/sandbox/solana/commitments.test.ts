import assert from 'node:assert/strict';
import { type Commitment, Keypair, type PublicKey } from 'solana-web3-v1';
import { expireBlockhashes } from '../../../sandbox/solana/controls.ts';
import { type SolanaLab, solanaLab, tokenAccount } from '../../support/solana.ts';

const commitments = ['processed', 'confirmed', 'finalized'] as const;

describe('local Solana: slots and commitments', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  beforeEach(async () => {
    lab = await solanaLab({ confirmed_slots: 2, finalized_slots: 5 });
    payer = await lab.person();
    lab.solana.advanceSlots(5);
  });
  afterEach(() => lab.stop());
  const receiver = () => Keypair.generate().publicKey;
  const slot = (commitment: Commitment) => lab.connection.getSlot(commitment);

  it('is as far behind the head as configured', async () => {
    const [processed, confirmed, finalized] = await Promise.all(commitments.map(slot));
    assert.equal(confirmed, (processed ?? 0) - 2);
    assert.equal(finalized, (processed ?? 0) - 5);
    for (const commitment of commitments) {
      const context = await lab.connection.getBalanceAndContext(payer.publicKey, commitment);
      assert.equal(context.context.slot, await slot(commitment));
      assert.ok((await lab.connection.getBlockHeight(commitment)) < (await slot(commitment)));
    }
  });

  it('answers finalized if no commitment is requested', async () => {
    assert.equal((await lab.call('getSlot')).result, await slot('finalized'));
  });

  it('moves a payment from processed over confirmed to finalized, each read as of its slot', async () => {
    const to = receiver();
    const signature = await lab.pay({ from: payer, to, amount: 7n });
    const seen = (commitment: Commitment) => lab.balance(to, commitment).catch(() => null);
    const status = async () => (await lab.connection.getSignatureStatuses([signature])).value[0];
    const all = () => Promise.all(commitments.map(seen));

    assert.deepEqual(await all(), [7n, null, null]);
    assert.equal((await status())?.confirmationStatus, 'processed');
    assert.equal((await status())?.confirmations, 0);
    lab.solana.advanceSlots(2);
    assert.deepEqual(await all(), [7n, 7n, null]);
    assert.equal((await status())?.confirmationStatus, 'confirmed');
    assert.equal((await status())?.confirmations, 2);
    lab.solana.advanceSlots(3);
    assert.deepEqual(await all(), [7n, 7n, 7n]);
    assert.equal((await status())?.confirmationStatus, 'finalized');
    assert.equal((await status())?.confirmations, null);
  });

  it('reports transactions from confirmed on, for each commitment its own', async () => {
    const signature = await lab.pay({ from: payer, to: receiver(), amount: 7n });
    const account = await tokenAccount(payer.publicKey);
    const told = async (commitment: 'confirmed' | 'finalized') => {
      const options = { commitment, maxSupportedTransactionVersion: 0 };
      const transaction = await lab.connection.getTransaction(signature, options);
      const [newest] = await lab.connection.getSignaturesForAddress(account, {}, commitment);
      assert.equal(newest?.signature, transaction ? signature : undefined);
      return transaction !== null;
    };
    const both = async () => [await told('confirmed'), await told('finalized')];
    assert.deepEqual(await both(), [false, false]);
    lab.solana.advanceSlots(2);
    assert.deepEqual(await both(), [true, false]);
    lab.solana.advanceSlots(3);
    assert.deepEqual(await both(), [true, true]);
  });

  it('finds old transactions only in searches of the history', async () => {
    const signature = await lab.pay({ from: payer, to: receiver(), amount: 7n });
    lab.solana.advanceSlots(151);
    const { connection } = lab;
    const found = async (searchTransactionHistory: boolean) =>
      (await connection.getSignatureStatuses([signature], { searchTransactionHistory })).value[0];
    assert.equal(await found(false), null);
    assert.equal((await found(true))?.confirmationStatus, 'finalized');
  });

  it('advances chain time with slots, never backwards', async () => {
    const first = await lab.connection.getBlockTime(await slot('processed'));
    lab.solana.advanceSlots(10, 60);
    const second = await lab.connection.getBlockTime(await slot('processed'));
    assert.ok((second ?? 0) >= (first ?? 0) + 600);
    lab.solana.advanceSlots();
    assert.ok(((await lab.connection.getBlockTime(await slot('processed'))) ?? 0) >= (second ?? 0));
  });

  describe('blockhashes', () => {
    const valid = async (blockhash: string, commitment: Commitment = 'processed') =>
      (await lab.connection.isBlockhashValid(blockhash, { commitment })).value;
    async function signed(to: PublicKey) {
      const { blockhash, lastValidBlockHeight } = await lab.connection.getLatestBlockhash('processed');
      const transaction = await lab.signed(payer, await lab.payment({ from: payer, to, amount: 1n }));
      assert.equal(transaction.message.recentBlockhash, blockhash);
      return { blockhash, lastValidBlockHeight, transaction };
    }

    it('are accepted up to their last valid block height, and not one block later', async () => {
      const [to, late] = [receiver(), receiver()];
      const [one, other] = [await signed(to), await signed(late)];
      lab.solana.advanceSlots(150);
      assert.equal(await lab.connection.getBlockHeight('processed'), one.lastValidBlockHeight);
      assert.equal(await valid(one.blockhash), true);
      await lab.send(one.transaction);
      assert.equal(await lab.balance(to), 1n);
      lab.solana.advanceSlots();
      assert.equal(await valid(one.blockhash), false);
      await assert.rejects(lab.send(other.transaction), /Transaction simulation failed: Blockhash not found/);
    });

    it('leave no trace of a transaction that is sent without preflight if they are too old', async () => {
      const to = receiver();
      const { transaction } = await signed(to);
      await expireBlockhashes(lab.solana.rpcUrl);
      const before = await lab.connection.getBalance(payer.publicKey);
      const signature = await lab.send(transaction, { skipPreflight: true });
      lab.solana.advanceSlots(5);
      const { value } = await lab.connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
      assert.equal(value[0], null);
      assert.equal(await lab.connection.getBalance(payer.publicKey), before);
      await assert.rejects(lab.balance(to), /could not find account/);
    });

    it('are not known yet to a commitment that has not reached their block', async () => {
      const { blockhash, transaction } = await signed(receiver());
      assert.equal(await valid(blockhash, 'finalized'), false);
      const finalized = { preflightCommitment: 'finalized' } as const;
      await assert.rejects(lab.send(transaction, finalized), /Blockhash not found/);
      lab.solana.advanceSlots(5);
      assert.equal(await valid(blockhash, 'finalized'), true);
      await lab.send(transaction, finalized);
    });

    it('from another chain are invalid', async () => {
      const other = await solanaLab();
      const { blockhash } = await other.connection.getLatestBlockhash('processed');
      assert.equal(await valid(blockhash), false);
      assert.notEqual(await other.connection.getGenesisHash(), await lab.connection.getGenesisHash());
      await other.stop();
    });

    it('make web3.js give up waiting when they expire', async () => {
      const { blockhash, lastValidBlockHeight } = await lab.connection.getLatestBlockhash('processed');
      const { signatures } = (await signed(receiver())).transaction;
      assert.ok(signatures[0]);
      const nobodySent = lab.connection.confirmTransaction(
        { signature: '1'.repeat(64), blockhash, lastValidBlockHeight },
        'processed',
      );
      await expireBlockhashes(lab.solana.rpcUrl);
      await assert.rejects(nobodySent, { name: 'TransactionExpiredBlockheightExceededError' });
    });
  });

  it('simulates and checks on the state of the requested commitment', async () => {
    const rich = Keypair.generate();
    await lab.connection.requestAirdrop(rich.publicKey, 10 ** 9);
    await lab.pay({ from: payer, to: rich.publicKey, amount: 5n });
    const instructions = await lab.payment({ from: rich, to: receiver(), amount: 5n });
    const transaction = await lab.signed(rich, instructions);
    const simulated = async (commitment: Commitment) => {
      const { value } = await lab.connection.simulateTransaction(transaction, {
        commitment,
        replaceRecentBlockhash: true,
      });
      return value.err;
    };
    assert.equal(await simulated('processed'), null);
    assert.equal(await simulated('finalized'), 'AccountNotFound');
    lab.solana.advanceSlots(5);
    assert.equal(await simulated('finalized'), null);
    assert.equal(await lab.balance(rich.publicKey), 5n);
  });
});
