/** Applies a valid transaction to the ledger: fee and sequence always, its operations all or none. */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { diagnosticEvent, feeEvent } from '../events.ts';
import { hostErrorText } from '../host/errors.ts';
import { accountKey } from '../ledger/entries.ts';
import type { LedgerHead, Network } from '../ledger/network.ts';
import { entryChanges, type LedgerState } from '../ledger/state.ts';
import type { Change, View } from '../ledger/view.ts';
import { applyOperation } from '../operations/apply.ts';
import { type Applied, plainAccount } from '../operations/operation.ts';
import { base64, bigintOf, int64, noExtension } from '../xdr.ts';
import type { Submitted } from './envelope.ts';
import { appliedResult } from './results.ts';
import { feeOf } from './validity.ts';

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
  const before = chargeFee(context, submitted, fee);

  const view = state.view();
  const steps = submitted.transaction.operations.map((_, at) => applyStep(context, submitted, view, at));
  const succeeded = steps.every((step) => step.applied.succeeded);
  if (succeeded) state.apply(view.changes(), ledger.sequence);

  const results = steps.map((step) => step.applied.result);
  return {
    hash: submitted.hash,
    ...(submitted.innerHash && { innerHash: submitted.innerHash }),
    ledger: ledger.sequence,
    order,
    createdAt_s: ledger.closedAt_s,
    succeeded,
    envelopeXdr: submitted.envelopeXdr,
    resultXdr: base64(appliedResult(submitted, fee, succeeded, results)),
    resultMetaXdr: base64(
      metaOf({
        before: entryChanges(before, ledger.sequence),
        steps: steps.map((step) =>
          succeeded ? step : { ...step, changes: [], applied: { ...step.applied, events: [] } },
        ),
        fee: feeEvent(Asset.native().contractId(network.passphrase), submitted.feePayer, fee),
        isSoroban: submitted.sorobanData !== undefined,
        ledger,
      }),
    ),
  };
}

function chargeFee(
  { state, ledger }: ApplyContext,
  { feePayer, source, transaction }: Submitted,
  fee: bigint,
): readonly Change[] {
  const view = state.view();
  view.change(accountKey(feePayer), (data) => data.account().balance(int64(bigintOf(data.account().balance()) - fee)));
  view.change(accountKey(source), (data) => data.account().seqNum(int64(BigInt(transaction.sequence))));
  state.apply(view.changes(), ledger.sequence);
  return view.changes();
}

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
  readonly fee: xdr.TransactionEvent;
  readonly isSoroban: boolean;
  readonly ledger: LedgerHead;
}

function metaOf({ before, steps, fee, isSoroban, ledger }: Meta): xdr.TransactionMeta {
  const returnValue = steps[0]?.applied.value ?? null;
  const errors = steps.flatMap(({ applied }) => (applied.error ? [applied.error] : []));
  return new xdr.TransactionMeta(
    4,
    new xdr.TransactionMetaV4({
      ext: noExtension(),
      txChangesBefore: before,
      operations: steps.map(
        ({ applied, changes }) =>
          new xdr.OperationMetaV2({
            ext: noExtension(),
            changes: entryChanges(changes, ledger.sequence),
            events: [...applied.events],
          }),
      ),
      txChangesAfter: [],
      sorobanMeta: isSoroban
        ? new xdr.SorobanTransactionMetaV2({ ext: new xdr.SorobanTransactionMetaExt(0), returnValue })
        : null,
      events: [fee],
      diagnosticEvents: errors.map((error) => diagnosticEvent(hostErrorText(error))),
    }),
  );
}
