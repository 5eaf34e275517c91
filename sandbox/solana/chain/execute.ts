/** Runs a transaction in a slot and returns its changes. */
import { type Address, address, getAddressDecoder } from '@solana/kit';
import { type Account, sameAccount } from './account.ts';
import type { Accounts } from './accounts.ts';
import { feeOf } from './fee.ts';
import type { TokenBalance, TransactionRecord } from './history.ts';
import type { Machine } from './machine.ts';
import { mintOf, tokenAccountOf, tokenPrograms, uiAmount } from './tokens.ts';
import { isWritable, keysOf, type LoadedAddresses, loadAddresses, type Submitted } from './transaction.ts';

export interface Landed {
  readonly record: TransactionRecord;
  readonly changed: readonly Address[];
}

/** Undefined: no block can include it (bad signature, no money for the fee …), and nothing has changed. */
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
  if (isLoadFailure(outcome.err)) charge(machine, keys[0], before[0], feeOf(submitted.message));
  const after = keys.map((key) => accounts.get(key));
  // A failed transaction costs its fee. Without a cost, it did not even begin.
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
    // The fee is the difference of the sums, because no account of the transaction receives it.
    fee: sum(preBalances) - sum(postBalances),
    costUnits: costOf(
      submitted,
      loaded,
      outcome.unitsConsumed,
      loadedBytes(keys, (key) => before[keys.indexOf(key)] ?? accounts.get(key)),
    ),
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

/** Errors before a transaction's first instruction but after its fee payer was found able to pay. */
const loadFailures: readonly unknown[] = [
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
  'InvalidLoadedAccountsDataSizeLimit',
];

/**
 * Blocks include such a transaction, and its first account pays; the virtual machine alone charges nothing for it.
 * @see https://github.com/solana-foundation/solana-improvement-documents/blob/main/proposals/0082-relax-transaction-constraints.md
 */
export const isLoadFailure = (err: unknown): boolean => loadFailures.includes(err);

function charge(machine: Machine, payer: Address | undefined, account: Account | undefined, fee: bigint): void {
  if (!payer || !account || account.lamports < fee) return;
  machine.put(payer, { ...account, lamports: account.lamports - fee });
}

const account_bytes = 64;
const programDataAt = 4;
const address_bytes = 32;

/**
 * Bytes of all accounts that a transaction loads, with those of programs' code.
 * @see https://github.com/solana-foundation/solana-improvement-documents/blob/main/proposals/0186-loaded-transaction-data-size-specification.md
 */
export function loadedBytes(keys: readonly Address[], accountOf: (key: Address) => Account | undefined): number {
  const codeOf = (key: Address): Address[] => {
    const account = accountOf(key);
    if (account?.owner !== upgradeableLoader || !account.executable) return [];
    return [getAddressDecoder().decode(account.data.subarray(programDataAt, programDataAt + address_bytes))];
  };
  const all = new Set([...keys, ...keys.flatMap(codeOf)]);
  return sum([...all].map((key) => accountOf(key)).map((each) => (each ? account_bytes + each.data.length : 0)));
}

const upgradeableLoader = address('BPFLoaderUpgradeab1e11111111111111111111111');

const cost = { signature: 720, write: 300, dataBytes: 4, page: 8, page_bytes: 32 * 1024 };

/** Cost of a transaction for a block. @see https://github.com/anza-xyz/agave/blob/master/cost-model/src/cost_model.rs */
function costOf({ message }: Submitted, loaded: LoadedAddresses, units: number, bytes: number): number {
  const places = message.staticAccounts.length + loaded.writable.length;
  const written = Array.from({ length: places }, (_, place) => isWritable(message, loaded, place)).filter(
    Boolean,
  ).length;
  const data = sum(message.instructions.map((each) => each.data?.length ?? 0));
  return (
    cost.signature * message.header.numSignerAccounts +
    cost.write * written +
    Math.floor(data / cost.dataBytes) +
    units +
    cost.page * Math.ceil(bytes / cost.page_bytes)
  );
}

/**
 * Only of a transaction that names a token program, itself or through a lookup table: no other can move tokens.
 * @see https://github.com/anza-xyz/agave/blob/master/svm/src/transaction_balances.rs
 */
export function tokenBalances(
  keys: readonly Address[],
  get: (key: Address) => Account | undefined,
): readonly TokenBalance[] {
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

/** All memos in the format of getSignaturesForAddress: `[length] text; …`. */
function memoOf({ message }: Submitted, keys: readonly Address[]): string | null {
  const memos = message.instructions
    .filter(({ programAddressIndex }) => memoPrograms.includes(keys[programAddressIndex] ?? ''))
    .map(({ data }) => `[${data?.length ?? 0}] ${Buffer.from(data ?? []).toString('utf8')}`);
  return memos.length > 0 ? memos.join('; ') : null;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
