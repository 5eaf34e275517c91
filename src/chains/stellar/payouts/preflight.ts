/** What is checked before anything is signed: a transfer that cannot be made is better refused here than failed on the chain. */
import { rpc as sdk, type Transaction } from '@stellar/stellar-sdk';
import { formatAmount } from '../../../../domain/money.ts';
import { memoProblem } from '../../../../domain/payment/memo.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import type { Holding } from '../accounts.ts';
import { type StellarFees, type StellarToken, stellarChain } from '../config.ts';
import { ask, malformed } from '../reads.ts';
import type { StellarNode } from '../rpc.ts';
import { obstacle } from './receivers.ts';

/** Lumens to hold, in multiples of the dearest outcome: one transfer and one replacement. */
const gasReserve = 2n;

/** @throws PayoutBlocked when the treasury holds less than the order's amount */
export function checkFloat({ trustline }: Holding, treasury: string, { token, amount }: TransferOrder): void {
  const held = trustline?.authorized ? trustline.spendable : 0n;
  if (held >= amount) return;
  const [need, have] = [formatAmount(amount, token.decimals), formatAmount(held, token.decimals)];
  const message = `the treasury ${treasury} holds ${have} ${token.symbol} on Stellar, ${need} are to be paid: top it up`;
  throw new PayoutBlocked('float', message);
}

/** @throws PayoutBlocked when the treasury's lumens above its reserve cannot pay the fee, twice */
export function checkLumens({ account }: Holding, treasury: string, fee: bigint): void {
  const held = account?.spendable ?? 0n;
  if (held >= fee * gasReserve) return;
  const message = `the treasury ${treasury} can spend ${held} stroops on fees, a transfer needs ${fee * gasReserve}: send it lumens`;
  throw new PayoutBlocked('gas', message);
}

/** @throws PayoutBlocked when the receiver cannot take the amount, or the transfer to it cannot carry the memo */
export async function checkReceiver(
  node: StellarNode,
  token: StellarToken,
  { receiver, receiverMemo, amount }: TransferOrder,
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
