/** Who can take a token: wallets, with an account for it or without one, for it is created with the first payout. */
import type { Token } from '../../../../domain/chains.ts';
import { isOnCurve, systemProgram } from '../addresses.ts';
import { accountsOf, type RawAccount } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';

/**
 * Why a receiver cannot take a token, and what to do; undefined when it can. Money that is sent to the wallet of a token account, or of a
 * program's data, is lost: nobody can sign for it. What exists and belongs to the system program is a wallet, also where no key exists
 * for it (vaults of several owners). What does not exist yet is one only if a key can exist for it.
 * @param held its account for the token
 */
export function obstacle(
  receiver: string,
  found: RawAccount | null | undefined,
  held: RawAccount | null | undefined,
): string | undefined {
  if (!found && !isOnCurve(receiver))
    return `${receiver} is not on the curve and nothing is there: if it is a vault, send it some SOL first`;
  if (found?.executable) return `${receiver} is a program: give the address of a wallet`;
  if (tokenAccountIn(found)) return `${receiver} is a token account: give the address of the wallet that owns it`;
  if (found && found.owner !== systemProgram)
    return `${receiver} belongs to the program ${found.owner}: give the address of a wallet`;
  const account = tokenAccountIn(held);
  if (!account) return undefined;
  if (account.owner !== receiver)
    return `the token account of ${receiver} was given to ${account.owner}: use that wallet`;
  return account.usable ? undefined : `the token account of ${receiver} is frozen by the issuer: use another wallet`;
}

/** @throws RpcFailed */
export async function obstacleTo(node: SolanaNode, token: Token, receiver: string): Promise<string | undefined> {
  const { accounts } = await accountsOf(node, [receiver, tokenAccountOf(receiver, token.address)], {
    commitment: 'confirmed',
  });
  const [found, held] = accounts;
  return obstacle(receiver, found, held);
}
