/** Token accounts of deposits: addresses and balances. */

import { boundedMap } from '../../../lib/cache.ts';
import { inParallel, lower } from '../../../lib/concurrency.ts';
import { ask, list, object, RpcFailed, text, whole } from '../../node/jsonRpc.ts';
import type { StrayTokens } from '../../ports.ts';
import { callsAtOnce, solanaChain } from '../config.ts';
import { accountsOf, accountsPerCall, options, type ReadContext } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { amountSlice, token2022Program, tokenAccountOf, tokenProgram } from '../tokenProgram.ts';
import type { HeldTokenAccount } from './accountHistory.ts';

export type TokenAccountAddresses = ReturnType<typeof createAddressBook>;

/** Deriving an account's address takes 0.3 ms: the most recent ones are cached, some forty megabytes. */
const keptMax = 200_000;

/** Each owner's account for every catalogue token. */
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

/** Concurrent calls for a page: the cost is the same, and with a distant node it takes a third of the time. */
const pageCallsAtOnce = 10;

/** Balances of the owners' token accounts, at a slot or later. */
export async function balancesOfOwners(
  node: SolanaNode,
  owners: readonly string[],
  accountsOfOwner: TokenAccountAddresses,
  asOf: ReadContext,
): Promise<{ readonly slot: bigint; readonly held: readonly HeldTokenAccount[] }> {
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

/** Owners of one page that a read checks. Each costs two calls. */
const ownersMax = 5;
/** Interval at which an owner is checked, about 1 hour. */
const checkEvery_slots = 9_000n;
const rememberedMax = 100_000;
/** Maximum reported accounts of one owner: anyone can open more of them. */
const reportedMax = 10;

export type FindStrayTokens = (
  node: SolanaNode,
  owners: readonly string[],
  slot: bigint,
) => Promise<readonly StrayTokens[]>;

/**
 * Finds tokens of a deposit's owner that no payin is read from: of a mint outside the catalogue, or in a token account other than the one
 * derived from owner and mint. Anyone can send them. The operator is notified and can recover them.
 */
export function createStrayTokens(accountsOf: TokenAccountAddresses): FindStrayTokens {
  const checked = boundedMap<bigint>(rememberedMax);
  return async (node, owners, slot) => {
    const isDue = (owner: string) => slot - (checked.get(owner) ?? -checkEvery_slots) >= checkEvery_slots;
    const due = owners.filter(isDue).slice(0, ownersMax);
    const found = await inParallel(due, callsAtOnce, async (owner) => {
      const read = new Set(accountsOf(owner));
      const programs = [tokenProgram, token2022Program];
      const held = await inParallel(programs, callsAtOnce, (program) =>
        tokensOf(node, owner, program, { commitment: 'finalized', minContextSlot: slot }),
      );
      checked.set(owner, slot);
      return held
        .flat()
        .filter(({ account, amount }) => amount > 0n && !read.has(account))
        .slice(0, reportedMax)
        .map(({ account, token, amount }) => ({ owner, account, token, amount }));
    });
    return found.flat();
  };
}

const unanswered: readonly RpcFailed['kind'][] = ['refused', 'malformed', 'tooLarge'];

/** Balance of an owner in one token account. */
export interface HeldTokens extends StrayTokens {
  readonly decimals: number;
  /** Token program of the account. */
  readonly program: string;
}

/** Reads all token accounts of an owner in a token program. @throws RpcFailed */
export function heldTokensOf(
  node: SolanaNode,
  owner: string,
  program: string,
  asOf: ReadContext,
): Promise<readonly HeldTokens[]> {
  const config = { ...options(asOf), encoding: 'jsonParsed' };
  return ask(node, 'getTokenAccountsByOwner', [owner, { programId: program }, config], (answer) =>
    list(object(answer)['value']).map((entry) => {
      const { pubkey, account } = object(entry);
      const { info } = object(object(object(object(account)['data'])['parsed']));
      const { mint, tokenAmount } = object(info);
      const { amount, decimals } = object(tokenAmount);
      const units = { amount: BigInt(text(amount)), decimals: Number(whole(decimals)) };
      return { owner, account: text(pubkey), token: text(mint), program, ...units };
    }),
  );
}

/** Some providers do not offer the method, and anyone can make its answer too large: then nothing is found. */
async function tokensOf(
  node: SolanaNode,
  owner: string,
  programId: string,
  asOf: ReadContext,
): Promise<readonly HeldTokens[]> {
  try {
    return await heldTokensOf(node, owner, programId, asOf);
  } catch (error) {
    if (error instanceof RpcFailed && unanswered.includes(error.kind)) return [];
    throw error;
  }
}
