/**
 * Transactions that payers' programs build and sign for our relay account as the fee payer (x402, scheme_exact_svm): a limit and a price of
 * compute units, one transfer of a token, and a memo. Nothing here calls a node.
 */
import { createHash } from 'node:crypto';
import { isEd25519 } from '../ed25519.ts';
import type { PayerTransactionOrder, TransferOrder } from '../ports.ts';
import { parseBase58, solanaSignature_bytes } from './addresses.ts';
import type { SolanaFees } from './config.ts';
import { memoProgram, type TransactionTerms, termsInMessage } from './payouts/transaction.ts';
import { tokenAccountOf, tokenProgram, transferLayout } from './tokenProgram.ts';
import { ComputeBudgetProgram, type TransactionInstruction, TransactionMessage, VersionedMessage } from './web3.ts';

export interface PayerTransaction {
  readonly message: Uint8Array;
  /** The payer's, 64 bytes. */
  readonly signature: Uint8Array;
  readonly feePayer: string;
  readonly payer: string;
  readonly terms: TransactionTerms;
  readonly mint: string;
  readonly decimals: number;
  /** In smallest units. */
  readonly amount: bigint;
  /** Token account that is paid. */
  readonly destination: string;
}

/** Largest transaction that a node accepts. */
const transaction_bytes = 1_232;
const memoMax_bytes = 256;
const address_bytes = 32;
/** The fee payer's and the payer's. */
export const payerTransactionSigners = 2;

export const isPayerTransaction = (order: TransferOrder): order is PayerTransactionOrder =>
  order.form?.kind === 'payerTransaction';

/** Reads a transaction in the wire format of nodes. @returns null for any other text, and for any other transaction */
export function payerTransactionIn(base64: string): PayerTransaction | null {
  const wire = Buffer.from(base64, 'base64');
  if (wire.toString('base64') !== base64 || wire.length > transaction_bytes) return null;
  const [count] = wire;
  const messageAt = 1 + payerTransactionSigners * solanaSignature_bytes;
  if (count !== payerTransactionSigners) return null;
  return readMessage(wire.subarray(messageAt), wire.subarray(messageAt - solanaSignature_bytes, messageAt));
}

/** Reads the stored form: the payer's signature, then the message, in hex. @returns null for any other text */
export function payerTransactionOf(stored: string): PayerTransaction | null {
  if (!/^0x([0-9a-f]{2}){65,1232}$/.test(stored)) return null;
  const bytes = Buffer.from(stored.slice(2), 'hex');
  return readMessage(bytes.subarray(solanaSignature_bytes), bytes.subarray(0, solanaSignature_bytes));
}

export const storedFormOf = ({ signature, message }: PayerTransaction): string =>
  `0x${Buffer.concat([signature, message]).toString('hex')}`;

/** Identity of a transaction among all of a payer. */
export const transactionNonce = ({ message }: PayerTransaction): string =>
  `0x${createHash('sha256').update(message).digest('hex')}`;

export function isSignedByPayer({ payer, message, signature }: PayerTransaction): boolean {
  const key = parseBase58(payer, address_bytes);
  return key !== undefined && isEd25519(key, message, signature);
}

/** Whether the relay account may pay for it: it is the fee payer, and the fee is within the limits. */
export const isAffordable = (
  { feePayer, terms: { units, price_microLamports } }: PayerTransaction,
  account: string,
  { unitsMax, priceMax_microLamports }: SolanaFees,
): boolean => feePayer === account && units <= unitsMax && price_microLamports <= priceMax_microLamports;

function readMessage(message: Uint8Array, signature: Uint8Array): PayerTransaction | null {
  const terms = termsInMessage(message);
  if (!terms) return null;
  // The library read these bytes a moment ago.
  const versioned = VersionedMessage.deserialize(message);
  const { payerKey, instructions } = TransactionMessage.decompile(versioned);
  const [limit, price, transfer, ...memos] = instructions;
  if (!limit || !price || !transfer) return null;
  const moved = transferIn(transfer);
  const feePayer = payerKey.toBase58();
  const named = new Set([feePayer, ...instructions.flatMap(accountsNamed)]);
  const isExact =
    versioned.version === 0 &&
    versioned.header.numRequiredSignatures === payerTransactionSigners &&
    versioned.staticAccountKeys.length === named.size &&
    Buffer.compare(versioned.serialize(), message) === 0 &&
    [limit, price].every(({ programId, keys }) => programId.equals(ComputeBudgetProgram.programId) && !keys.length) &&
    memos.length <= 1 &&
    memos.every(isMemo);
  if (!isExact || !moved) return null;
  // Our key is in no instruction: it pays the fee and nothing else.
  if (instructions.flatMap(accountsNamed).includes(feePayer)) return null;
  if (versioned.staticAccountKeys[1]?.toBase58() !== moved.payer) return null;
  return { message, signature, feePayer, terms, ...moved };
}

const accountsNamed = ({ programId, keys }: TransactionInstruction): readonly string[] => [
  programId.toBase58(),
  ...keys.map(({ pubkey }) => pubkey.toBase58()),
];

const isMemo = ({ programId, keys, data }: TransactionInstruction): boolean =>
  programId.equals(memoProgram) && keys.length === 0 && data.length <= memoMax_bytes;

/** From the payer's own account of the token. */
function transferIn({ programId, keys, data }: TransactionInstruction) {
  const [source, mint, destination, payer, ...others] = keys.map(({ pubkey }) => pubkey.toBase58());
  if (programId.toBase58() !== tokenProgram || data.length !== transferLayout.bytes) return null;
  if (data[0] !== transferLayout.tag || !source || !mint || !destination || !payer || others.length > 0) return null;
  if (source !== tokenAccountOf(payer, mint) || !keys[3]?.isSigner) return null;
  const amount = Buffer.from(data).readBigUInt64LE(transferLayout.amount);
  return { payer, mint, destination, amount, decimals: data[transferLayout.decimals] ?? 0 };
}
