/** Results as XDR: cost of a transaction and outcome of each operation. */
import { type Transaction, xdr } from '@stellar/stellar-sdk';
import { baseFee } from '../ledger/network.ts';
import { int64 } from '../xdr.ts';
import type { Submitted } from './envelope.ts';
import type { Refusal } from './validity.ts';

const result = (fee: bigint, outcome: xdr.TransactionResultResult): xdr.TransactionResult =>
  new xdr.TransactionResult({ feeCharged: int64(fee), result: outcome, ext: new xdr.TransactionResultExt(0) });

/** For a transaction that a node refused. */
export function refusedResult(
  { transaction }: Pick<Submitted, 'transaction'>,
  { verdict, feeCharged, isInner = false }: Refusal,
): xdr.TransactionResult {
  if (!isInner) {
    const outcomes = xdr.TransactionResultResult;
    return result(feeCharged, typeof verdict === 'string' ? outcomes[verdict]() : outcomes.txFailed([...verdict]));
  }
  const outcomes = xdr.InnerTransactionResultResult;
  const inner = typeof verdict === 'string' ? outcomes[verdict]() : outcomes.txFailed([...verdict]);
  return result(feeCharged, xdr.TransactionResultResult.txFeeBumpInnerFailed(pairOf(transaction, 0n, inner)));
}

function pairOf(
  transaction: Transaction,
  feeCharged: bigint,
  outcome: xdr.InnerTransactionResultResult,
): xdr.InnerTransactionResultPair {
  return new xdr.InnerTransactionResultPair({
    transactionHash: transaction.hash(),
    result: new xdr.InnerTransactionResult({
      feeCharged: int64(feeCharged),
      result: outcome,
      ext: new xdr.InnerTransactionResultExt(0),
    }),
  });
}

/** For a transaction in a ledger. */
export function appliedResult(
  { feeBump, transaction }: Submitted,
  fee: bigint,
  succeeded: boolean,
  operations: xdr.OperationResult[],
): xdr.TransactionResult {
  const { txSuccess, txFailed, txFeeBumpInnerSuccess, txFeeBumpInnerFailed } = xdr.TransactionResultResult;
  if (!feeBump) return result(fee, succeeded ? txSuccess(operations) : txFailed(operations));
  const outcomes = xdr.InnerTransactionResultResult;
  // The inner result contains the cost without the fee bump.
  const innerFee = fee - baseFee;
  const inner = succeeded ? outcomes.txSuccess(operations) : outcomes.txFailed(operations);
  const pair = pairOf(transaction, innerFee, inner);
  return result(fee, succeeded ? txFeeBumpInnerSuccess(pair) : txFeeBumpInnerFailed(pair));
}
