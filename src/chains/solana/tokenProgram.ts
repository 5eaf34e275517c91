/**
 * The token programs, as far as they are used here. Layouts of instructions and accounts follow their interfaces:
 * github.com/solana-program/token (interface/src/instruction.rs and state.rs), github.com/solana-program/associated-token-account.
 */
import { boundedMap } from '../../lib/cache.ts';
import { programAddress } from './addresses.ts';
import type { RawAccount } from './reads.ts';
import { type AccountMeta, PublicKey, SystemProgram, TransactionInstruction } from './web3.ts';

export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
/** Program of tokens with extensions. It has no catalogue token. */
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const tokenProgramKey = new PublicKey(tokenProgram);
const associatedProgram = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

/** A wallet's account for a token: derived from owner, program and mint, as the associated token program does. */
export function tokenAccountOf(owner: string, mint: string, program = tokenProgram): string {
  const key = `${owner} ${mint} ${program}`;
  const account = lately.get(key) ?? derived(owner, mint, program);
  lately.set(key, account);
  return account;
}

/** The treasury's accounts are used constantly, and the curve check is slow. */
const lately = boundedMap<string>(2_000);

function derived(owner: string, mint: string, program: string): string {
  const seeds = [owner, program, mint].map((each) => new PublicKey(each).toBytes());
  return programAddress(associatedProgram.toBase58(), seeds);
}

/** An amount of a token, in smallest units. The program refuses a transfer whose decimals are not the mint's. */
export interface TokenAmount {
  readonly mint: string;
  readonly decimals: number;
  readonly amount: bigint;
}

/** Creates a wallet's account for a mint at the payer's cost; an existing account stays unchanged. */
export const createTokenAccount = (
  payer: string,
  owner: string,
  mint: string,
  program = tokenProgram,
): TransactionInstruction =>
  new TransactionInstruction({
    programId: associatedProgram,
    keys: [
      account(payer, 'signs', 'written'),
      account(tokenAccountOf(owner, mint, program), 'written'),
      account(owner),
      account(mint),
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
      account(program),
    ],
    data: Buffer.of(1),
  });

/** Data layout of `TransferChecked`. */
export const transferLayout = { tag: 12, amount: 1, decimals: 9, bytes: 10 };

/** Moves an amount between the token accounts of two wallets. @param references additional keys by which the transaction is found */
export const transferChecked = (
  from: string,
  to: string,
  amount: TokenAmount,
  references: readonly string[] = [],
): TransactionInstruction =>
  transferBetween(
    tokenProgram,
    { from: tokenAccountOf(from, amount.mint), to: tokenAccountOf(to, amount.mint), authority: from },
    amount,
    references,
  );

/** Two token accounts, and the owner of the first one. */
export interface Between {
  readonly from: string;
  readonly to: string;
  readonly authority: string;
}

/** Moves an amount between any two token accounts of a token program. */
export function transferBetween(
  program: string,
  { from, to, authority }: Between,
  { mint, decimals, amount }: TokenAmount,
  references: readonly string[] = [],
): TransactionInstruction {
  const data = Buffer.alloc(transferLayout.bytes);
  data.writeUInt8(transferLayout.tag, 0);
  data.writeBigUInt64LE(amount, transferLayout.amount);
  data.writeUInt8(decimals, transferLayout.decimals);
  const keys = [
    account(from, 'written'),
    account(mint),
    account(to, 'written'),
    account(authority, 'signs'),
    ...references.map((reference) => account(reference)),
  ];
  return new TransactionInstruction({ programId: new PublicKey(program), keys, data });
}

/** Closes a wallet's empty token account; its rent goes to another wallet. */
export const closeTokenAccount = (owner: string, mint: string, rentTo: string): TransactionInstruction =>
  closeAccount(tokenAccountOf(owner, mint), owner, rentTo);

/** Closes an empty token account of the Token program. */
export const closeAccount = (closed: string, owner: string, rentTo: string): TransactionInstruction =>
  new TransactionInstruction({
    programId: tokenProgramKey,
    keys: [account(closed, 'written'), account(rentTo, 'written'), account(owner, 'signs')],
    data: Buffer.of(9),
  });

function account(address: string, ...roles: readonly ('signs' | 'written')[]): AccountMeta {
  return { pubkey: new PublicKey(address), isSigner: roles.includes('signs'), isWritable: roles.includes('written') };
}

/** A token account in the token program's format. */
export interface TokenAccount {
  readonly owner: string;
  readonly amount: bigint;
  /** False if the issuer froze it. */
  readonly usable: boolean;
}

/** Offsets of owner, amount and state in a token account, and its length. */
const layout = { owner: 32, amount: 64, state: 108, bytes: 165 };
const initialized = 1;

/** Undefined for a missing account, or one of another kind. */
export function tokenAccountIn(found: RawAccount | null | undefined): TokenAccount | undefined {
  if (found?.owner !== tokenProgram || found.data.length !== layout.bytes) return undefined;
  return {
    owner: new PublicKey(found.data.subarray(layout.owner, layout.amount)).toBase58(),
    amount: found.data.readBigUInt64LE(layout.amount),
    usable: found.data[layout.state] === initialized,
  };
}

/** Bytes of a token account that hold its amount. */
export const amountSlice = { offset: layout.amount, length: 8 };
/** Bytes that hold its owner. */
export const ownerSlice = { offset: layout.owner, length: 32 };
export const tokenAccount_bytes = layout.bytes;

/** Offset of a mint's decimals, after its authority and supply. */
const decimalsAt = 44;

export const isMint = (found: RawAccount | null | undefined, decimals: number): boolean =>
  found?.owner === tokenProgram && found.data[decimalsAt] === decimals;
