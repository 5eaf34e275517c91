/** Reads the treasury accounts and all deposits from the chains themselves, page by page, up to one block each. */
import type { AccountBalances, AccountHistory, AccountTransaction } from '../../commands/accountHistory.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import { type AuditFact, type ClosedNetworks, type DepositClaim, type Evidence, factKey } from './claims.ts';
import type { Gap } from './findings.ts';
import { createSpill, type Spill } from './spill.ts';
import type { AuditState, Workplace } from './state.ts';
import type { AccountLedger } from './sums.ts';

/** An account of the treasury. */
export interface WitnessedAccount {
  readonly account: string;
  /** Addresses whose money belongs to the account; includes itself if it receives payins. */
  readonly payinAddresses: readonly string[];
}

/** A chain to query: its nodes, without the service's state. */
export interface Witness {
  readonly chainId: ChainId;
  readonly family: string;
  accounts(signal: AbortSignal): Promise<readonly WitnessedAccount[]>;
  readonly history: Pick<AccountHistory, 'listsCoin' | 'holderOf' | 'memoIn' | 'transactions' | 'standing'>;
  /** The last block at or before a time. */
  blockAt(at: Instant, signal: AbortSignal): Promise<bigint>;
  /** Catalogue-token transfers of deposits in both directions. Omitted if payments share the treasury's address. */
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

/** Range of an account's own transaction numbers. */
export interface Numbers {
  readonly first: bigint;
  readonly end: bigint;
}

export interface ReadRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** @param after end of an earlier run; null for the beginning. @param page called after each page, with the start of the next one */
export async function readAccountPages(
  witness: Witness,
  account: string,
  { from, to }: ReadRange,
  {
    after,
    signal,
    page,
    numbers,
  }: {
    readonly after: string | null;
    readonly signal: AbortSignal;
    page(found: readonly Evidence[], next: string | null): void;
    /** First number of the account's transactions, and the one after their last; null if unknown. */
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
  // A node without old states finds transactions with logs. Numbers prove that nothing is missing.
  const isWhole = numbers !== null && after === null && own.count === numbers.end - numbers.first;
  return complete || isWhole ? null : { of, why: 'no node remembers all that it sent: ask an archive node' };
}

export interface ReadingDeps {
  readonly witnesses: readonly Witness[];
  readonly deposits: Spill<DepositClaim>;
  readonly accounts: AccountLedger;
  readonly firstBlocks: ReadonlyMap<string, bigint>;
  readonly firstNonces: ReadonlyMap<string, bigint>;
  /** Start of the log, if it is so young that the service may not have opened its books yet; else null. */
  readonly youngSince: string | null;
  readonly closed: Pick<ClosedNetworks, 'report'>;
  readonly signal: AbortSignal;
  readonly progress: (transactions: number) => void;
}

export interface Stood {
  readonly chainId: ChainId;
  readonly account: string;
  readonly listsCoin: boolean;
  readonly standing: AccountBalances;
}

export interface ChainsRead {
  readonly evidence: Spill<AuditFact>;
  readonly transactions: number;
  readonly gaps: readonly Gap[];
  readonly standings: readonly Stood[];
  accountAt(chainId: ChainId, address: string): string | null;
  holderOf(chainId: ChainId, address: string): string;
  memoIn(chainId: ChainId, address: string): string | null;
  isBehindEnd(chainId: ChainId, address: string, block: string | null): boolean;
  wasRead(chainId: ChainId, address: string, block: string | null): boolean;
}

/** Deposits per query. */
const depositsAtOnce = 200;

interface Reading {
  readonly deps: ReadingDeps;
  readonly place: Workplace;
  readonly evidence: Spill<AuditFact>;
  readonly gaps: Gap[];
  readonly standings: Stood[];
  /** Blocks that were read of treasury accounts, by chain and address. */
  readonly ranges: Map<string, { readonly account: string; readonly from: bigint; readonly to: bigint }>;
  /** Last block that was read of a chain's deposits. */
  readonly depositsTo: Map<ChainId, bigint>;
  state: AuditState;
}

/** Queries every chain for the transactions of the treasury's accounts and of every deposit that was ever disclosed. */
export async function readChains(deps: ReadingDeps, place: Workplace, state: AuditState): Promise<ChainsRead> {
  const evidence = createSpill<AuditFact>({ directory: place.directory, name: 'evidence', runs: state.evidenceRuns });
  const reading: Reading = {
    deps,
    place,
    evidence,
    gaps: [],
    standings: [],
    ranges: new Map(),
    depositsTo: new Map(),
    state,
  };
  for (const witness of deps.witnesses) {
    try {
      await readWitness(reading, witness);
    } catch (error) {
      deps.signal.throwIfAborted();
      reading.gaps.push({ of: `chain ${witness.chainId}`, why: (error as Error).message });
    }
  }
  const { gaps, standings, ranges, depositsTo } = reading;
  return {
    evidence,
    transactions: reading.state.transactions,
    gaps,
    standings,
    holderOf: (chainId, address) =>
      deps.witnesses.find((witness) => witness.chainId === chainId)?.history.holderOf?.(address) ?? address,
    memoIn: (chainId, address) =>
      deps.witnesses.find((witness) => witness.chainId === chainId)?.history.memoIn?.(address) ?? null,
    isBehindEnd(chainId, address, block) {
      const end = ranges.get(`${chainId} ${address}`)?.to ?? depositsTo.get(chainId);
      return end !== undefined && block !== null && BigInt(block) > end;
    },
    accountAt: (chainId, address) => ranges.get(`${chainId} ${address}`)?.account ?? null,
    wasRead(chainId, address, block) {
      const range = ranges.get(`${chainId} ${address}`);
      const at = block === null ? null : BigInt(block);
      if (range) return at === null || (range.from <= at && at <= range.to);
      const to = depositsTo.get(chainId);
      return to !== undefined && (at === null || at <= to);
    },
  };
}

async function readWitness(reading: Reading, witness: Witness): Promise<void> {
  const { deps, standings } = reading;
  const { chainId, history } = witness;
  const accounts = await witness.accounts(deps.signal);
  let to = 0n;
  for (const of of accounts) {
    const standing = await history.standing(of.account, deps.signal);
    await readWhole(reading, witness, of, standing);
    standings.push({ chainId, account: of.account, listsCoin: history.listsCoin, standing });
    if (standing.blockNumber > to) to = standing.blockNumber;
  }
  if (witness.deposits) await readDeposits(reading, witness, to);
}

/** Since its books began, or since the log first mentions it. */
async function readWhole(
  reading: Reading,
  witness: Witness,
  { account, payinAddresses }: WitnessedAccount,
  { blockNumber: to, sent }: AccountBalances,
): Promise<void> {
  const { deps, ranges, gaps } = reading;
  const key = `${witness.chainId} ${account}`;
  const opening = deps.accounts.openingOf(witness.chainId, account);
  const told = [opening && BigInt(opening.block) + 1n, deps.firstBlocks.get(key)].filter(
    (block) => block !== undefined,
  );
  const [first] = told.toSorted((a, b) => Number(a - b));
  const wasClosed = deps.closed.report().some(({ chainId }) => chainId === witness.chainId);
  const youngSince = wasClosed ? null : deps.youngSince;
  if (first === undefined && youngSince === null)
    return void gaps.push({
      of: `${account} on chain ${witness.chainId}`,
      why: wasClosed
        ? 'its books were closed when its network began anew, and the service has not opened them again yet'
        : 'the log tells nothing of it: its books are not open',
    });
  if (opening === undefined && youngSince === null && !wasClosed)
    gaps.push({ of: `${account} on chain ${witness.chainId}`, why: 'its books are not open: no balance is compared' });
  // The service opens books within its first minutes: until then the account is read from the log's own beginning.
  const from = first ?? (await witness.blockAt(youngSince as Instant, deps.signal));
  for (const address of new Set([account, ...payinAddresses]))
    ranges.set(`${witness.chainId} ${address}`, { account, from, to });
  const after = reading.state.read[key] ?? null;
  if (after === 'done') return;
  const gap = await readAccountPages(
    witness,
    account,
    { from, to },
    {
      after,
      signal: deps.signal,
      numbers: numbersOf(deps.firstNonces.get(key), sent),
      page: (found, next) => note(reading, found, { [key]: next ?? 'done' }),
    },
  );
  if (gap) gaps.push(gap);
}

/** Null if the log knows no first number; nothing was sent if the chain has none either. */
function numbersOf(first: bigint | undefined, sent: bigint | undefined): Numbers | null {
  if (sent === undefined) return null;
  if (first === undefined) return sent === 0n ? { first: 0n, end: 0n } : null;
  return { first, end: sent };
}

/** Stores findings and progress together. */
function note(reading: Reading, found: readonly Evidence[], read: AuditState['read']): void {
  const { evidence, place, deps, state } = reading;
  for (const each of found) evidence.add(factKey(each), each);
  const transactions = state.transactions + found.length;
  reading.state = { ...state, transactions, read: { ...state.read, ...read }, evidenceRuns: evidence.flush() };
  place.save(reading.state);
  deps.progress(transactions);
}

/** In the order of disclosure, so each batch is searched from about its own first day on. */
async function readDeposits(reading: Reading, witness: Witness, to: bigint): Promise<void> {
  const { deps, depositsTo } = reading;
  let batch: DepositClaim[] = [];
  let number = 0;
  const flush = async (): Promise<void> => {
    const [first] = batch;
    const key = `${witness.chainId} deposits ${number}`;
    const addresses = [...new Set(batch.map(({ address }) => address))];
    number += 1;
    batch = [];
    if (!first || reading.state.read[key] === 'done') return;
    const from = await witness.blockAt(first.at as Instant, deps.signal);
    const found: Evidence[] = [];
    for await (const { address, transaction } of witness.deposits?.(addresses, { from, to }, deps.signal) ?? [])
      found.push(evidenceOf(witness, 'deposit', address, transaction));
    note(reading, found, { [key]: 'done' });
  };
  for (const { value } of deps.deposits.sorted()) {
    if (value.family !== witness.family) continue;
    batch.push(value);
    if (batch.length >= depositsAtOnce) await flush();
  }
  await flush();
  depositsTo.set(witness.chainId, to);
}
