/** Reads transactions as money that reached wallets. */
import { type Token, tokenAt } from '../../../../domain/chains.ts';
import { type Instant, instant } from '../../../../domain/time.ts';
import type { TransferLog } from '../../ports.ts';
import { solanaChain } from '../config.ts';
import type { Block } from '../reads.ts';
import { tokenAccountOf, tokenProgram } from '../tokenProgram.ts';
import type { Landed, TokenBalance } from '../transactions.ts';

/** What a transaction added to a wallet's token account. */
export interface Credit {
  readonly owner: string;
  readonly account: string;
  /** Place of the account among all that the transaction names: the same wherever the transaction lands. */
  readonly index: number;
  readonly from: string;
  readonly token: Token;
  readonly amount: bigint;
}

/**
 * What a transaction added to the token accounts where wallets expect their money: the difference of the balances before and after, so
 * all of its transfers together. Only tokens of the catalogue count, kept by the token program. Nothing when the transaction failed.
 */
export function creditsOf(transaction: Landed): readonly Credit[] {
  const { failed, before, after } = transaction;
  if (failed) return [];
  const held = new Map(before.map(({ account, amount }) => [account, amount]));
  return after.flatMap((balance) => {
    const { account, index, owner, program, mint } = balance;
    const amount = balance.amount - (held.get(account) ?? 0n);
    const token = tokenAt(solanaChain(), mint);
    if (amount <= 0n || !token || program !== tokenProgram || owner === undefined) return [];
    if (account !== tokenAccountOf(owner, mint)) return [];
    return [{ owner, account, index, from: payerOf(transaction, mint), token, amount }];
  });
}

/** Whose balance of the token fell most. Where none fell, the token was minted or bridged: then who paid the fee. */
function payerOf({ before, after, feePayer }: Landed, mint: string): string {
  const left = new Map(after.map(({ account, amount }) => [account, amount]));
  const spent = ({ account, amount }: TokenBalance) => amount - (left.get(account) ?? 0n);
  const [most] = before.filter((balance) => balance.mint === mint).toSorted((a, b) => (spent(a) < spent(b) ? 1 : -1));
  return most?.owner !== undefined && spent(most) > 0n ? most.owner : feePayer;
}

/**
 * What an account held after the transaction; nothing when it was closed. One that tells nothing of the account did not touch its tokens:
 * a node lists token balances only where a token program is named, and SOL can be sent to a token account without one.
 * @param held before it
 */
export function leftIn(account: string, { before, after }: Landed, held: bigint): bigint {
  const isIt = (balance: TokenBalance) => balance.account === account;
  return after.find(isIt)?.amount ?? (before.some(isIt) ? 0n : held);
}

export const timeOf = ({ time_s }: Block): Instant => instant(time_s * 1_000);

/** A credit as the service records it. @param block that holds the transaction */
export const logOf = (credit: Credit, transaction: Landed, block: Block): TransferLog => ({
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
