/** Whether a transaction may go into the next ledger: what a node checks before it takes one. */
import { xdr } from '@stellar/stellar-sdk';
import { minimumBalance } from '../ledger/balances.ts';
import { accountKey } from '../ledger/entries.ts';
import { baseFee, type LedgerHead } from '../ledger/network.ts';
import type { LedgerState } from '../ledger/state.ts';
import { thresholdOf } from '../operations/apply.ts';
import { plainAccount } from '../operations/operation.ts';
import { bigintOf } from '../xdr.ts';
import type { Submitted } from './envelope.ts';
import { checkSignatures, type SignatureChecker } from './signatures.ts';

/** Result codes without details. */
export type InvalidCode =
  | 'txTooEarly'
  | 'txTooLate'
  | 'txMissingOperation'
  | 'txBadSeq'
  | 'txBadAuth'
  | 'txInsufficientBalance'
  | 'txNoAccount'
  | 'txInsufficientFee'
  | 'txBadAuthExtra'
  | 'txNotSupported'
  | 'txSorobanInvalid';

/** Undefined: valid. An operation that its account did not sign gives the results of all operations. */
export type Verdict = InvalidCode | readonly xdr.OperationResult[] | undefined;

/** @param ledger the one that it would go into */
export function validate(submitted: Submitted, state: LedgerState, ledger: LedgerHead): Verdict {
  const { transaction } = submitted;
  return (
    unfit(submitted) ??
    untimely(submitted, ledger) ??
    checkFee(submitted) ??
    checkSource(submitted, state) ??
    checkOperationSources(submitted, state, checkSignatures(transaction.hash(), transaction.signatures)) ??
    checkFeePayer(submitted, state)
  );
}

function unfit({ transaction, sorobanData }: Submitted): Verdict {
  const { operations } = transaction;
  if (operations.length === 0) return 'txMissingOperation';
  const contractCalls = operations.filter(({ type }) => type === 'invokeHostFunction');
  if (contractCalls.length > 0 && (operations.length > 1 || !sorobanData)) return 'txSorobanInvalid';
  const { minAccountSequence, minAccountSequenceAge, minAccountSequenceLedgerGap, extraSigners } = transaction;
  const unmodelled = [minAccountSequence, minAccountSequenceAge, minAccountSequenceLedgerGap].some(Boolean);
  return unmodelled || extraSigners?.length ? 'txNotSupported' : undefined;
}

function untimely({ transaction: { timeBounds, ledgerBounds } }: Submitted, ledger: LedgerHead): Verdict {
  const { minTime, maxTime } = { minTime: Number(timeBounds?.minTime ?? 0), maxTime: Number(timeBounds?.maxTime ?? 0) };
  if (minTime > ledger.closedAt_s || (ledgerBounds && ledgerBounds.minLedger > ledger.sequence)) return 'txTooEarly';
  if (maxTime !== 0 && maxTime < ledger.closedAt_s) return 'txTooLate';
  return ledgerBounds && ledgerBounds.maxLedger !== 0 && ledgerBounds.maxLedger <= ledger.sequence
    ? 'txTooLate'
    : undefined;
}

/** What the transaction costs, in stroops. Fees never rise here, because ledgers are never full. */
export const feeOf = ({ operationsPaid, sorobanData }: Submitted): bigint =>
  baseFee * BigInt(operationsPaid) + resourceFeeOf(sorobanData);

export const resourceFeeOf = (data: xdr.SorobanTransactionData | undefined): bigint =>
  data ? bigintOf(data.resourceFee()) : 0n;

function checkFee(submitted: Submitted): Verdict {
  const { feeBump, transaction, feeMax, operationsPaid, sorobanData } = submitted;
  if (feeMax < feeOf(submitted)) return 'txInsufficientFee';
  if (!feeBump) return undefined;
  // A fee bump must offer no less for each operation than the transaction within it.
  const inner = BigInt(transaction.fee) - resourceFeeOf(sorobanData);
  const offered = (feeMax - resourceFeeOf(sorobanData)) * BigInt(transaction.operations.length);
  return offered < inner * BigInt(operationsPaid) ? 'txInsufficientFee' : undefined;
}

function checkSource({ source, transaction }: Submitted, state: LedgerState): Verdict {
  const account = state.get(accountKey(source))?.data().account();
  if (!account) return 'txNoAccount';
  return BigInt(transaction.sequence) === bigintOf(account.seqNum()) + 1n ? undefined : 'txBadSeq';
}

function checkOperationSources(
  { transaction, source }: Submitted,
  state: LedgerState,
  signed: SignatureChecker,
): Verdict {
  const accountOf = (address: string) => state.get(accountKey(address))?.data().account();
  const own = accountOf(source);
  if (!own || !signed.suffice(own, 'low')) return 'txBadAuth';
  let unsigned = false;
  const results = transaction.operations.map((operation) => {
    const account = accountOf(operation.source ? plainAccount(operation.source) : source);
    const missing = account ? undefined : xdr.OperationResult.opNoAccount();
    const refused =
      account && !signed.suffice(account, thresholdOf(operation)) ? xdr.OperationResult.opBadAuth() : missing;
    unsigned ||= refused !== undefined;
    return refused ?? xdr.OperationResult.opNotSupported();
  });
  if (unsigned) return results;
  return signed.allUsed() ? undefined : 'txBadAuthExtra';
}

function checkFeePayer(submitted: Submitted, state: LedgerState): Verdict {
  const { feeBump, feePayer } = submitted;
  const account = state.get(accountKey(feePayer))?.data().account();
  if (!account) return 'txNoAccount';
  if (feeBump) {
    const signed = checkSignatures(feeBump.hash(), feeBump.signatures);
    if (!signed.suffice(account, 'low')) return 'txBadAuth';
    if (!signed.allUsed()) return 'txBadAuthExtra';
  }
  const spendable = bigintOf(account.balance()) - minimumBalance(account.numSubEntries());
  return spendable < feeOf(submitted) ? 'txInsufficientBalance' : undefined;
}
