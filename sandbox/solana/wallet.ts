/** A wallet's steps before signing: keys, token accounts, and the instructions of a transfer, for web3.js 1.x. */
import {
  type Address,
  address,
  createNoopSigner,
  getBase58Encoder,
  type Instruction,
  isSignerRole,
  isWritableRole,
} from '@solana/kit';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS as tokenProgram,
} from '@solana-program/token';
import { Keypair, PublicKey, TransactionInstruction } from 'solana-web3-v1';

/** @throws Error when the halves do not belong together */
export const keypairOf = (secretKey: string): Keypair =>
  Keypair.fromSecretKey(new Uint8Array(getBase58Encoder().encode(secretKey)));

export interface TokenTransfer {
  readonly from: PublicKey;
  /** A wallet, whose token account is created as needed. */
  readonly to: PublicKey;
  readonly mint: string;
  readonly decimals: number;
  /** In smallest units. */
  readonly amount: bigint;
  /** Keys that the transfer names, so that it can be found by them. */
  readonly references?: readonly PublicKey[];
}

/** Creates the receiver's token account, if it has none, at the sender's cost; then the transfer. */
export async function transferInstructions(transfer: TokenTransfer): Promise<TransactionInstruction[]> {
  const { from, to, amount, decimals, references = [] } = transfer;
  const mint = address(transfer.mint);
  const [source, destination] = await Promise.all([tokenAccount(from, mint), tokenAccount(to, mint)]);
  const payer = createNoopSigner(addressOf(from));
  const create = { payer, ata: addressOf(destination), owner: addressOf(to), mint };
  const ends = { source: addressOf(source), mint, destination: addressOf(destination), authority: payer };
  const move = toWeb3(getTransferCheckedInstruction({ ...ends, amount, decimals }));
  for (const pubkey of references) move.keys.push({ pubkey, isSigner: false, isWritable: false });
  return [toWeb3(getCreateAssociatedTokenIdempotentInstruction(create)), move];
}

/** Address of a wallet's tokens. */
export async function tokenAccount(owner: PublicKey, mint: Address): Promise<PublicKey> {
  const [account] = await findAssociatedTokenPda({ owner: addressOf(owner), mint, tokenProgram });
  return new PublicKey(account);
}

const addressOf = (key: PublicKey): Address => address(key.toBase58());

/** An instruction of the programs' generated clients. */
export function toWeb3({ programAddress, accounts = [], data }: Instruction): TransactionInstruction {
  const keys = accounts.map(({ address: key, role }) => ({
    pubkey: new PublicKey(key),
    isSigner: isSignerRole(role),
    isWritable: isWritableRole(role),
  }));
  return new TransactionInstruction({ programId: new PublicKey(programAddress), keys, data: Buffer.from(data ?? []) });
}
