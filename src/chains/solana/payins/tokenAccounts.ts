/** The token accounts of deposits: where they are and what they hold. */
import { lower } from '../../../lib/bigints.ts';
import { inParallel } from '../../../lib/mapLimit.ts';
import { solanaChain } from '../config.ts';
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

/** A page is asked for at once: what a look costs is the same, and one at a node far away takes a third of the time. */
const pageCallsAtOnce = 10;

/** What the owners' token accounts hold, as of a slot or later. */
export async function heldBy(
  node: SolanaNode,
  owners: readonly string[],
  accountsOfOwner: AddressBook,
  asOf: AsOf,
): Promise<{ readonly slot: bigint; readonly held: readonly Held[] }> {
  const ownersPerCall = Math.floor(accountsPerCall / solanaChain().tokens.length);
  const batches = Array.from({ length: Math.ceil(owners.length / ownersPerCall) }, (_, at) =>
    owners.slice(at * ownersPerCall, (at + 1) * ownersPerCall),
  );
  const answers = await inParallel(batches, pageCallsAtOnce, async (batch) => {
    const asked = batch.flatMap((owner) => accountsOfOwner(owner).map((account) => ({ owner, account })));
    const addresses = asked.map(({ account }) => account);
    const { slot, accounts } = await accountsOf(node, addresses, { ...asOf, slice: amountSlice });
    return { slot, held: asked.map((each, at) => ({ ...each, slot, amount: amountIn(accounts[at]?.data) })) };
  });
  const slots = answers.map(({ slot }) => slot);
  return { slot: slots.length > 0 ? slots.reduce(lower) : 0n, held: answers.flatMap(({ held }) => held) };
}

const amountIn = (data: Buffer | undefined): bigint =>
  data?.length === amountSlice.length ? data.readBigUInt64LE() : 0n;
