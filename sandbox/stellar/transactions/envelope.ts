/** A transaction as it was submitted. */
import { FeeBumpTransaction, type Transaction, TransactionBuilder, type xdr } from '@stellar/stellar-sdk';
import { plainAccount } from '../operations/operation.ts';

export interface Submitted {
  /** Hash of the outermost envelope, hex. */
  readonly hash: string;
  /** Hash of the transaction within a fee bump, which may land with or without it. */
  readonly innerHash: string | undefined;
  readonly envelopeXdr: string;
  readonly transaction: Transaction;
  readonly feeBump: FeeBumpTransaction | undefined;
  /** The account whose sequence it uses. */
  readonly source: string;
  readonly feePayer: string;
  /** Maximum cost in stroops. */
  readonly feeMax: bigint;
  /** Operations that are paid for: a fee bump counts as one more. */
  readonly operationsPaid: number;
  readonly sorobanData: xdr.SorobanTransactionData | undefined;
}

/** @throws Error if it is not an envelope */
export function parseEnvelope(envelopeXdr: string, passphrase: string): Submitted {
  const outer = TransactionBuilder.fromXDR(envelopeXdr, passphrase);
  const feeBump = outer instanceof FeeBumpTransaction ? outer : undefined;
  const transaction = outer instanceof FeeBumpTransaction ? outer.innerTransaction : outer;
  return {
    hash: outer.hash().toString('hex'),
    innerHash: feeBump ? transaction.hash().toString('hex') : undefined,
    envelopeXdr,
    transaction,
    feeBump,
    source: plainAccount(transaction.source),
    feePayer: plainAccount(feeBump?.feeSource ?? transaction.source),
    feeMax: BigInt(outer.fee),
    operationsPaid: transaction.operations.length + (feeBump ? 1 : 0),
    sorobanData: sorobanDataOf(transaction),
  };
}

function sorobanDataOf(transaction: Transaction): xdr.SorobanTransactionData | undefined {
  const envelope = transaction.toEnvelope();
  if (envelope.switch().name !== 'envelopeTypeTx') return undefined;
  const ext = envelope.v1().tx().ext();
  return ext.switch() === 1 ? ext.sorobanData() : undefined;
}
