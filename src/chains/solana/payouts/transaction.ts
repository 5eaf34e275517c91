/** The transactions that the treasury pays for: what is built here, the signer takes apart again and checks. */
import { createHash } from 'node:crypto';
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstruction,
  getSetComputeUnitPriceInstructionDataDecoder,
  SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR,
  SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR,
} from '@solana-program/compute-budget';
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo';
import {
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import type { TransferOrder } from '../../ports.ts';
import { tokenAccountOf } from '../addresses.ts';
import { solanaToken } from '../config.ts';

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

/**
 * What a transfer carries so that no two are the same and each can be found: a key that nobody has, made one-way from what it is for.
 * Equal payouts of one moment would otherwise be one and the same transaction, and pay once.
 */
export const referenceOf = (kind: 'payin' | 'payout', id: string): string =>
  getBase58Decoder().decode(createHash('sha256').update(`payment-intents/solana-reference-1/${kind}/${id}`).digest());

/** Creates the receiver's token account if need be and pays into it. The memo is the receiver's, or else the reference. */
export function transferMessage(
  treasury: string,
  { receiver, receiverMemo, amount }: TransferOrder,
  reference: string,
  terms: Terms,
): Uint8Array {
  const payer = createNoopSigner(address(treasury));
  const { address: mint, decimals } = solanaToken();
  const [source, destination] = [tokenAccountOf(treasury), tokenAccountOf(receiver)];
  const ofToken = { mint: address(mint) };
  const transfer = getTransferCheckedInstruction({
    ...ofToken,
    source,
    destination,
    authority: payer,
    amount,
    decimals,
  });
  return compile(treasury, terms, [
    getCreateAssociatedTokenIdempotentInstruction({ ...ofToken, payer, ata: destination, owner: address(receiver) }),
    {
      ...transfer,
      accounts: [...transfer.accounts, { address: address(reference), role: AccountRole.READONLY }],
    },
    getAddMemoInstruction({ memo: receiverMemo ?? reference }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 }),
  ]);
}

export interface Deposited {
  readonly owner: string;
  readonly amount: bigint;
}

/** Moves all that a deposit holds to the treasury and closes it; its rent goes to the treasury, which pays the fee. */
export function sweepMessage(treasury: string, { owner, amount }: Deposited, terms: Terms): Uint8Array {
  const payer = createNoopSigner(address(treasury));
  const authority = createNoopSigner(address(owner));
  const { address: mint, decimals } = solanaToken();
  const [source, destination] = [tokenAccountOf(owner), tokenAccountOf(treasury)];
  const ofToken = { mint: address(mint) };
  return compile(treasury, terms, [
    getCreateAssociatedTokenIdempotentInstruction({ ...ofToken, payer, ata: destination, owner: address(treasury) }),
    getTransferCheckedInstruction({ ...ofToken, source, destination, authority, amount, decimals }),
    getCloseAccountInstruction({ account: source, destination: address(treasury), owner: authority }),
  ]);
}

function compile(payer: string, terms: Terms, instructions: readonly Instruction[]): Uint8Array {
  const lifetime = { blockhash: blockhash(terms.blockhash), lastValidBlockHeight: 0n };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(address(payer), empty),
    (payed) => setTransactionMessageLifetimeUsingBlockhash(lifetime, payed),
    (living) =>
      appendTransactionMessageInstructions(
        [
          getSetComputeUnitLimitInstruction({ units: terms.units }),
          getSetComputeUnitPriceInstruction({ microLamports: terms.price_microLamports }),
          ...instructions,
        ],
        living,
      ),
  );
  return new Uint8Array(compileTransaction(message).messageBytes);
}

/** @returns undefined when the bytes are no message that was built here */
export function termsOf(message: Uint8Array): Terms | undefined {
  try {
    const decoded = getCompiledTransactionMessageDecoder().decode(message);
    if (decoded.version !== 0) return undefined;
    const { lifetimeToken, instructions } = decoded;
    const [first, second] = instructions.map(({ data }) => data ?? new Uint8Array());
    const limit = getSetComputeUnitLimitInstructionDataDecoder().decode(first ?? new Uint8Array());
    const price = getSetComputeUnitPriceInstructionDataDecoder().decode(second ?? new Uint8Array());
    const expected =
      limit.discriminator === SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR &&
      price.discriminator === SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR;
    if (!expected) return undefined;
    return { blockhash: lifetimeToken, units: limit.units, price_microLamports: price.microLamports };
  } catch {
    return undefined;
  }
}

export const signature_bytes = 64;

/** As nodes take it: signatures in the order of their accounts, then the message. In base64. */
export const wireOf = (message: Uint8Array, signatures: readonly Uint8Array[]): string =>
  Buffer.concat([Uint8Array.of(signatures.length), ...signatures, message]).toString('base64');

/** What the signatures of a transaction sign. */
export function messageIn(bytes: string): Uint8Array {
  const wire = Buffer.from(bytes, 'base64');
  return wire.subarray(1 + (wire[0] ?? 0) * signature_bytes);
}
