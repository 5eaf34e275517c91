/** What is checked before anything is signed: a transfer that cannot be made is better refused here than failed on the chain. */
import { rpc as sdk, type Transaction } from '@stellar/stellar-sdk';
import { memoProblem } from '../../../../domain/chains.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { type StellarFees, stellarChain } from '../config.ts';
import { ask, malformed } from '../reads.ts';
import type { StellarNode } from '../rpc.ts';
import { obstacle } from './receivers.ts';

/** @throws PayoutBlocked when the receiver cannot take the amount, or the transfer to it cannot carry the memo */
export async function checkReceiver(
  node: StellarNode,
  { token, receiver, receiverMemo, amount }: TransferOrder,
): Promise<void> {
  const why =
    (receiverMemo === null ? undefined : memoProblem(stellarChain(), receiver, receiverMemo)) ??
    (await obstacle(node, token, receiver, amount));
  if (why !== undefined) throw new PayoutBlocked('refusedByToken', why);
}

/**
 * Runs a contract call without sending it, and fills in what it reads, writes, may use and must authorize.
 * @throws PayoutBlocked when it would fail or costs more than the configured maximum
 */
export async function rehearse(
  node: StellarNode,
  call: Transaction,
  { resourcesMax }: StellarFees,
): Promise<{ readonly assembled: Transaction; readonly resources: bigint }> {
  const method = 'simulateTransaction';
  const answer = await ask(node, method, { transaction: call.toEnvelope().toXDR('base64') });
  if (typeof answer['error'] === 'string') {
    const [first = ''] = answer['error'].split('\n');
    throw new PayoutBlocked('refusedByToken', `the transfer to the contract would fail: ${first.slice(0, 200)}`);
  }
  if (typeof answer['transactionData'] !== 'string') throw malformed(node, method, 'transactionData');
  const resources = BigInt(String(answer['minResourceFee']));
  if (resources > resourcesMax) {
    const message = `the transfer to the contract needs ${resources} stroops of resources, the limit is ${resourcesMax}`;
    throw new PayoutBlocked('gas', message);
  }
  const raw = answer as unknown as sdk.Api.RawSimulateTransactionResponse;
  return { assembled: sdk.assembleTransaction(call, raw as never).build(), resources };
}
