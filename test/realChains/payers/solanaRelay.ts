/** A payer's transaction on a real Solana: the deposit's account is opened, and the payer's money follows within the life of its blockhash. */
import assert from 'node:assert/strict';
import { Keypair, PublicKey } from 'solana-web3-v1';
import { endowOnAgave } from '../../../sandbox/realNodes/agave.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { solanaClient } from '../../support/solana.ts';
import { type PaidByProgram, programTransaction, untilSettled } from '../../support/solanaRelays.ts';
import { ask402, headerOf } from '../../support/x402.ts';
import { orderTea, untilRelayed } from './tea.ts';

/** The payer has no SOL. Their payment is settled once; others are refused before they cost anything. */
export async function payBySolanaRelay(sandbox: Sandbox): Promise<void> {
  const { chains } = sandbox.file();
  const rpcUrl = chains['501']?.rpcUrl ?? '';
  const client = solanaClient(rpcUrl);
  const payment = await orderTea(sandbox, 501);
  const [payer, poor] = [Keypair.generate(), Keypair.generate()];
  const endow = ({ publicKey }: Keypair, usdc: bigint) => endowOnAgave(rpcUrl, publicKey.toBase58(), { usdc });
  await Promise.all([endow(payer, 10_000000n), endow(poor, 1_000000n)]);
  await sandbox.until(async () => (await client.balance(poor.publicKey, 'finalized').catch(() => null)) === 1_000000n);
  const [bill] = (await ask402(payment.paymentLink)).required.accepts;
  const sign = async (by = payer, altered: Partial<PaidByProgram> = {}) => {
    const { blockhash } = await client.connection.getLatestBlockhash('finalized');
    const terms = { feePayer: bill.extra.feePayer, to: new PublicKey(bill.payTo), amount: BigInt(bill.amount) };
    return programTransaction({ payer: by, ...terms, blockhash, ...altered });
  };
  const hand = (transaction: string) => ask402(payment.paymentLink, headerOf(bill, { transaction }));
  assert.equal((await hand(await sign(poor))).response.errorReason, 'invalid_exact_svm_insufficient_balance');
  const answers = await untilSettled(
    () => sign(),
    (transaction) => Promise.all([1, 2].map(() => hand(transaction))),
  );
  for (const { status, response, body } of answers) {
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([response.success, response.payer], [true, payer.publicKey.toBase58()]);
  }
  const done = await sandbox.follow(payment.id);
  assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', answers[0]?.response.transaction]);
  assert.equal(await client.connection.getBalance(payer.publicKey), 0);
  assert.equal(await client.balance(payer.publicKey, 'finalized'), 10_000000n - BigInt(bill.amount));
  await untilRelayed(sandbox, 501);
}
