/** Payers' authorization entries of token transfers on Stellar (CAP-46-11): reading, signature, call. Nothing here calls a node. */
import {
  Address,
  buildAuthorizationEntryPreimage,
  encodeMuxedAccount,
  encodeMuxedAccountToAddress,
  hash,
  Operation,
  StrKey,
  scValToBigInt,
  Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { isEd25519 } from '../ed25519.ts';
import type { EntryOrder, TransferOrder } from '../ports.ts';

/** A signed entry is about 450 bytes. */
const entryMax_bytes = 1_024;
const transactionMax_characters = 8_192;

/** The one transfer that an entry authorizes. */
export interface EntryTransfer {
  /** The token's contract: C…. */
  readonly contract: string;
  readonly from: string;
  /** G, M or C address. */
  readonly to: string;
  /** In smallest units. */
  readonly amount: bigint;
  /** In decimal. */
  readonly nonce: string;
  /** Last ledger that accepts it. */
  readonly validUntil: number;
}

export const isEntryOrder = (order: TransferOrder): order is EntryOrder => order.form?.kind === 'authorizationEntry';

/** Null for an entry that authorizes anything but one call of `transfer` by an account, and for one without an account. */
export function transferIn(entry: xdr.SorobanAuthorizationEntry): EntryTransfer | null {
  if (entry.credentials().switch().name !== 'sorobanCredentialsAddress') return null;
  const credentials = entry.credentials().address();
  const root = entry.rootInvocation();
  if (root.subInvocations().length > 0) return null;
  if (root.function().switch().name !== 'sorobanAuthorizedFunctionTypeContractFn') return null;
  const call = root.function().contractFn();
  const [from, to, amount, ...more] = call.args();
  if (call.functionName().toString() !== 'transfer' || !from || !to || !amount || more.length > 0) return null;
  if (from.switch().name !== 'scvAddress' || to.switch().name !== 'scvAddress') return null;
  if (amount.switch().name !== 'scvI128') return null;
  const payer = Address.fromScVal(from).toString();
  if (Address.fromScAddress(credentials.address()).toString() !== payer || !StrKey.isValidEd25519PublicKey(payer))
    return null;
  return {
    contract: Address.fromScAddress(call.contractAddress()).toString(),
    from: payer,
    to: Address.fromScVal(to).toString(),
    amount: scValToBigInt(amount),
    nonce: credentials.nonce().toString(),
    validUntil: credentials.signatureExpirationLedger(),
  };
}

export const hexOf = (entry: xdr.SorobanAuthorizationEntry): string => `0x${entry.toXDR('hex')}`;

/** The entry of a text in lower-case hex; null for any other text. */
export function entryIn(text: string): xdr.SorobanAuthorizationEntry | null {
  if (!/^0x([0-9a-f]{2})+$/.test(text) || text.length > 2 + 2 * entryMax_bytes) return null;
  try {
    const entry = xdr.SorobanAuthorizationEntry.fromXDR(text.slice(2), 'hex');
    return hexOf(entry) === text ? entry : null;
  } catch {
    return null;
  }
}

/** The signed entry of a transaction with one call, and the call's authorization alone; null for any other transaction. */
export function entryOf(transaction: string, networkPassphrase: string): xdr.SorobanAuthorizationEntry | null {
  if (transaction.length > transactionMax_characters) return null;
  try {
    const parsed = TransactionBuilder.fromXDR(transaction, networkPassphrase);
    if (!(parsed instanceof Transaction)) return null;
    const [operation, ...others] = parsed.toEnvelope().v1().tx().operations();
    if (!operation || others.length > 0 || operation.body().switch().name !== 'invokeHostFunction') return null;
    const { 0: entry, length } = operation.body().invokeHostFunctionOp().auth();
    return entry && length === 1 ? entry : null;
  } catch {
    return null;
  }
}

/** True if the payer's own key signed the entry, and no other signer. */
export function isSignedByPayer(entry: xdr.SorobanAuthorizationEntry, networkPassphrase: string): boolean {
  const transfer = transferIn(entry);
  if (!transfer) return false;
  try {
    const credentials = entry.credentials().address();
    const [signature, ...others] = credentials.signature().vec() ?? [];
    const fields = new Map(signature?.map()?.map((field) => [field.key().sym().toString(), field.val().bytes()]));
    const preimage = buildAuthorizationEntryPreimage(entry, credentials.signatureExpirationLedger(), networkPassphrase);
    const [publicKey, bytes] = [fields.get('public_key'), fields.get('signature')];
    if (others.length > 0 || fields.size !== 2 || !publicKey || !bytes) return false;
    const isPayers = StrKey.encodeEd25519PublicKey(publicKey) === transfer.from;
    return isPayers && isEd25519(publicKey, hash(preimage.toXDR()), bytes);
  } catch {
    return false;
  }
}

/** The call that sends an order's entry to its token. It is the entry's own call, so no other can be sent with it. */
export function callOf({ form }: EntryOrder): xdr.Operation {
  const entry = entryIn(form.signature);
  if (!entry) throw new TypeError('the order has no authorization entry');
  const func = xdr.HostFunction.hostFunctionTypeInvokeContract(entry.rootInvocation().function().contractFn());
  return Operation.invokeHostFunction({ func, auth: [entry] });
}

/** The M address of an account and a memo, which is a number. */
export const muxedOf = (account: string, memo: string): string =>
  encodeMuxedAccountToAddress(encodeMuxedAccount(account, memo));
