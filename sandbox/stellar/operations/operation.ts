/** Input and output of every operation. */
import { decodeAddressToMuxedAccount, StrKey, type Transaction, xdr } from '@stellar/stellar-sdk';
import type { LedgerHead, Network } from '../ledger/network.ts';
import type { View } from '../ledger/view.ts';

export type Operation = Transaction['operations'][number];
export type OperationOf<T extends Operation['type']> = Extract<Operation, { readonly type: T }>;

export interface OperationContext {
  readonly network: Network;
  /** The ledger that is being closed. */
  readonly ledger: LedgerHead;
  readonly view: View;
  /** The account that the operation acts for. */
  readonly source: string;
  readonly transaction: Transaction;
  readonly sorobanData?: xdr.SorobanTransactionData | undefined;
}

export interface Applied {
  readonly succeeded: boolean;
  readonly result: xdr.OperationResult;
  readonly events: readonly xdr.ContractEvent[];
  /** Result of a contract call. */
  readonly value?: xdr.ScVal;
  /** Diagnostic events of a contract call. */
  readonly diagnostics?: readonly xdr.DiagnosticEvent[];
}

export const applied = (result: xdr.OperationResultTr, events: readonly xdr.ContractEvent[] = []): Applied => ({
  succeeded: true,
  result: xdr.OperationResult.opInner(result),
  events,
});

export const failed = (result: xdr.OperationResultTr): Applied => ({
  succeeded: false,
  result: xdr.OperationResult.opInner(result),
  events: [],
});

export const unsupported: () => Applied = () => ({
  succeeded: false,
  result: xdr.OperationResult.opNotSupported(),
  events: [],
});

const decimals = 7;

/** Smallest units of a decimal amount, which the SDK has checked. */
export function stroops(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** The account of an address; one that carries an id (`M…`) without the id. */
export function plainAccount(address: string): string {
  if (!StrKey.isValidMed25519PublicKey(address)) return address;
  return StrKey.encodeEd25519PublicKey(decodeAddressToMuxedAccount(address).med25519().ed25519());
}

/** The id that an address carries. */
export function muxedId(address: string): xdr.Uint64 | undefined {
  if (!StrKey.isValidMed25519PublicKey(address)) return undefined;
  return decodeAddressToMuxedAccount(address).med25519().id();
}
