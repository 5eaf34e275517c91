/** A payer's authorization entry on a real Stellar network: simulated, sent and proven by its nodes. */
import assert from 'node:assert/strict';
import { Networks, rpc } from '@stellar/stellar-sdk';
import type { Sandbox } from '../../support/sandbox.ts';
import { entryTransaction, signedTransfer, type TransferTerms } from '../../support/stellarRelays.ts';
import { ask402, encodedHeader } from '../../support/x402.ts';
import { orderTea, untilRelayed } from './tea.ts';

/** The payer pays no fee. Their payment is settled once; others are refused before they cost one. */
export async function payByStellarRelay(sandbox: Sandbox): Promise<void> {
  const payment = await orderTea(sandbox, 1500);
  const [payer, poor] = [await sandbox.stellarAccount('10'), await sandbox.stellarAccount('1')];
  const server = new rpc.Server(sandbox.file().chains['1500']?.rpcUrl ?? '', { allowHttp: true });
  const lumens = async () => (await server.getAccountEntry(payer.publicKey())).balance().toString();
  const before = await lumens();
  const [bill] = (await ask402(payment.paymentLink)).required.accepts;
  const headerOf = async (by = payer, altered: Partial<TransferTerms> = {}) => {
    const { sequence } = await server.getLatestLedger();
    const { payTo: to, asset: contract, amount } = bill;
    const validUntil = sequence + 1_000;
    const terms = { contract, to, amount: BigInt(amount), passphrase: Networks.PUBLIC, validUntil, ...altered };
    const transaction = entryTransaction((await signedTransfer(by, terms)).entry);
    return encodedHeader({ x402Version: 2, accepted: bill, payload: { transaction } });
  };
  const faultOf = async (header: string) => (await ask402(payment.paymentLink, header)).response.errorReason;
  assert.equal(await faultOf(await headerOf(poor)), 'invalid_exact_stellar_insufficient_balance');
  const { sequence } = await server.getLatestLedger();
  assert.equal(
    await faultOf(await headerOf(payer, { validUntil: sequence })),
    'invalid_exact_stellar_payload_authorization_valid_before',
  );
  const header = await headerOf();
  const answers = await Promise.all([1, 2].map(() => ask402(payment.paymentLink, header)));
  for (const { status, response, body } of answers) {
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([response.success, response.payer], [true, payer.publicKey()]);
  }
  const done = await sandbox.follow(payment.id);
  assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', answers[0]?.response.transaction]);
  assert.equal(await lumens(), before);
  assert.equal(await sandbox.balance(1500, 'USDC', payer.publicKey()), 10_0000000n - BigInt(bill.amount));
  await untilRelayed(sandbox, 1500);
}
