/** Incoming transactions: bytes, content, and the accounts that they name. */
import {
  type Address,
  getAddressDecoder,
  getBase58Decoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import type { Account } from './account.ts';
import { type Message, messageIn } from './message.ts';

export interface Submitted {
  /** The fee payer's, base58: the transaction's name everywhere. */
  readonly signature: string;
  readonly signatures: readonly string[];
  /** Number of signatures in the bytes. */
  readonly signatureCount: number;
  readonly bytes: Uint8Array;
  readonly transaction: Transaction;
  readonly message: Message;
}

/** Addresses from lookup tables. */
export interface LoadedAddresses {
  readonly writable: readonly Address[];
  readonly readonly: readonly Address[];
}

/** Maximum sizes of the network: 1,232 bytes, and 4,096 since version 1 (SIMD-0385), which names 64 accounts at most. */
const bytesMax = { legacy: 1_232, 0: 1_232, 1: 4_096 };
const accountsMax = 64;

const base58 = getBase58Decoder();
const unsigned = new Uint8Array(64);

/** @throws Error if the bytes are not a transaction of a known version */
export function parseTransaction(bytes: Uint8Array): Submitted {
  if (bytes.length > bytesMax[1]) throw tooLarge(bytes, bytesMax[1]);
  const transaction = getTransactionDecoder().decode(bytes);
  const message = messageIn(transaction.messageBytes);
  const { version, staticAccounts } = message;
  if (bytes.length > bytesMax[version]) throw tooLarge(bytes, bytesMax[version]);
  if (version === 1 && staticAccounts.length > accountsMax) throw new Error('too many accounts');
  const signatures = Object.values(transaction.signatures).map((each) => base58.decode(each ?? unsigned));
  const [signature = base58.decode(unsigned)] = signatures;
  // Version 1 has one signature per required signer; other versions begin with the number of signatures.
  const signatureCount = version === 1 ? message.header.numSignerAccounts : (bytes[0] ?? 0);
  return { signature, signatures, signatureCount, bytes, transaction, message };
}

const tooLarge = ({ length }: Uint8Array, max: number) =>
  new Error(`transaction too large: ${length} bytes (max: ${max})`);

/** All accounts of a message in the order in which its instructions count them. */
export const keysOf = ({ message }: Submitted, loaded: LoadedAddresses): readonly Address[] => [
  ...message.staticAccounts,
  ...loaded.writable,
  ...loaded.readonly,
];

/** Offset of the addresses in a lookup table's data. */
const tableHeader_bytes = 56;
const address_bytes = 32;

/** Undefined: a table or a place in it does not exist. */
export function loadAddresses(
  { message }: Submitted,
  accountOf: (address: Address) => Account | undefined,
): LoadedAddresses | undefined {
  const { lookupTables: lookups } = message;
  const pick = (table: Address, indexes: readonly number[]) =>
    indexes.map((index) => {
      const begin = tableHeader_bytes + index * address_bytes;
      const bytes = accountOf(table)?.data.subarray(begin, begin + address_bytes);
      return bytes?.length === address_bytes ? getAddressDecoder().decode(bytes) : undefined;
    });
  const writable = lookups.flatMap((each) => pick(each.lookupTableAddress, each.writableIndexes));
  const readonly = lookups.flatMap((each) => pick(each.lookupTableAddress, each.readonlyIndexes));
  const complete = (all: readonly (Address | undefined)[]): all is readonly Address[] => !all.includes(undefined);
  return complete(writable) && complete(readonly) ? { writable, readonly } : undefined;
}

/** @param place of an account among all of the message, by its instructions' numbering */
export function isWritable({ header, staticAccounts }: Message, loaded: LoadedAddresses, place: number): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const firstLoaded = staticAccounts.length;
  if (place >= firstLoaded) return place < firstLoaded + loaded.writable.length;
  if (place < numSignerAccounts) return place < numSignerAccounts - numReadonlySignerAccounts;
  return place < firstLoaded - numReadonlyNonSignerAccounts;
}

/** Returns whether the message's counts and places agree with its accounts and signatures. */
export function sanitize({ signatureCount, message }: Submitted): boolean {
  const { header, staticAccounts, instructions, lookupTables } = message;
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const loaded = lookupTables.reduce((sum, each) => sum + each.writableIndexes.length + each.readonlyIndexes.length, 0);
  return (
    signatureCount === numSignerAccounts &&
    numReadonlySignerAccounts < numSignerAccounts &&
    numSignerAccounts + numReadonlyNonSignerAccounts <= staticAccounts.length &&
    instructions.every(
      ({ programAddressIndex, accountIndices = [] }) =>
        programAddressIndex > 0 &&
        programAddressIndex < staticAccounts.length &&
        accountIndices.every((each) => each < staticAccounts.length + loaded),
    )
  );
}
