/** Reads transactions as money that reached wallets. */
import { type Token, tokenAt } from '../../../../domain/chains.ts';
import { solanaChain } from '../config.ts';
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
 * What a transaction added, all of its transfers together, to the token accounts where wallets expect their money: of the catalogue's
 * tokens alone, which the token program keeps, and by the difference of the balances. Nothing when it failed.
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

/** Whose balance of the token fell most; who paid the fee where none did: then it was minted, or bridged. */
function payerOf({ before, after, feePayer }: Landed, mint: string): string {
  const left = new Map(after.map(({ account, amount }) => [account, amount]));
  const spent = ({ account, amount }: TokenBalance) => amount - (left.get(account) ?? 0n);
  const [most] = before.filter((balance) => balance.mint === mint).toSorted((a, b) => (spent(a) < spent(b) ? 1 : -1));
  return most?.owner !== undefined && spent(most) > 0n ? most.owner : feePayer;
}

/** What an account held when the transaction had ended; nothing when it was closed. */
export const leftIn = (account: string, { after }: Landed): bigint =>
  after.find((balance) => balance.account === account)?.amount ?? 0n;
