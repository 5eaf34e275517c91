/** The token accounts of deposits: where they are, and what they hold. */
import { inParallel } from '../../inParallel.ts';
import { callsAtOnce, solanaChain } from '../config.ts';
import { type AsOf, accountsOf, accountsPerCall } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { amountSlice, tokenAccountOf } from '../tokenProgram.ts';

/** Deriving an account's address takes a while: those that are watched are kept. */
export function createAddressBook() {
  const known = new Map<string, readonly string[]>();
  return {
    /** Each owner's account for every token of the catalogue. */
    accountsOf: (owners: readonly string[]): readonly string[] =>
      owners.flatMap((owner) => {
        const accounts = known.get(owner) ?? solanaChain().tokens.map(({ address }) => tokenAccountOf(owner, address));
        known.set(owner, accounts);
        return accounts;
      }),
    keepOnly(watched: ReadonlySet<string>): void {
      for (const owner of known.keys()) if (!watched.has(owner)) known.delete(owner);
    },
  };
}

/** @returns what each token account holds, in smallest units; nothing where there is none */
export async function balancesOf(
  node: SolanaNode,
  accounts: readonly string[],
  asOf: AsOf,
): Promise<ReadonlyMap<string, bigint>> {
  const batches = Array.from({ length: Math.ceil(accounts.length / accountsPerCall) }, (_, at) =>
    accounts.slice(at * accountsPerCall, (at + 1) * accountsPerCall),
  );
  const answers = await inParallel(batches, callsAtOnce, async (batch) => {
    const found = await accountsOf(node, batch, { ...asOf, slice: amountSlice });
    return found.accounts.map((account) =>
      account?.data.length === amountSlice.length ? account.data.readBigUInt64LE() : 0n,
    );
  });
  const amounts = answers.flat();
  return new Map(accounts.map((account, at) => [account, amounts[at] ?? 0n]));
}
