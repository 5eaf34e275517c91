/** What a message would move if it were signed, read out of its bytes: nothing here builds what it compares with. */
import { SystemProgram, TransactionMessage, VersionedMessage } from '@solana/web3.js';
import type { TransferOrder } from '../../ports.ts';
import { tokenAccountOf, tokenProgram, transferLayout } from '../tokenProgram.ts';

/**
 * Whether a message moves the order's own token, to the last digit, between the accounts that two wallets have for it, and moves no other.
 * @param from the wallet whose money moves
 */
export function movesOrdered(message: Uint8Array, { token, receiver, amount }: TransferOrder, from: string): boolean {
  const [moved, ...others] = transfersIn(message);
  return (
    moved !== undefined &&
    others.length === 0 &&
    moved.mint === token.address &&
    moved.decimals === token.decimals &&
    moved.amount === amount &&
    moved.authority === from &&
    moved.source === tokenAccountOf(from, token.address) &&
    moved.destination === tokenAccountOf(receiver, token.address)
  );
}

/** Whether a message moves the order's lamports between two wallets, and no other coin and no token. @param from the wallet whose coin moves */
export function paysOrdered(message: Uint8Array, { receiver, amount }: TransferOrder, from: string): boolean {
  const { instructions } = TransactionMessage.decompile(VersionedMessage.deserialize(message));
  const [moved, ...others] = instructions.filter(({ programId }) => programId.equals(SystemProgram.programId));
  if (!moved || others.length > 0 || transfersIn(message).length > 0) return false;
  const isTransfer =
    moved.data.length === coinLayout.bytes && Buffer.from(moved.data).readUInt32LE(0) === coinLayout.tag;
  const [source, destination] = moved.keys.map(({ pubkey }) => pubkey.toBase58());
  return (
    isTransfer &&
    source === from &&
    destination === receiver &&
    Buffer.from(moved.data).readBigUInt64LE(coinLayout.amount) === amount
  );
}

/** How the system program lays out `Transfer`. */
const coinLayout = { tag: 2, amount: 4, bytes: 12 };

/** A transfer between token accounts, as the message says it. */
export interface TokenTransfer {
  readonly source: string | undefined;
  readonly mint: string | undefined;
  readonly destination: string | undefined;
  readonly authority: string | undefined;
  readonly amount: bigint;
  readonly decimals: number | undefined;
}

/** @throws Error when the bytes are no message, or one that names accounts by a lookup table */
export function transfersIn(message: Uint8Array): readonly TokenTransfer[] {
  const { instructions } = TransactionMessage.decompile(VersionedMessage.deserialize(message));
  return instructions.flatMap(({ programId, keys, data }) => {
    const isTransfer = data[0] === transferLayout.tag && data.length === transferLayout.bytes;
    if (programId.toBase58() !== tokenProgram || !isTransfer) return [];
    const [source, mint, destination, authority] = keys.map(({ pubkey }) => pubkey.toBase58());
    const amount = Buffer.from(data).readBigUInt64LE(transferLayout.amount);
    return [{ source, mint, destination, authority, amount, decimals: data[transferLayout.decimals] }];
  });
}
