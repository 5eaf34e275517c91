/** Checks that a transaction may be in the next ledger, in the node's order. */
import { xdr } from '@stellar/stellar-sdk';
import { diagnosticError } from '../events.ts';
import { minimumBalance } from '../ledger/balances.ts';
import { accountKey } from '../ledger/entries.ts';
import { baseFee, type LedgerHead } from '../ledger/network.ts';
import type { LedgerState } from '../ledger/state.ts';
import { thresholdOf } from '../operations/apply.ts';
import { malformed, succeededResult } from '../operations/malformed.ts';
import { plainAccount } from '../operations/operation.ts';
import { nonRefundableFee } from '../operations/resourceFees.ts';
import { bigintOf, uint64 } from '../xdr.ts';
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
  | 'txMalformed'
  | 'txSorobanInvalid';

/** Reason of a node's refusal. */
export interface Refusal {
  /** Results of all operations, if one is malformed or not signed by its account. */
  readonly verdict: InvalidCode | readonly xdr.OperationResult[];
  /** The minimum cost of the transaction in stroops; 0 if the node does not compute it. */
  readonly feeCharged: bigint;
  /** True if the transaction within a fee bump is refused. */
  readonly isInner?: boolean;
  /** Diagnostics of a refused contract call. */
  readonly diagnostics?: readonly xdr.DiagnosticEvent[];
}

type Verdict = Refusal['verdict'] | undefined;

/** @param ledger that would contain it @returns undefined for a valid transaction */
export function validate(submitted: Submitted, state: LedgerState, ledger: LedgerHead): Refusal | undefined {
  const { feeBump, transaction } = submitted;
  const refusal = unfit(submitted);
  if (refusal) return refusal;
  const feeCharged = feeOf(submitted);
  const outer = feeBump ? checkFeeBump(submitted, state) : undefined;
  if (outer) return { verdict: outer, feeCharged };
  const verdict =
    untimely(submitted, ledger) ??
    (transaction.operations.length === 0 ? 'txMissingOperation' : undefined) ??
    checkFee(submitted) ??
    checkSource(submitted, state) ??
    checkOperations(submitted, state, checkSignatures(transaction.hash(), transaction.signatures));
  return verdict && { verdict, feeCharged, isInner: feeBump !== undefined };
}

/** Contract calls need resources, are single operations, and have no memo; other transactions declare no resources. */
function unfit(submitted: Submitted): Refusal | undefined {
  const { transaction, sorobanData, feeMax } = submitted;
  const { operations, memo, source } = transaction;
  const isCall = operations.some(({ type }) => type === 'invokeHostFunction');
  if (isCall !== (sorobanData !== undefined) || (isCall && operations.length > 1))
    return { verdict: 'txMalformed', feeCharged: 0n };
  if (sorobanData) {
    const declared = resourceFeeOf(sorobanData);
    if (declared > feeMax) return { verdict: 'txMalformed', feeCharged: 0n };
    if (memo.type !== 'none' || source !== plainAccount(source)) {
      const diagnostic = diagnosticError('Context', 'InvalidInput', [
        xdr.ScVal.scvString('non-source auth Soroban tx uses memo or muxed source account'),
      ]);
      return { verdict: 'txSorobanInvalid', feeCharged: 0n, diagnostics: [diagnostic] };
    }
    if (declared < nonRefundableFee) {
      const diagnostic = diagnosticError('Storage', 'ExceededLimit', [
        xdr.ScVal.scvString('transaction `sorobanData.resourceFee` is lower than the actual Soroban resource fee'),
        xdr.ScVal.scvU64(uint64(declared)),
        xdr.ScVal.scvU64(uint64(nonRefundableFee)),
      ]);
      return { verdict: 'txSorobanInvalid', feeCharged: feeOf(submitted), diagnostics: [diagnostic] };
    }
  }
  const { minAccountSequence, minAccountSequenceAge, minAccountSequenceLedgerGap, extraSigners } = transaction;
  const unmodelled = [minAccountSequence, minAccountSequenceAge, minAccountSequenceLedgerGap].some(Boolean);
  return unmodelled || extraSigners?.length ? { verdict: 'txNotSupported', feeCharged: 0n } : undefined;
}

function untimely({ transaction: { timeBounds, ledgerBounds } }: Submitted, ledger: LedgerHead): Verdict {
  const { minTime, maxTime } = { minTime: Number(timeBounds?.minTime ?? 0), maxTime: Number(timeBounds?.maxTime ?? 0) };
  if (minTime > ledger.closedAt_s || (ledgerBounds && ledgerBounds.minLedger > ledger.sequence)) return 'txTooEarly';
  if (maxTime !== 0 && maxTime < ledger.closedAt_s) return 'txTooLate';
  return ledgerBounds && ledgerBounds.maxLedger !== 0 && ledgerBounds.maxLedger <= ledger.sequence
    ? 'txTooLate'
    : undefined;
}

/**
 * Fee of the transaction in stroops; a contract call gets a part refunded. Fees never rise here, because ledgers are
 * never full. A transaction without operations costs as much as one with one operation.
 */
export const feeOf = ({ operationsPaid, sorobanData }: Submitted): bigint =>
  baseFee * BigInt(Math.max(1, operationsPaid)) + resourceFeeOf(sorobanData);

export const resourceFeeOf = (data: xdr.SorobanTransactionData | undefined): bigint =>
  data ? bigintOf(data.resourceFee()) : 0n;

function checkFee(submitted: Submitted): Verdict {
  if (submitted.feeBump) return undefined;
  return submitted.feeMax < feeOf(submitted) ? 'txInsufficientFee' : undefined;
}

function checkSource({ source, transaction }: Submitted, state: LedgerState): Verdict {
  const account = state.get(accountKey(source))?.data().account();
  if (!account) return 'txNoAccount';
  return BigInt(transaction.sequence) === bigintOf(account.seqNum()) + 1n ? undefined : 'txBadSeq';
}

function checkOperations(submitted: Submitted, state: LedgerState, signed: SignatureChecker): Verdict {
  const { transaction, source, feeBump } = submitted;
  const accountOf = (address: string) => state.get(accountKey(address))?.data().account();
  const own = accountOf(source);
  if (!own || !signed.suffice(own, 'low')) return 'txBadAuth';
  if (!feeBump && !canPay(submitted, own)) return 'txInsufficientBalance';
  let isRefused = false;
  const results = transaction.operations.map((operation) => {
    const address = operation.source ? plainAccount(operation.source) : source;
    const account = accountOf(address);
    const isSigned = account ? signed.suffice(account, thresholdOf(operation)) : signed.signedBy(address);
    const missing = account ? undefined : xdr.OperationResult.opNoAccount();
    const refused = isSigned ? (missing ?? malformed(operation, address)) : xdr.OperationResult.opBadAuth();
    isRefused ||= refused !== undefined;
    return refused ?? succeededResult(operation);
  });
  if (isRefused) return results;
  return signed.allUsed() ? undefined : 'txBadAuthExtra';
}

/** A fee bump must offer no less for each operation than the transaction within it, and its payer must sign it. */
function checkFeeBump(submitted: Submitted, state: LedgerState): Verdict {
  const { feeBump, feePayer, transaction, feeMax, operationsPaid, sorobanData } = submitted;
  if (!feeBump) return undefined;
  if (feeMax < feeOf(submitted)) return 'txInsufficientFee';
  const inner = BigInt(transaction.fee) - resourceFeeOf(sorobanData);
  const offered = (feeMax - resourceFeeOf(sorobanData)) * BigInt(transaction.operations.length);
  if (offered < inner * BigInt(operationsPaid)) return 'txInsufficientFee';
  const account = state.get(accountKey(feePayer))?.data().account();
  if (!account) return 'txNoAccount';
  const signed = checkSignatures(feeBump.hash(), feeBump.signatures);
  if (!signed.suffice(account, 'low')) return 'txBadAuth';
  if (!canPay(submitted, account)) return 'txInsufficientBalance';
  return signed.allUsed() ? undefined : 'txBadAuthExtra';
}

function canPay(submitted: Submitted, account: xdr.AccountEntry): boolean {
  return bigintOf(account.balance()) - minimumBalance(account.numSubEntries()) >= feeOf(submitted);
}
