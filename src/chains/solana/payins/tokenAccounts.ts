/** The token accounts of deposits: where they are and what they hold. */
import { inParallel } from '../../inParallel.ts';
import { callsAtOnce, solanaChain } from '../config.ts';
import { type AsOf, accountsOf, accountsPerCall } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { amountSlice, tokenAccountOf } from '../tokenProgram.ts';
import type { Held } from './accountHistory.ts';

export type AddressBook = ReturnType<typeof createAddressBook>;

/** Deriving an account's address takes 0.3 ms: those used last are kept, some forty megabytes of them. */
const keptMax = 200_000;

/** Each owner's account for every token of the catalogue. */
export function createAddressBook(max = keptMax) {
  const known = new Map<string, readonly string[]>();
  return (owner: string): readonly string[] => {
    const accounts = known.get(owner) ?? solanaChain().tokens.map(({ address }) => tokenAccountOf(owner, address));
    known.delete(owner);
    known.set(owner, accounts);
    if (known.size > max) for (const oldest of known.keys()) return known.delete(oldest) ? accounts : accounts;
    return accounts;
  };
}

/** What the owners' token accounts hold. */
export async function heldBy(
  node: SolanaNode,
  owners: readonly string[],
  accountsOfOwner: AddressBook,
  asOf: AsOf,
): Promise<readonly Held[]> {
  const ownersPerCall = Math.floor(accountsPerCall / solanaChain().tokens.length);
  const batches = Array.from({ length: Math.ceil(owners.length / ownersPerCall) }, (_, at) =>
    owners.slice(at * ownersPerCall, (at + 1) * ownersPerCall),
  );
  const answers = await inParallel(batches, callsAtOnce, async (batch) => {
    const asked = batch.flatMap((owner) => accountsOfOwner(owner).map((account) => ({ owner, account })));
    const addresses = asked.map(({ account }) => account);
    const found = await accountsOf(node, addresses, { ...asOf, slice: amountSlice });
    return asked.map((each, at) => ({ ...each, amount: amountIn(found.accounts[at]?.data) }));
  });
  return answers.flat();
}

const amountIn = (data: Buffer | undefined): bigint =>
  data?.length === amountSlice.length ? data.readBigUInt64LE() : 0n;
