/** What the chains themselves show of the treasury's accounts and of all deposits, page by page, as far as one block each. */
import type { AccountHistory, AccountTransaction } from '../../commands/accountHistory.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { Evidence } from './claims.ts';
import type { Gap } from './findings.ts';

/** An account of the treasury. */
export interface WitnessedAccount {
  readonly account: string;
  /** Addresses whose money is the account's; itself among them where payins come to it. */
  readonly payinAddresses: readonly string[];
}

/** A chain that is asked: its nodes, and nothing that the service remembers of it. */
export interface Witness {
  readonly chainId: ChainId;
  readonly family: string;
  accounts(signal: AbortSignal): Promise<readonly WitnessedAccount[]>;
  readonly history: Pick<AccountHistory, 'listsCoin' | 'holderOf' | 'memoIn' | 'transactions' | 'standing'>;
  /** The last block at or before a time. */
  blockAt(at: Instant, signal: AbortSignal): Promise<bigint>;
  /** What came to deposits and left them, tokens of the catalogue. Left out where payments share the treasury's address. */
  deposits?(
    addresses: readonly string[],
    range: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ): AsyncIterable<{ readonly address: string; readonly transaction: AccountTransaction }>;
}

const pageMax = 500;

export const evidenceOf = (
  { chainId }: Pick<Witness, 'chainId'>,
  of: Evidence['of'],
  account: string,
  { txHash, blockNumber, blockHash, time, outgoing, succeeded, fee, changes, hashMemo }: AccountTransaction,
): Evidence => ({
  side: 'chain',
  chainId,
  txHash,
  of,
  account,
  block: blockNumber.toString(),
  blockHash,
  time,
  outgoing,
  succeeded,
  fee: fee.toString(),
  changes: changes.map(({ amount, ...change }) => ({ ...change, amount: amount.toString() })),
  ...(hashMemo !== undefined && { hashMemo }),
});

/** Of an account's own transactions. */
export interface Numbers {
  readonly first: bigint;
  readonly end: bigint;
}

export interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** @param after where an earlier run stopped; null for the beginning. @param page told after each page, with where the next one begins */
export async function readAccount(
  witness: Witness,
  account: string,
  { from, to }: Range,
  {
    after,
    signal,
    page,
    numbers,
  }: {
    readonly after: string | null;
    readonly signal: AbortSignal;
    page(found: readonly Evidence[], next: string | null): void;
    /** The first number that the account's transactions have, and the one behind their last; null where that is not known. */
    readonly numbers: Numbers | null;
  },
): Promise<Gap | null> {
  let next = after;
  let complete = true;
  const own = { count: 0n, last: -1n };
  do {
    const asked = { account, from, to, order: 'oldestFirst', max: pageMax, after: next } as const;
    const got = await witness.history.transactions(asked, signal);
    complete &&= got.complete;
    next = got.next;
    for (const { nonce } of got.transactions)
      if (nonce !== null && numbers && nonce >= numbers.first && nonce < numbers.end && nonce > own.last)
        Object.assign(own, { count: own.count + 1n, last: nonce });
    page(
      got.transactions.map((each) => evidenceOf(witness, 'treasury', account, each)),
      next,
    );
  } while (next !== null);
  const of = `${account} on chain ${witness.chainId}`;
  // A node without old states finds what logs show. Numbers prove that nothing is missing.
  const isWhole = numbers !== null && after === null && own.count === numbers.end - numbers.first;
  return complete || isWhole ? null : { of, why: 'no node remembers all that it sent: ask an archive node' };
}
