/** Tokens at a deposit that no payin is read from: the service notifies an operator and records nothing. */
import assert from 'node:assert/strict';
import { Keypair, PublicKey, SystemProgram, Transaction, TransactionInstruction } from 'solana-web3-v1';
import { plantMint } from '../../../../sandbox/solana/controls.ts';
import { endowToken } from '../../../../sandbox/solana/endow.ts';
import { tokenAccountOf, tokenProgram } from '../../../../src/chains/solana/tokenProgram.ts';
import { tokenAccount, usdcMint } from '../../../support/solana.ts';
import { Refusal, startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { eachWithDeposit, type Watcher, watching } from './watching.ts';

const foreign = '2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1';
const accountRent = 2_039_280;

describe('tokens at a deposit that are no payin', () => {
  const own = eachWithDeposit();
  let watcher: Watcher;
  beforeEach(() => {
    watcher = watching(own.world, []);
    watcher.late.push(own.deposit.toBase58());
  });

  const sendForeign = async (amount: bigint) => {
    await plantMint(own.world.solana.rpcUrl, foreign, 6);
    await endowToken(own.world.solana.rpcUrl, own.deposit.toBase58(), { mint: foreign, decimals: 6, amount });
    own.world.settle(own.world.solana.chain.finality.finalized_slots);
  };

  /** Pays USDC into a token account of the deposit's owner that is not the associated one. */
  async function payBeside(amount: bigint): Promise<{ readonly account: string; readonly txHash: string }> {
    const { connection } = own.world.lab;
    const account = Keypair.generate();
    const program = new PublicKey(tokenProgram);
    const data = Buffer.alloc(9);
    data.writeUInt8(3);
    data.writeBigUInt64LE(amount, 1);
    const source = await tokenAccount(own.payer.publicKey);
    const keyOf = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({ pubkey, isWritable, isSigner });
    const open = [
      SystemProgram.createAccount({
        fromPubkey: own.payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports: accountRent,
        space: 165,
        programId: program,
      }),
      new TransactionInstruction({
        programId: program,
        keys: [keyOf(account.publicKey, true), keyOf(usdcMint)],
        data: Buffer.concat([Uint8Array.of(18), own.deposit.toBuffer()]),
      }),
      new TransactionInstruction({
        programId: program,
        keys: [keyOf(source, true), keyOf(account.publicKey, true), keyOf(own.payer.publicKey, false, true)],
        data,
      }),
    ];
    const transaction = new Transaction().add(...open);
    transaction.recentBlockhash = (await connection.getLatestBlockhash('processed')).blockhash;
    transaction.feePayer = own.payer.publicKey;
    transaction.sign(own.payer, account);
    const txHash = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
    own.world.settle(own.world.solana.chain.finality.finalized_slots);
    return { account: account.publicKey.toBase58(), txHash };
  }

  it('are reported when their token is outside the catalogue, and not again within the hour', async () => {
    await sendForeign(7_000000n);
    const found = await watcher.poll('final');
    const owner = own.deposit.toBase58();
    assert.deepEqual(found?.stray, [
      { owner, account: tokenAccountOf(owner, foreign), token: foreign, amount: 7_000000n },
    ]);
    assert.deepEqual(found?.logs, []);
    own.world.solana.advanceSlots(300);
    assert.deepEqual((await watcher.poll('final'))?.stray ?? [], []);
    own.world.solana.advanceSlots(9_000);
    assert.equal((await watcher.poll('final'))?.stray?.length, 1);
  });

  it('are reported when they are in another token account of the deposit’s owner; the transaction has no payin', async () => {
    const { account, txHash } = await payBeside(3_000000n);
    const found = await watcher.poll('final');
    const owner = own.deposit.toBase58();
    assert.deepEqual(found?.stray, [{ owner, account, token: usdcMint.toBase58(), amount: 3_000000n }]);
    assert.deepEqual(found?.logs, []);
    assert.equal(await watcher.ingester.hasSucceeded?.(txHash, signal), true);
    assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
  });

  it('are not reported for a deposit that was paid as agreed', async () => {
    await own.pay(5n);
    own.world.settle();
    const found = await watcher.poll('final');
    assert.deepEqual([found?.stray, found?.logs.length], [[], 1]);
  });

  it('hold up nothing where a node does not list them', async () => {
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      if (method === 'getTokenAccountsByOwner') throw new Refusal(-32601, 'Method not found');
      return forward(method, params);
    });
    const limited = watching(own.world, [], [node.url]);
    limited.late.push(own.deposit.toBase58());
    await own.pay(5n);
    own.world.settle();
    assert.equal((await limited.poll('final'))?.logs.length, 1);
  });
});
