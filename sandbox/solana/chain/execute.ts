/** Runs a transaction in a slot and tells what it changed. */
import type { Address } from '@solana/kit';
import { sameAccount } from './account.ts';
import type { Accounts } from './accounts.ts';
import type { TokenBalance, TransactionRecord } from './history.ts';
import type { Machine } from './machine.ts';
import { mintOf, tokenAccountOf, tokenPrograms, uiAmount } from './tokens.ts';
import { keysOf, loadAddresses, type Submitted } from './transaction.ts';

export interface Landed {
  readonly record: TransactionRecord;
  readonly changed: readonly Address[];
}

/** Undefined: no block can take it (bad signature, no money for the fee …), and nothing has changed. */
export function execute(
  { machine, accounts }: { readonly machine: Machine; readonly accounts: Accounts },
  block: { readonly slot: number; readonly time_s: number },
  submitted: Submitted,
): Landed | undefined {
  const loaded = loadAddresses(submitted, accounts.get);
  if (!loaded) return undefined;
  const keys = keysOf(submitted, loaded);
  const before = keys.map((key) => accounts.get(key));
  const preTokenBalances = tokenBalances(keys, accounts.get);
  machine.setClock(block.slot, block.time_s);
  const outcome = machine.execute(submitted.transaction, keys);
  const after = keys.map((key) => accounts.get(key));
  // A transaction that fails costs its fee. One that cost nothing could not even begin.
  if (outcome.err !== null && sameAccount(before[0], after[0])) return undefined;

  const changed = keys.filter((_, place) => !sameAccount(before[place], after[place]));
  for (const [place, key] of keys.entries()) {
    if (changed.includes(key)) accounts.changed(block.slot, key, before[place]);
  }
  const preBalances = before.map((account) => Number(account?.lamports ?? 0n));
  const postBalances = after.map((account) => Number(account?.lamports ?? 0n));
  const record: TransactionRecord = {
    ...outcome,
    signature: submitted.signature,
    slot: block.slot,
    blockTime_s: block.time_s,
    bytes: Buffer.from(submitted.bytes).toString('base64'),
    // The fee is the difference of the sums, because it goes to no account that the transaction names.
    fee: sum(preBalances) - sum(postBalances),
    keys,
    loaded,
    memo: memoOf(submitted, keys),
    preBalances,
    postBalances,
    preTokenBalances,
    postTokenBalances: tokenBalances(keys, accounts.get),
  };
  return { record, changed };
}

/**
 * Only of a transaction that names a token program, itself or through a lookup table: no other can move tokens.
 * @see https://github.com/anza-xyz/agave/blob/master/svm/src/transaction_balances.rs
 */
function tokenBalances(keys: readonly Address[], get: Accounts['get']): readonly TokenBalance[] {
  if (!keys.some((key) => tokenPrograms.has(key))) return [];
  return keys.flatMap((key, accountIndex) => {
    const account = get(key);
    const token = tokenAccountOf(account);
    const mint = token && mintOf(get(token.mint));
    if (!account || !token || !mint) return [];
    const { owner } = token;
    const uiTokenAmount = uiAmount(token.amount, mint.decimals);
    return [{ accountIndex, mint: token.mint, owner, programId: account.owner, uiTokenAmount }];
  });
}

export const memoPrograms: readonly string[] = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
];

/** All memos as getSignaturesForAddress tells them: `[length] text; …`. */
function memoOf({ message }: Submitted, keys: readonly Address[]): string | null {
  const memos = message.instructions
    .filter(({ programAddressIndex }) => memoPrograms.includes(keys[programAddressIndex] ?? ''))
    .map(({ data }) => `[${data?.length ?? 0}] ${Buffer.from(data ?? []).toString('utf8')}`);
  return memos.length > 0 ? memos.join('; ') : null;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
