/** What is checked before anything is signed: a transfer that cannot be made is better refused here than failed on the chain. */
import { rpc as sdk, type Transaction } from '@stellar/stellar-sdk';
import { memoProblem } from '../../../../domain/chains.ts';
import { formatAmount } from '../../../../domain/money.ts';
import type { TokenRef } from '../../../../domain/payment/events.ts';
import { ask, object, text, whole } from '../../node/jsonRpc.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { holdingOf } from '../accounts.ts';
import { accountOf } from '../addresses.ts';
import { type StellarFees, stellarChain } from '../config.ts';
import type { StellarNode } from '../rpc.ts';
import { assetOf } from '../tokens.ts';

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
 * Why a receiver cannot take an amount now, and what it must do; undefined when it can. An account needs a trustline for the token, a
 * contract needs none.
 * @param amount in smallest units; null asks for any room at all
 * @throws RpcFailed
 */
export async function obstacle(
  node: StellarNode,
  token: TokenRef,
  receiver: string,
  amount: bigint | null,
): Promise<string | undefined> {
  const account = accountOf(receiver);
  if (account === undefined) return undefined;
  const { symbol, decimals } = token;
  const asset = assetOf(token);
  const holding = await holdingOf(node, account, [asset]);
  const [trustline] = holding.trustlines;
  if (!holding.account)
    return `the account ${account} does not exist on Stellar: fund it with lumens and add a trustline for ${symbol}`;
  if (!trustline) return `the account ${account} has no trustline for ${symbol} of ${asset.getIssuer()}: add one first`;
  if (!trustline.authorized) return `the issuer of ${symbol} does not let ${account} hold it: use another account`;
  if (trustline.room >= (amount ?? 1n)) return undefined;
  const room = formatAmount(trustline.room, decimals);
  return `the trustline of ${account} has room for ${room} ${symbol} only: raise its limit`;
}

export interface Rehearsed {
  /** The call with what it reads, writes, may use and must authorize. */
  readonly assembled: Transaction;
  /** Stroops. */
  readonly resources: bigint;
}

/**
 * Runs a contract call on the node without sending it.
 * @throws PayoutBlocked when it would fail or costs more than the configured maximum
 */
export async function rehearse(
  node: StellarNode,
  call: Transaction,
  { resourcesMax }: StellarFees,
): Promise<Rehearsed> {
  const envelope = call.toEnvelope().toXDR('base64');
  const simulated = await ask(node, 'simulateTransaction', { transaction: envelope }, (answer) => {
    const { error, transactionData, minResourceFee } = object(answer);
    if (typeof error === 'string') return { error };
    text(transactionData);
    return { answer, resources: whole(minResourceFee) };
  });
  if (simulated.error !== undefined) {
    const [first = ''] = simulated.error.split('\n');
    throw new PayoutBlocked('refusedByToken', `the transfer to the contract would fail: ${first.slice(0, 200)}`);
  }
  const { answer, resources } = simulated;
  if (resources > resourcesMax) {
    const message = `the transfer to the contract needs ${resources} stroops of resources, the limit is ${resourcesMax}`;
    throw new PayoutBlocked('gas', message);
  }
  const raw = answer as sdk.Api.RawSimulateTransactionResponse;
  return { assembled: sdk.assembleTransaction(call, raw as never).build(), resources };
}
