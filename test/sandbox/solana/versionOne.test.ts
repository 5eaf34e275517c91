import assert from 'node:assert/strict';
import { ComputeBudgetProgram, Keypair, type PublicKey, SystemProgram } from 'solana-web3-v1';
import { signedAsVersionOne } from '../../../sandbox/solana/versionOne.ts';
import { type SolanaLab, solanaLab, tokenAccount } from '../../support/solana.ts';

const newest = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 };

interface Told {
  readonly version: unknown;
  readonly meta: { readonly err: unknown; readonly fee: number; readonly postTokenBalances: readonly unknown[] };
  readonly transaction: { readonly message: Readonly<Record<string, unknown>> & { readonly accountKeys: string[] } };
}

describe('local Solana: transactions of version 1', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
  });
  after(() => lab.stop());
  const receiver = () => Keypair.generate().publicKey;
  const pay = (to: PublicKey, amount = 5n) => lab.pay({ from: payer, to, amount, version: 1 });
  const told = async (signature: string, encoding = 'json') =>
    (await lab.call('getTransaction', signature, { ...newest, encoding })).result as Told;
  const blockhash = async () => (await lab.connection.getLatestBlockhash('processed')).blockhash;
  const lamports = (amount: number) =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: receiver(), lamports: amount });

  it('move money, and name all their accounts themselves', async () => {
    const to = receiver();
    const signature = await pay(to);
    lab.solana.advanceSlots();
    assert.equal(await lab.balance(to), 5n);
    const { version, meta, transaction } = await told(signature);
    assert.deepEqual([version, meta.err], [1, null]);
    assert.equal('addressTableLookups' in transaction.message, false);
    assert.ok(transaction.message.accountKeys.includes(String(await tokenAccount(to))));
    assert.deepEqual(transaction.message['transactionConfig'], {
      ...{ computeUnitLimit: 200_000, heapSize: null, loadedAccountsDataSizeLimit: 4_194_304, priorityFee: null },
    });
    assert.equal((await told(signature, 'jsonParsed')).version, 1);
  });

  it('are returned only on request, in blocks too', async () => {
    const signature = await pay(receiver());
    lab.solana.advanceSlots();
    const slot = lab.solana.chain.history.find(signature)?.slot;
    for (const maxSupportedTransactionVersion of [undefined, 0]) {
      const asked = { commitment: 'confirmed', maxSupportedTransactionVersion };
      for (const { error } of [
        await lab.call('getTransaction', signature, asked),
        await lab.call('getBlock', slot, asked),
      ]) {
        assert.equal(error?.code, -32015);
        assert.match(error?.message ?? '', /Transaction version \(1\) is not supported by the requesting client/);
      }
      const { result } = await lab.call('getBlock', slot, { ...asked, transactionDetails: 'none' });
      assert.ok(result);
    }
    assert.ok((await lab.call('getBlock', slot, newest)).result);
  });

  it('pay for their priority in whole, and have only the requested units', async () => {
    const limits = { computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1_000_000 };
    const send = async (budget: object) =>
      lab.connection.sendRawTransaction(
        await signedAsVersionOne(payer, [lamports(1_000_000)], await blockhash(), budget),
        { skipPreflight: true },
      );
    const paid = await send({ ...limits, priorityFeeLamports: 777n });
    const poor = await send({ loadedAccountsDataSizeLimit: 1_000_000 });
    lab.solana.advanceSlots();
    assert.deepEqual([(await told(paid)).meta.fee, (await told(paid)).meta.err], [5_777, null]);
    assert.notEqual((await told(poor)).meta.err, null);
  });

  it('may be larger than others: up to 4,096 bytes', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => lamports(1_000_000 + n));
    const bytes = await signedAsVersionOne(payer, many(40), await blockhash());
    assert.ok(bytes.length > 1_232);
    await lab.connection.sendRawTransaction(bytes);
    const noted = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 });
    noted.data = Buffer.alloc(4_096);
    const larger = await signedAsVersionOne(payer, [noted], await blockhash());
    const { error } = await lab.call('sendTransaction', Buffer.from(larger).toString('base64'), { encoding: 'base64' });
    assert.match(error?.message ?? '', /too large/);
  });

  it('can be tried before they are sent', async () => {
    const bytes = await signedAsVersionOne(
      payer,
      await lab.payment({ from: payer, to: receiver(), amount: 1n }),
      await blockhash(),
    );
    const { result } = await lab.call('simulateTransaction', Buffer.from(bytes).toString('base64'), {
      ...{ encoding: 'base64', commitment: 'processed' },
    });
    const { err, unitsConsumed } = (result as { value: { err: unknown; unitsConsumed: number } }).value;
    assert.equal(err, null);
    assert.ok(unitsConsumed > 1_000);
  });
});
