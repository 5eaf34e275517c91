/** Checks and price before a signature: a transfer is better refused here than failed on the chain. */
import { rpc as sdk, type Transaction } from '@stellar/stellar-sdk';
import { memoProblem } from '../../../../domain/chains.ts';
import { type Refusal, refuse } from '../../../../domain/decider.ts';
import { formatAmount, isCoin } from '../../../../domain/money.ts';
import type { AssetRef, SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { higher } from '../../../lib/concurrency.ts';
import type { CheckedReceiver } from '../../money/receiverCheck.ts';
import { ask, object, text, whole } from '../../node/jsonRpc.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { holdingOf } from '../accounts.ts';
import { accountOf } from '../addresses.ts';
import { type StellarFees, stellarChain } from '../config.ts';
import type { StellarNode } from '../rpc.ts';
import { assetOf } from '../tokens.ts';

/** @throws PayoutBlocked if the receiver cannot receive the amount, or the transfer cannot carry the memo */
export async function checkReceiver(
  node: StellarNode,
  { token, receiver, receiverMemo, amount }: TransferOrder,
): Promise<void> {
  const why =
    (receiverMemo === null ? undefined : memoProblem(stellarChain(), receiver, receiverMemo)) ??
    (await obstacle(node, token, { address: receiver, memo: receiverMemo }, amount))?.message;
  if (why !== undefined) throw new PayoutBlocked('refusedByToken', why);
}

/**
 * Returns why a receiver cannot receive an amount now, and what it must do; undefined if it can. An account needs a trustline for the
 * token, a contract does not. An account that requires memos (SEP-29) shares its address with many users: without a memo the owner would be
 * unknown. An M address includes its memo.
 * @param amount in smallest units; null checks for any room at all
 * @throws RpcFailed
 */
export async function obstacle(
  node: StellarNode,
  token: AssetRef,
  { address, memo }: CheckedReceiver,
  amount: bigint | null,
): Promise<Refusal | undefined> {
  const account = accountOf(address);
  if (account === undefined) return undefined;
  if (isCoin(token)) return coinObstacle(node, address, account, memo);
  const { symbol, decimals } = token;
  const asset = assetOf(token);
  const holding = await holdingOf(node, account, [asset]);
  const [trustline] = holding.trustlines;
  const unfit = (why: string): Refusal => refuse('invalidRequest', why);
  if (!holding.account)
    return unfit(
      `the account ${account} does not exist on Stellar: fund it with lumens, add a trustline for ${symbol}`,
    );
  if (!trustline)
    return unfit(`the account ${account} has no trustline for ${symbol} of ${asset.getIssuer()}: add one first`);
  if (!trustline.authorized)
    return unfit(`the issuer of ${symbol} does not let ${account} hold it: use another account`);
  if (holding.memoRequired && memo === null && address === account) return memoMissing(account);
  if (trustline.room >= (amount ?? 1n)) return undefined;
  const room = formatAmount(trustline.room, decimals);
  return unfit(`the trustline of ${account} has room for ${room} ${symbol} only: raise its limit`);
}

/** An existing account accepts any number of lumens. */
async function coinObstacle(
  node: StellarNode,
  address: string,
  account: string,
  memo: string | null,
): Promise<Refusal | undefined> {
  const { account: found, memoRequired } = await holdingOf(node, account, []);
  if (!found) return refuse('invalidRequest', `the account ${account} does not exist on Stellar: create it first`);
  return memoRequired && memo === null && address === account ? memoMissing(account) : undefined;
}

const memoMissing = (account: string): Refusal =>
  refuse(
    'memoRequired',
    `the account ${account} takes nothing without a memo (SEP-29): give the memo that it told you`,
  );

export interface Rehearsed {
  /** The call with its footprint, resources and authorizations. */
  readonly assembled: Transaction;
  /** Stroops. */
  readonly resources: bigint;
}

/**
 * Simulates a contract call on the node.
 * @throws PayoutBlocked if it would fail or costs more than the configured maximum
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

/** Nodes replace a pending transaction only for ten times its offer. */
const replacementFactor = 10n;

/**
 * Current offer per operation: the recent 90th percentile, at least our minimum. The network charges only what is needed.
 * @throws PayoutBlocked if the network demands more than the configured maximum
 */
export async function freshInclusion(
  node: StellarNode,
  kind: 'inclusionFee' | 'sorobanInclusionFee',
  fees: StellarFees,
): Promise<bigint> {
  const p90 = await ask(node, 'getFeeStats', {}, (answer) => whole(object(object(answer)[kind])['p90']));
  return within(higher(fees.inclusion, p90), fees);
}

/** An offer that replaces an attempt and is at least the current one. @throws PayoutBlocked above the configured maximum */
export const inclusionToReplace = ({ fee }: Pick<SignedAttempt, 'fee'>, fresh: bigint, fees: StellarFees): bigint =>
  within(higher(BigInt(fee['inclusion'] ?? '0') * replacementFactor, fresh), fees);

function within(inclusion: bigint, { inclusionMax }: StellarFees): bigint {
  if (inclusion <= inclusionMax) return inclusion;
  const message = `the network asks for ${inclusion} stroops per operation, the limit is ${inclusionMax}: wait, or raise the limit`;
  throw new PayoutBlocked('gas', message);
}
