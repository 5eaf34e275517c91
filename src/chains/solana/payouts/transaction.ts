/** The transactions that the treasury pays for: what is built here, the signer takes apart again and checks. */
import { createHash } from 'node:crypto';
import {
  type Blockhash,
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
import type { TransferOrder } from '../../ports.ts';
import { signature_bytes } from '../addresses.ts';
import {
  type Amount,
  closeAccount,
  closeTokenAccount,
  createTokenAccount,
  tokenAccountOf,
  tokenProgram,
  transferBetween,
  transferChecked,
} from '../tokenProgram.ts';

/** A message without signatures, in base64. */
export interface SolanaPayload {
  readonly message: string;
  /** Of a sweep: what the deposit owner's key is derived with. */
  readonly salt?: string;
}

/** What a transaction takes from the network's present state. */
export interface Terms {
  readonly blockhash: string;
  /** Compute units at most. */
  readonly units: number;
  /** Offered for each unit, in millionths of a lamport. */
  readonly price_microLamports: bigint;
}

/** The memo program that wallets use. */
const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/**
 * The public reference by which a transfer is found: a key that has no private one, made one-way from what the transfer is for. Without
 * any, equal payouts of one moment would be one and the same transaction, and pay once. Who knows the id knows it: references.ts has those
 * of payouts today.
 */
export function referenceOf(kind: 'payin' | 'payout', id: string): string {
  const made = createHash('sha256').update(`payment-intents/solana-reference-1/${kind}/${id}`).digest();
  return new PublicKey(made).toBase58();
}

type Moved = Pick<TransferOrder, 'token' | 'amount'>;

const amountOf = ({ token: { address: mint, decimals }, amount }: Moved): Amount => ({ mint, decimals, amount });

/**
 * Pays into the receiver's account for the order's token; creates it first if need be, unless the order says that it pays for none: then
 * nobody who closes his account at the last moment gets the rent of another one. The memo is the receiver's, or else the reference.
 */
export function transferMessage(treasury: string, order: TransferOrder, reference: string, terms: Terms): Uint8Array {
  const { receiver, receiverMemo, token } = order;
  const memo = Buffer.from(receiverMemo ?? reference);
  return compile(treasury, terms, [
    ...(order.opensAccount === false ? [] : [createTokenAccount(treasury, receiver, token.address)]),
    transferChecked(treasury, receiver, amountOf(order), [reference]),
    new TransactionInstruction({ programId: memoProgram, keys: [], data: memo }),
  ]);
}

/** Pays the order's lamports to the receiver's wallet, with the memo and the reference that a transfer of tokens has. */
export function coinMessage(treasury: string, order: TransferOrder, reference: string, terms: Terms): Uint8Array {
  const { receiver, receiverMemo, amount } = order;
  const [fromPubkey, toPubkey] = [new PublicKey(treasury), new PublicKey(receiver)];
  const paying = SystemProgram.transfer({ fromPubkey, toPubkey, lamports: amount });
  paying.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
  const memo = Buffer.from(receiverMemo ?? reference);
  return compile(treasury, terms, [
    paying,
    new TransactionInstruction({ programId: memoProgram, keys: [], data: memo }),
  ]);
}

/** Moves an amount from a payer's wallet to a deposit, whose token account the payer creates if need be. The payer pays the fee. */
export function payinMessage(payer: string, paid: Deposited, reference: string, terms: Terms): Uint8Array {
  const { owner, token } = paid;
  return compile(payer, terms, [
    createTokenAccount(payer, owner, token.address),
    transferChecked(payer, owner, amountOf(paid), [reference]),
  ]);
}

/** What a deposit holds of a token. */
export interface Deposited extends Moved {
  readonly owner: string;
}

/** Moves all that a deposit holds to the treasury and closes it; its rent goes to the treasury, which pays the fee. */
export function sweepMessage(treasury: string, deposited: Deposited, terms: Terms): Uint8Array {
  const { owner, token } = deposited;
  return compile(treasury, terms, [
    createTokenAccount(treasury, treasury, token.address),
    transferChecked(owner, treasury, amountOf(deposited)),
    closeTokenAccount(owner, token.address, treasury),
  ]);
}

/** What a token account of a deposit's owner holds, of any mint and in any account. */
export interface StrayHeld {
  readonly owner: string;
  readonly account: string;
  readonly token: string;
  readonly decimals: number;
  readonly amount: bigint;
  /** The token program that keeps it. */
  readonly program: string;
}

/**
 * Moves all that a token account holds to the treasury's account for the mint, which the payer creates if need be. An account of the Token
 * program is closed, and its rent goes to the payer; one with extensions may hold withheld fees and stays.
 */
export function recoveryMessage(payer: string, treasury: string, held: StrayHeld, terms: Terms): Uint8Array {
  const { owner, account, token, decimals, amount, program } = held;
  const to = tokenAccountOf(treasury, token, program);
  return compile(payer, terms, [
    createTokenAccount(payer, treasury, token, program),
    transferBetween(program, { from: account, to, authority: owner }, { mint: token, decimals, amount }),
    ...(program === tokenProgram ? [closeAccount(account, owner, payer)] : []),
  ]);
}

function compile(payer: string, terms: Terms, instructions: readonly TransactionInstruction[]): Uint8Array {
  const message = new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash: terms.blockhash as Blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: terms.units }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: terms.price_microLamports }),
      ...instructions,
    ],
  });
  return message.compileToV0Message().serialize();
}

/** @returns undefined when the bytes are no message that was built here */
export function termsOf(message: Uint8Array): Terms | undefined {
  try {
    const { recentBlockhash, instructions } = TransactionMessage.decompile(VersionedMessage.deserialize(message));
    const [limit, price] = instructions;
    if (!limit || !price) return undefined;
    const { units } = ComputeBudgetInstruction.decodeSetComputeUnitLimit(limit);
    const { microLamports } = ComputeBudgetInstruction.decodeSetComputeUnitPrice(price);
    return { blockhash: recentBlockhash, units, price_microLamports: BigInt(microLamports) };
  } catch {
    return undefined;
  }
}

/** As nodes take it: signatures in the order of their accounts, then the message. In base64. */
export const wireOf = (message: Uint8Array, signatures: readonly Uint8Array[]): string =>
  Buffer.concat([Uint8Array.of(signatures.length), ...signatures, message]).toString('base64');

/** The message that a transaction's signatures sign. */
export function messageIn(bytes: string): Uint8Array {
  const wire = Buffer.from(bytes, 'base64');
  return wire.subarray(1 + (wire[0] ?? 0) * signature_bytes);
}
