/** Results as XDR: what a transaction cost and how each operation went. */
import { xdr } from '@stellar/stellar-sdk';
import { int64 } from '../xdr.ts';
import type { Submitted } from './envelope.ts';
import type { Verdict } from './validity.ts';

const result = (fee: bigint, outcome: xdr.TransactionResultResult): xdr.TransactionResult =>
  new xdr.TransactionResult({ feeCharged: int64(fee), result: outcome, ext: new xdr.TransactionResultExt(0) });

/** Of a transaction that a node refused to take. */
export function refusedResult(verdict: NonNullable<Verdict>): xdr.TransactionResult {
  const isCode = typeof verdict === 'string';
  return result(
    0n,
    isCode ? xdr.TransactionResultResult[verdict]() : xdr.TransactionResultResult.txFailed([...verdict]),
  );
}

/** Of a transaction that a ledger holds. */
export function appliedResult(
  { feeBump, transaction }: Submitted,
  fee: bigint,
  succeeded: boolean,
  operations: xdr.OperationResult[],
): xdr.TransactionResult {
  const { txSuccess, txFailed, txFeeBumpInnerSuccess, txFeeBumpInnerFailed } = xdr.TransactionResultResult;
  if (!feeBump) return result(fee, succeeded ? txSuccess(operations) : txFailed(operations));
  const inner = xdr.InnerTransactionResultResult;
  const pair = new xdr.InnerTransactionResultPair({
    transactionHash: transaction.hash(),
    result: new xdr.InnerTransactionResult({
      feeCharged: int64(0n),
      result: succeeded ? inner.txSuccess(operations) : inner.txFailed(operations),
      ext: new xdr.InnerTransactionResultExt(0),
    }),
  });
  return result(fee, succeeded ? txFeeBumpInnerSuccess(pair) : txFeeBumpInnerFailed(pair));
}
