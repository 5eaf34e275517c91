/** Transactions paid by the treasury: built here, decoded and checked again by the signer. */
import { createHash, createHmac } from 'node:crypto';
import { assert } from '../../../../domain/decider.ts';
import type { TransferOrder } from '../../ports.ts';
import { solanaSignature_bytes } from '../addresses.ts';
import { burnInstruction, isMintProgram, mintInstruction, mintUnits, revokeInstruction } from '../cctp.ts';
import {
  closeAccount,
  closeTokenAccount,
  createTokenAccount,
  type TokenAmount,
  tokenAccountOf,
  tokenProgram,
  transferBetween,
  transferChecked,
} from '../tokenProgram.ts';
import {
  type Blockhash,
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '../web3.ts';

/** A message without signatures, in base64. */
export interface SolanaPayload {
  readonly message: string;
  /** For a sweep: salt from which the deposit owner's key is derived. */
  readonly salt?: string;
  /** For a mint: token account that receives Circle's fee. With another one the mint fails. */
  readonly feeAccount?: string;
}

/** Terms of a transaction from the network's current state. */
export interface TransactionTerms {
  readonly blockhash: string;
  /** Maximum compute units. */
  readonly units: number;
  /** Price per unit, in millionths of a lamport. */
  readonly price_microLamports: bigint;
}

/** Memo program of wallets. */
export const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/**
 * Public reference for finding a transfer: a key without a private one, derived one-way from the transfer's id. Without a reference, equal
 * concurrent payouts would be one transaction and pay once. Anyone who knows the id knows it: createPayoutReference makes secret ones.
 */
export function publicReferenceOf(kind: 'payin' | 'payout', id: string): string {
  const made = createHash('sha256').update(`payment-intents/solana-reference-1/${kind}/${id}`).digest();
  return new PublicKey(made).toBase58();
}

type Moved = Pick<TransferOrder, 'token' | 'amount'>;

const amountOf = ({ token: { address: mint, decimals }, amount }: Moved): TokenAmount => ({ mint, decimals, amount });

/**
 * Pays into the receiver's account for the order's token. Creates that account if needed, unless the order excludes its cost: a receiver
 * who closes the account at the last moment must not gain the rent. The memo is the receiver's, or else the reference.
 */
export function transferMessage(
  treasury: string,
  order: TransferOrder,
  reference: string,
  terms: TransactionTerms,
): Uint8Array {
  const { receiver, receiverMemo, token } = order;
  const memo = Buffer.from(receiverMemo ?? reference);
  return compile(treasury, terms, [
    ...(order.opensAccount === false ? [] : [createTokenAccount(treasury, receiver, token.address)]),
    transferChecked(treasury, receiver, amountOf(order), [reference]),
    new TransactionInstruction({ programId: memoProgram, keys: [], data: memo }),
  ]);
}

/** Pays the order's lamports to the receiver's wallet, with the memo and reference of a token transfer. */
export function coinMessage(
  treasury: string,
  order: TransferOrder,
  reference: string,
  terms: TransactionTerms,
): Uint8Array {
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
export function payinMessage(payer: string, paid: Deposited, reference: string, terms: TransactionTerms): Uint8Array {
  const { owner, token } = paid;
  return compile(payer, terms, [
    createTokenAccount(payer, owner, token.address),
    transferChecked(payer, owner, amountOf(paid), [reference]),
  ]);
}

/** Opens the token account of a deposit that a payer's transaction pays. The relay account pays the fee and the rent. */
export const openingMessage = (
  relay: string,
  { receiver, token }: Pick<TransferOrder, 'receiver' | 'token'>,
  terms: TransactionTerms,
): Uint8Array => compile(relay, terms, [createTokenAccount(relay, receiver, token.address)]);

/** Opens the deposit's account and makes the payer's transfer in one message, for a simulation only. */
export const openingAndPaying = (
  relay: string,
  payer: string,
  order: Pick<TransferOrder, 'receiver' | 'token' | 'amount'>,
  terms: TransactionTerms,
): Uint8Array =>
  compile(relay, terms, [
    createTokenAccount(relay, order.receiver, order.token.address),
    transferChecked(payer, order.receiver, amountOf(order)),
  ]);

/** Moves an amount from a payer's own token account to a deposit's. The relay account pays the fee, and no instruction names it. */
export const relayedMessage = (
  relay: string,
  payer: string,
  order: Pick<TransferOrder, 'receiver' | 'token' | 'amount'>,
  { memo, terms }: { readonly memo: string; readonly terms: TransactionTerms },
): Uint8Array =>
  compile(relay, terms, [
    transferChecked(payer, order.receiver, amountOf(order)),
    new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(memo) }),
  ]);

/** Balance of a deposit in a token. */
export interface Deposited extends Moved {
  readonly owner: string;
}

/** Moves a deposit's whole balance to the treasury and closes the account; the treasury pays the fee and receives the rent. */
export function sweepMessage(treasury: string, deposited: Deposited, terms: TransactionTerms): Uint8Array {
  const { owner, token } = deposited;
  return compile(treasury, terms, [
    createTokenAccount(treasury, treasury, token.address),
    transferChecked(owner, treasury, amountOf(deposited)),
    closeTokenAccount(owner, token.address, treasury),
  ]);
}

/** Balance of a deposit's owner in any token account of any mint. */
export interface StrayHeld {
  readonly owner: string;
  readonly account: string;
  readonly token: string;
  readonly decimals: number;
  readonly amount: bigint;
  /** Token program of the account. */
  readonly program: string;
}

/**
 * Moves a token account's whole balance to the treasury's account for the mint, which the payer creates if needed. An account of the Token
 * program is closed, and its rent goes to the payer; one with extensions may hold withheld fees and stays.
 */
export function recoveryMessage(payer: string, treasury: string, held: StrayHeld, terms: TransactionTerms): Uint8Array {
  const { owner, account, token, decimals, amount, program } = held;
  const to = tokenAccountOf(treasury, token, program);
  return compile(payer, terms, [
    createTokenAccount(payer, treasury, token, program),
    transferBetween(program, { from: account, to, authority: owner }, { mint: token, decimals, amount }),
    ...(program === tokenProgram ? [closeAccount(account, owner, payer)] : []),
  ]);
}

/** Burns USDC for the treasury on another chain. @param eventAccount account of the rebalance's message, which signs too */
export const burnMessage = (
  treasury: string,
  order: Pick<TransferOrder, 'form' | 'amount'>,
  eventAccount: string,
  terms: TransactionTerms,
): Uint8Array => compile(treasury, terms, [burnInstruction(order, treasury, eventAccount)]);

/** Mints for an attested burn. With a third signature of the attesters, or with a price of its units, it would be too long. */
export function mintMessage(
  treasury: string,
  order: Pick<TransferOrder, 'form'>,
  feeAccount: string,
  { blockhash }: Pick<TransactionTerms, 'blockhash'>,
): Uint8Array {
  const instructions = [mintInstruction(order, treasury, feeAccount), revokeInstruction(treasury)];
  const recentBlockhash = blockhash as Blockhash;
  const message = new TransactionMessage({ payerKey: new PublicKey(treasury), recentBlockhash, instructions });
  return message.compileToV0Message().serialize();
}

/** Maximum length of a transaction, with its signatures. */
export const transaction_bytesMax = 1_232;

function compile(payer: string, terms: TransactionTerms, instructions: readonly TransactionInstruction[]): Uint8Array {
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

/** First byte of an instruction that sets the price of compute units. */
const priceTag = 3;

/** @returns undefined if the bytes are no message of this code, and of no payer's program */
export function termsInMessage(message: Uint8Array): TransactionTerms | undefined {
  try {
    const { recentBlockhash, instructions } = TransactionMessage.decompile(VersionedMessage.deserialize(message));
    const [first, second] = instructions;
    if (!first || !second) return undefined;
    if (isMintProgram(first.programId.toBase58()))
      return { blockhash: recentBlockhash, units: mintUnits, price_microLamports: 0n };
    // This code puts the limit first. Payers' programs use either order.
    const [limit, price] = first.data[0] === priceTag ? [second, first] : [first, second];
    const { units } = ComputeBudgetInstruction.decodeSetComputeUnitLimit(limit);
    const { microLamports } = ComputeBudgetInstruction.decodeSetComputeUnitPrice(price);
    return { blockhash: recentBlockhash, units, price_microLamports: BigInt(microLamports) };
  } catch {
    return undefined;
  }
}

/** Wire format of nodes: signatures in the order of their accounts, then the message. In base64. */
export const wireOf = (message: Uint8Array, signatures: readonly Uint8Array[]): string =>
  Buffer.concat([Uint8Array.of(signatures.length), ...signatures, message]).toString('base64');

/** Message covered by a transaction's signatures. */
export function messageIn(bytes: string): Uint8Array {
  const wire = Buffer.from(bytes, 'base64');
  return wire.subarray(1 + (wire[0] ?? 0) * solanaSignature_bytes);
}

// References of payouts. Anyone can name a key in a transaction, so a reference must not be predictable.

/** @throws Error for an order without its reference */
export type PayoutReference = (order: Pick<TransferOrder, 'reference' | 'referenceOrdinal'>) => string;

/**
 * With an ordinal: an HMAC-SHA256 of the transfer's reference, unknown to others before its transaction, and different after each
 * transaction on the chain. Without one: the public reference of payments created before secret ones.
 * @param key null on an instance that prepares nothing
 */
export const createPayoutReference =
  (key: Uint8Array | null): PayoutReference =>
  ({ reference, referenceOrdinal }) => {
    assert(reference !== undefined, 'a transfer on Solana says what it is for');
    if (referenceOrdinal === undefined) return publicReferenceOf('payout', reference);
    assert(key !== null, 'payouts are prepared where the seed is');
    const purpose = `payment-intents/solana-reference-2/payout/${referenceOrdinal}/${reference}`;
    return new PublicKey(createHmac('sha256', key).update(purpose).digest()).toBase58();
  };
