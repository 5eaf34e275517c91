/** Reads transactions as credits of wallets. */
import { type Token, tokenAt } from '../../../../domain/chains.ts';
import { type Instant, instant } from '../../../../domain/time.ts';
import type { TransferLog } from '../../ports.ts';
import { isAddress } from '../addresses.ts';
import { solanaChain } from '../config.ts';
import type { LandedTransaction, TokenBalance } from '../landed.ts';
import type { Block } from '../reads.ts';
import { tokenAccountOf, tokenProgram } from '../tokenProgram.ts';

/** A transaction's credit of a wallet's token account. */
export interface Credit {
  readonly owner: string;
  readonly account: string;
  /** Index of the account among all that the transaction names: the same wherever the transaction lands. */
  readonly index: number;
  readonly from: string;
  readonly token: Token;
  readonly amount: bigint;
}

/**
 * Credits to the watched token accounts of wallets: the difference of the balances before and after, so all its transfers together. Counts
 * only catalogue tokens of the token program. Empty if the transaction failed.
 * @param owners possible wallets, if the node omits an account's owner
 */
export function creditsOf(transaction: LandedTransaction, owners: readonly string[] = []): readonly Credit[] {
  const { failed, accounts, before, after } = transaction;
  if (failed) return [];
  const held = new Map(before.map(({ account, amount }) => [account, amount]));
  return after.flatMap((balance) => {
    const { account, index, mint } = balance;
    const amount = balance.amount - (held.get(account) ?? 0n);
    const token = tokenAt(solanaChain(), mint);
    if (amount <= 0n || !token) return [];
    const owner = walletOf(balance, [...owners, ...accounts]);
    if (owner === undefined) return [];
    return [{ owner, account, index, from: payerOf(transaction, mint), token, amount }];
  });
}

/** Accounts with a catalogue credit whose owner is missing both at the node and in the transaction. */
export const ownerless = ({ failed, accounts, after }: LandedTransaction): readonly string[] =>
  failed
    ? []
    : after
        .filter((balance) => balance.owner === undefined && tokenAt(solanaChain(), balance.mint))
        .filter((balance) => walletOf(balance, accounts) === undefined)
        .map(({ account }) => account);

/**
 * Wallet of a token account at the address derived from wallet, token program and mint; a matching address also proves the program.
 * Undefined for other accounts.
 */
function walletOf({ account, mint, owner, program }: TokenBalance, owners: readonly string[]): string | undefined {
  if (program !== undefined && program !== tokenProgram) return undefined;
  return (owner === undefined ? owners : [owner]).find(
    (each) => isAddress(each) && tokenAccountOf(each, mint) === account,
  );
}

/** Account whose balance of the token fell most. If none fell, the token was minted or bridged: then the fee payer. */
function payerOf({ accounts, before, after }: LandedTransaction, mint: string): string {
  const left = new Map(after.map(({ account, amount }) => [account, amount]));
  const spent = ({ account, amount }: TokenBalance) => amount - (left.get(account) ?? 0n);
  const [most] = before.filter((balance) => balance.mint === mint).toSorted((a, b) => (spent(a) < spent(b) ? 1 : -1));
  const [feePayer = ''] = accounts;
  if (!most || spent(most) <= 0n) return feePayer;
  return most.owner ?? walletOf(most, accounts) ?? feePayer;
}

/**
 * Change of an account's balance by a transaction. A transaction without the account did not change its tokens: a node lists token balances
 * only for transactions that name a token program, and SOL can be sent to a token account without one.
 */
export function changeIn(account: string, { before, after }: LandedTransaction): bigint {
  const amountIn = (balances: readonly TokenBalance[]) =>
    balances.find((balance) => balance.account === account)?.amount ?? 0n;
  return amountIn(after) - amountIn(before);
}

export const timeOf = ({ time_s }: Block): Instant => instant(time_s * 1_000);

/** A credit as the service records it. @param block of the transaction */
export const logOf = (credit: Credit, transaction: LandedTransaction, block: Block): TransferLog => ({
  to: credit.owner,
  memo: null,
  from: credit.from,
  token: credit.token,
  amount: credit.amount,
  txHash: transaction.signature,
  blockNumber: block.slot,
  blockHash: block.hash,
  logIndex: credit.index,
  blockTime: timeOf(block),
});
