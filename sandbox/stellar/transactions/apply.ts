/** Applies a valid transaction to the ledger: fee and sequence always, its operations all or none. */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { feeEvent } from '../events.ts';
import { accountKey, noteSequenceUse } from '../ledger/entries.ts';
import type { LedgerHead, Network } from '../ledger/network.ts';
import { entryChanges, type LedgerState } from '../ledger/state.ts';
import type { Change, View } from '../ledger/view.ts';
import { applyOperation } from '../operations/apply.ts';
import { type Applied, plainAccount } from '../operations/operation.ts';
import { nonRefundableFee, usedRefundableFee } from '../operations/resourceFees.ts';
import { base64, bigintOf, int64, noExtension } from '../xdr.ts';
import type { Submitted } from './envelope.ts';
import { appliedResult } from './results.ts';
import { feeOf, resourceFeeOf } from './validity.ts';

/** A transaction in the history. */
export interface TransactionRecord {
  readonly hash: string;
  readonly innerHash?: string;
  readonly ledger: number;
  /** Its number within the ledger, from 1. */
  readonly order: number;
  /** Unix seconds. */
  readonly createdAt_s: number;
  readonly succeeded: boolean;
  readonly envelopeXdr: string;
  readonly resultXdr: string;
  readonly resultMetaXdr: string;
}

export interface ApplyContext {
  readonly network: Network;
  /** The ledger that is being closed. */
  readonly ledger: LedgerHead;
  readonly state: LedgerState;
  readonly order: number;
}

export function applyTransaction(context: ApplyContext, submitted: Submitted): TransactionRecord {
  const { network, ledger, state, order } = context;
  const fee = feeOf(submitted);
  addLumens(context, submitted.feePayer, -fee);
  const before = useSequence(context, submitted);

  const view = state.view();
  const steps = submitted.transaction.operations.map((_, at) => applyStep(context, submitted, view, at));
  const succeeded = steps.every((step) => step.applied.succeeded);
  if (succeeded) state.apply(view.changes(), ledger.sequence);

  const refund = refundOf(submitted, succeeded);
  if (refund > 0n) addLumens(context, submitted.feePayer, refund);

  const results = steps.map((step) => step.applied.result);
  const lumens = Asset.native().contractId(network.passphrase);
  return {
    hash: submitted.hash,
    ...(submitted.innerHash && { innerHash: submitted.innerHash }),
    ledger: ledger.sequence,
    order,
    createdAt_s: ledger.closedAt_s,
    succeeded,
    envelopeXdr: submitted.envelopeXdr,
    resultXdr: base64(appliedResult(submitted, fee - refund, succeeded, results)),
    resultMetaXdr: base64(
      metaOf({
        before,
        steps,
        succeeded,
        fees: [
          feeEvent('before', lumens, submitted.feePayer, fee),
          ...(refund > 0n ? [feeEvent('after', lumens, submitted.feePayer, -refund)] : []),
        ],
        soroban: submitted.sorobanData && sorobanFees(succeeded),
        ledger,
      }),
    ),
  };
}

/** A transaction's metadata does not include fees and refunds. */
function addLumens({ state, ledger }: ApplyContext, account: string, amount: bigint): void {
  const view = state.view();
  view.change(accountKey(account), (data) =>
    data.account().balance(int64(bigintOf(data.account().balance()) + amount)),
  );
  state.apply(view.changes(), ledger.sequence);
}

/** Uses the sequence number. A fee bump's metadata also names its payer, unchanged. */
function useSequence({ state, ledger }: ApplyContext, submitted: Submitted): xdr.LedgerEntryChange[] {
  const { feeBump, feePayer, source, transaction } = submitted;
  const payer = feeBump ? unchanged(state, feePayer, ledger) : [];
  const view = state.view();
  view.change(accountKey(source), (data) => {
    data.account().seqNum(int64(BigInt(transaction.sequence)));
    noteSequenceUse(data.account(), ledger);
  });
  state.apply(view.changes(), ledger.sequence);
  return [...payer, ...entryChanges(view.changes(), ledger.sequence)];
}

function unchanged(state: LedgerState, account: string, ledger: LedgerHead): xdr.LedgerEntryChange[] {
  const after = state.get(accountKey(account))?.data();
  return entryChanges([{ key: accountKey(account), before: after, after }], ledger.sequence);
}

/** Refund of a contract call's fee: the unused part of the refundable fee. */
function refundOf({ sorobanData }: Submitted, succeeded: boolean): bigint {
  if (!sorobanData) return 0n;
  return resourceFeeOf(sorobanData) - nonRefundableFee - (succeeded ? usedRefundableFee : 0n);
}

const sorobanFees = (succeeded: boolean): xdr.SorobanTransactionMetaExtV1 =>
  new xdr.SorobanTransactionMetaExtV1({
    ext: noExtension(),
    totalNonRefundableResourceFeeCharged: int64(nonRefundableFee),
    totalRefundableResourceFeeCharged: int64(succeeded ? usedRefundableFee : 0n),
    rentFeeCharged: int64(0n),
  });

interface Step {
  readonly applied: Applied;
  readonly changes: readonly Change[];
}

function applyStep({ network, ledger }: ApplyContext, submitted: Submitted, view: View, at: number): Step {
  const { transaction, sorobanData } = submitted;
  const operation = transaction.operations[at];
  if (!operation) throw new Error(`no operation ${at} in transaction ${submitted.hash}`);
  const own = view.child();
  const source = plainAccount(operation.source ?? transaction.source);
  const context = { network, ledger, view: own, source, transaction, sorobanData };
  const applied = applyOperation(context, operation);
  const changes = applied.succeeded ? own.changes() : [];
  if (applied.succeeded) own.commit();
  return { applied, changes };
}

interface Meta {
  readonly before: xdr.LedgerEntryChange[];
  readonly steps: readonly Step[];
  readonly succeeded: boolean;
  readonly fees: xdr.TransactionEvent[];
  readonly soroban: xdr.SorobanTransactionMetaExtV1 | undefined;
  readonly ledger: LedgerHead;
}

/** The metadata of a failed transaction has no operations. */
function metaOf({ before, steps, succeeded, fees, soroban, ledger }: Meta): xdr.TransactionMeta {
  const returnValue = succeeded ? (steps[0]?.applied.value ?? null) : null;
  const applied = succeeded ? steps : [];
  return new xdr.TransactionMeta(
    4,
    new xdr.TransactionMetaV4({
      ext: noExtension(),
      txChangesBefore: before,
      operations: applied.map(
        ({ applied: { events }, changes }) =>
          new xdr.OperationMetaV2({
            ext: noExtension(),
            changes: entryChanges(changes, ledger.sequence),
            events: [...events],
          }),
      ),
      txChangesAfter: [],
      sorobanMeta: soroban
        ? new xdr.SorobanTransactionMetaV2({ ext: new xdr.SorobanTransactionMetaExt(1, soroban), returnValue })
        : null,
      events: fees,
      diagnosticEvents: steps.flatMap(({ applied: { diagnostics = [] } }) => [...diagnostics]),
    }),
  );
}
