import { xdr } from '@stellar/stellar-sdk';
import { accountKey } from '../ledger/keys.ts';
import { bigintOf, int64 } from '../xdr.ts';
import { type Applied, applied, type OperationContext, type OperationOf } from './operation.ts';

/** Skips sequence numbers, so that transactions which use them can never land. */
export function bumpSequence({ view, source }: OperationContext, operation: OperationOf<'bumpSequence'>): Applied {
  const bumpTo = BigInt(operation.bumpTo);
  const now = view.get(accountKey(source))?.account().seqNum();
  if (now && bumpTo > bigintOf(now)) {
    view.change(accountKey(source), (data) => data.account().seqNum(int64(bumpTo)));
  }
  return applied(xdr.OperationResultTr.bumpSequence(xdr.BumpSequenceResult.bumpSequenceSuccess()));
}
