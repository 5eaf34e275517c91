/** Effects of transactions: tokens, token accounts and lamports, as far as the service and its customers use them. */
import { parseTransaction, type Submitted } from '../../../../sandbox/solana/chain/transaction.ts';
import { tokenAccountOf, tokenProgram } from '../../../../src/chains/solana/tokenProgram.ts';
import type { AccountState, Effect, TokenHeld } from './slots.ts';

export const systemProgram = '11111111111111111111111111111111';
const associatedProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const budgetProgram = 'ComputeBudget111111111111111111111111111111';
const [signatureFee, rent, microLamports] = [5_000n, 2_039_280n, 1_000_000n];

const known = new Map<string, Submitted>();
const knownMost = 1_000;

/** @param base64 of signed bytes @throws Error */
export function read(base64: string): Submitted {
  const before = known.get(base64);
  if (before) return before;
  if (known.size >= knownMost) known.clear();
  const submitted = parseTransaction(new Uint8Array(Buffer.from(base64, 'base64')));
  known.set(base64, submitted);
  return submitted;
}

export interface State {
  get(address: string): AccountState | undefined;
  put(address: string, state: AccountState | null): void;
  readonly changes: Map<string, AccountState | null>;
}

export function stateOver(accountAt: (address: string) => AccountState | undefined): State {
  const changes = new Map<string, AccountState | null>();
  return {
    changes,
    get: (address) => (changes.has(address) ? (changes.get(address) ?? undefined) : accountAt(address)),
    put: (address, state) => void changes.set(address, state),
  };
}

const wallet = (address: string): AccountState => ({ owner: address, mint: null, amount: 0n, lamports: 0n });

function addLamports(state: State, address: string, lamports: bigint): void {
  const before = state.get(address) ?? wallet(address);
  state.put(address, { ...before, lamports: before.lamports + lamports });
}

interface Instruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Buffer;
}

export function instructionsOf({ message }: Submitted): readonly Instruction[] {
  const { staticAccounts } = message;
  return message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: staticAccounts[programAddressIndex] ?? '',
    accounts: accountIndices.map((index) => staticAccounts[index] ?? ''),
    data: Buffer.from(data ?? []),
  }));
}

/** In lamports, with any outcome. */
export function feeOf(submitted: Submitted): bigint {
  const told = instructionsOf(submitted).filter(({ program }) => program === budgetProgram);
  const units = told.find(({ data }) => data[0] === 2)?.data.readUInt32LE(1) ?? 200_000;
  const price = told.find(({ data }) => data[0] === 3)?.data.readBigUInt64LE(1) ?? 0n;
  const priority = (BigInt(units) * price + microLamports - 1n) / microLamports;
  return signatureFee * BigInt(submitted.signatures.length) + priority;
}

/** An instruction cannot be done. */
class Fails extends Error {}

function runOne(state: State, { program, accounts, data }: Instruction): void {
  const [first = '', second = '', third = '', fourth = ''] = accounts;
  if (program === associatedProgram) openAccount(state, { payer: first, account: second, owner: third, mint: fourth });
  else if (program === systemProgram && data.readUInt32LE(0) === 2) {
    const lamports = data.readBigUInt64LE(4);
    if ((state.get(first)?.lamports ?? 0n) < lamports) throw new Fails('insufficient lamports');
    addLamports(state, first, -lamports);
    addLamports(state, second, lamports);
  } else if (program === tokenProgram) runToken(state, { accounts, data });
}

function runToken(state: State, { accounts, data }: Omit<Instruction, 'program'>): void {
  const [first = '', second = '', third = '', fourth = ''] = accounts;
  if (data[0] === 12) moveTokens(state, { from: first, to: third, by: fourth, amount: data.readBigUInt64LE(1) });
  else if (data[0] === 9) {
    const closed = state.get(first);
    if (!closed || closed.amount > 0n || closed.owner !== third)
      throw new Fails('non-native account can only be closed if its balance is zero');
    state.put(first, null);
    addLamports(state, second, closed.lamports);
  }
}

function openAccount(
  state: State,
  { payer, account, owner, mint }: Readonly<Record<'payer' | 'account' | 'owner' | 'mint', string>>,
): void {
  if (state.get(account)) return;
  if (account !== tokenAccountOf(owner, mint)) throw new Fails('invalid seeds');
  if ((state.get(payer)?.lamports ?? 0n) < rent) throw new Fails('insufficient lamports');
  addLamports(state, payer, -rent);
  state.put(account, { owner, mint, amount: 0n, lamports: rent });
}

interface TokenMove {
  readonly from: string;
  readonly to: string;
  readonly by: string;
  readonly amount: bigint;
}

function moveTokens(state: State, { from, to, by, amount }: TokenMove): void {
  const [source, target] = [state.get(from), state.get(to)];
  if (!source || !target || source.mint !== target.mint || source.owner !== by)
    throw new Fails('invalid account data for instruction');
  if (source.amount < amount) throw new Fails('Error: insufficient funds');
  if (from === to) return;
  state.put(from, { ...source, amount: source.amount - amount });
  state.put(to, { ...target, amount: target.amount + amount });
}

const lamportsOf = (state: State, accounts: readonly string[]): readonly bigint[] =>
  accounts.map((address) => state.get(address)?.lamports ?? 0n);

const tokensOf = (state: State, accounts: readonly string[]): readonly TokenHeld[] =>
  accounts.flatMap((address, accountIndex) => {
    const found = state.get(address);
    return found?.mint ? { accountIndex, mint: found.mint, owner: found.owner, amount: found.amount } : [];
  });

/** Applies changes to accounts and returns them. @param act throws if it fails: then only the fee is paid */
export function effectOf(
  state: State,
  accounts: readonly string[],
  fee: bigint,
  act: () => void,
): Effect & { readonly why: string | null } {
  const [payer = ''] = accounts;
  const [lamportsBefore, tokensBefore] = [lamportsOf(state, accounts), tokensOf(state, accounts)];
  addLamports(state, payer, -fee);
  const saved = new Map(state.changes);
  let why: string | null = null;
  try {
    act();
  } catch (error) {
    if (!(error instanceof Fails)) throw error;
    why = error.message;
    state.changes.clear();
    for (const [address, held] of saved) state.changes.set(address, held);
  }
  const err = why === null ? null : { InstructionError: [2, { Custom: 1 }] };
  const after = { lamportsAfter: lamportsOf(state, accounts), tokensAfter: tokensOf(state, accounts) };
  return { fee, err, why, lamportsBefore, tokensBefore, ...after };
}

/** @returns undefined if its payer cannot pay the fee: no block includes it */
export function execute(state: State, submitted: Submitted) {
  const { staticAccounts: accounts } = submitted.message;
  const fee = feeOf(submitted);
  if ((state.get(accounts[0] ?? '')?.lamports ?? 0n) < fee) return undefined;
  return effectOf(state, accounts, fee, () => {
    for (const each of instructionsOf(submitted)) runOne(state, each);
  });
}

/** A customer's payment: the customer has the money, and opens the receiver's account if needed. */
export function payIn(
  state: State,
  payment: { readonly from: string; readonly to: string; readonly mint: string; readonly amount: bigint },
) {
  const { from, to, mint, amount } = payment;
  const [source, target] = [tokenAccountOf(from, mint), tokenAccountOf(to, mint)];
  state.put(from, { ...wallet(from), lamports: 10n ** 10n });
  state.put(source, { owner: from, mint, amount: amount * 2n, lamports: rent });
  const accounts = [from, source, target, mint, tokenProgram];
  const effect = effectOf(state, accounts, signatureFee, () => {
    openAccount(state, { payer: from, account: target, owner: to, mint });
    moveTokens(state, { from: source, to: target, by: from, amount });
  });
  return { accounts, effect };
}
