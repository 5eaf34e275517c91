/**
 * The auditor's verifier: reads the log, reckons every stream again, asks the chains what really happened, and compares. It takes nothing
 * from read models, cursors or the product's decisions, writes to files of its own alone, and holds neither the log nor the chains in memory.
 */
import type { ChainId } from '../../domain/chains.ts';
import { epochMs, type Instant, instant } from '../../domain/time.ts';
import { allowanceFindings } from './allowance.ts';
import type { Witness } from './chains.ts';
import { type ByWord, type DepositClaim, type Fact, factKey, newsKey, type Out, type Unapproved } from './claims.ts';
import { type ClosedNetwork, type ClosedNetworks, createClosedNetworks } from './closedNetworks.ts';
import { type Collector, createCollector } from './collector.ts';
import { compareFacts } from './compare.ts';
import type { World } from './comparing.ts';
import type { Finding, Gap } from './findings.ts';
import { auditHeads, comparedHeads, type KeptHead, type Leaf } from './heads.ts';
import { type LogDeps, type LogRead, readLog } from './log.ts';
import { auditGuards } from './noted.ts';
import { addressBookStream, createBook } from './reckon/book.ts';
import { createSpill, grouped, type Spill } from './spill.ts';
import { openWorkplace, type Workplace } from './state.ts';
import { auditStreams } from './streams.ts';
import {
  type AccountLedger,
  type AccountSums,
  createAccountLedger,
  createPaymentLedger,
  type PaymentLedger,
  type PaymentSums,
} from './sums.ts';
import { auditTips } from './tips.ts';
import { type ChainsRead, readChains } from './witnesses.ts';

export interface AuditDeps extends Pick<LogDeps, 'log' | 'believed' | 'signal' | 'saveEvery'> {
  /** Of every configured chain; none for the log alone. */
  readonly witnesses: readonly Witness[];
  /** Where its files are, and what it saw the last time. */
  readonly directory: string;
  readonly now: () => Instant;
  /** How long what is under way may take: what is younger is no finding. */
  readonly patience_ms: number;
  /** What is worth more needs another operator; null where that is not known. */
  readonly approvalFrom_microUsd: bigint | null;
  readonly keptHeads?: readonly KeptHead[];
  /** That the first head must be signed with. */
  readonly headKey?: string;
  readonly progress?: (progress: Progress) => void;
}

export interface Progress {
  readonly part: 'log' | 'streams' | 'chains' | 'comparing';
  /** From 0 to 1; null where nobody knows. */
  readonly done: number | null;
  /** Events or transactions of the part so far. */
  readonly count: number;
}

export interface AuditReport {
  /** Position of the log's end when it began. */
  readonly until: string;
  /** Position up to which an interrupted audit had read the log: nothing there was looked at again. Null where none had. */
  readonly goneOnFrom: string | null;
  readonly events: number;
  readonly streams: number;
  readonly transactions: number;
  /** The first so many of each code, in the order of streams; `found` and `kinds` count all. */
  readonly findings: readonly Finding[];
  readonly found: number;
  readonly kinds: Readonly<{ [code: string]: number }>;
  readonly gaps: readonly Gap[];
  /** By chain; empty unless a test network began anew. */
  readonly closedNetworks: readonly ClosedNetwork[];
  /** What left to receivers that neither the log's terms nor a payer named: at most 100 of `byWordCount`. */
  readonly byWord: readonly ByWord[];
  readonly byWordCount: number;
  readonly payments: readonly PaymentSums[];
  readonly accounts: readonly AccountSums[];
  readonly seconds: number;
}

/** Crash anywhere: the next run goes on with what was read, and nothing else was touched. */
export async function runAudit(deps: AuditDeps): Promise<AuditReport> {
  const began_ms = performance.now();
  const place = openWorkplace(deps.directory);
  const results: Results = { ...createCollector(), gaps: [] };
  const tell = deps.progress ?? (() => {});
  const read = await readLog(
    { ...deps, progress: (done, total, count) => tell({ part: 'log', done: Number(done) / Number(total), count }) },
    place,
  );
  auditGuards(read.state, { believed: deps.believed, now: deps.now() }, results);
  const told = passStreams(deps, place, read, results);
  const shown = await readChains(
    {
      ...deps,
      ...told,
      youngSince: youngSince(deps, read),
      progress: (count) => tell({ part: 'chains', done: null, count }),
    },
    place,
    read.state,
  );
  for (const gap of shown.gaps) results.gaps.push(gap);
  compare(deps, told, shown, results);
  const kinds = results.kinds();
  if (!kinds['streamChanged'] && !kinds['streamTruncated']) told.keepTips();
  place.clear();
  return {
    until: read.state.until,
    goneOnFrom: read.goneOnFrom,
    events: read.state.events,
    streams: told.streams,
    transactions: shown.transactions,
    findings: results.found(),
    found: results.count(),
    kinds,
    gaps: results.gaps,
    closedNetworks: told.closed.report(),
    byWord: told.byWord,
    byWordCount: told.byWordCount,
    payments: told.payments.rows(),
    accounts: shown.standings.flatMap(
      ({ standing, ...of }) =>
        told.accounts.close({ ...of, holds: standing.balances, settledBefore: settledBefore(deps) }).rows,
    ),
    seconds: (performance.now() - began_ms) / 1_000,
  };
}

/** Books open within the patience that whatever is under way has. */
function youngSince(deps: AuditDeps, { state: { since } }: LogRead): string | null {
  return since !== null && since > settledBefore(deps) && since <= deps.now() ? since : null;
}

const settledBefore = ({ now, patience_ms }: AuditDeps): Instant => instant(epochMs(now()) - patience_ms);

interface Results extends Collector {
  readonly gaps: Gap[];
}

export interface Told {
  readonly streams: number;
  readonly claims: Spill<Fact>;
  readonly deposits: Spill<DepositClaim>;
  readonly payments: PaymentLedger;
  readonly accounts: AccountLedger;
  readonly closed: ClosedNetworks;
  /** The first block that the log tells of an account of the treasury, by chain and account. */
  readonly firstBlocks: ReadonlyMap<string, bigint>;
  /** The number of each account's first transaction that the log can know, by chain and account. */
  readonly firstNonces: ReadonlyMap<string, bigint>;
  readonly byWord: readonly ByWord[];
  readonly byWordCount: number;
  readonly keepTips: () => void;
}

/** Of what left by an operator's word, the first so many are listed. */
const byWordMax = 100;

function* valuesOf<T>(records: Iterable<{ readonly value: T }>): Iterable<T> {
  for (const { value } of records) yield value;
}

/** Links, numbers, heads, and every stream reckoned again. */
function passStreams(deps: AuditDeps, place: Workplace, { entries, state }: LogRead, results: Results): Told {
  const { directory } = place;
  const claims = createSpill<Fact>({ directory, name: 'claims' });
  const deposits = createSpill<DepositClaim>({ directory, name: 'deposits' });
  const leaves = createSpill<Leaf>({ directory, name: 'leaves' });
  const [payments, accounts, book] = [createPaymentLedger(), createAccountLedger(), createBook()];
  const heads = auditHeads(comparedHeads(state), {
    leaves,
    find: results.find,
    ...(deps.keptHeads && { kept: deps.keptHeads }),
    ...(deps.headKey !== undefined && { key: deps.headKey }),
  });
  const tips = auditTips(deps.directory, results.find);
  const firstBlocks = new Map<string, bigint>();
  const firstNonces = new Map<string, bigint>();
  const unapproved = createSpill<Unapproved>({ directory, name: 'unapproved' });
  const byWord: ByWord[] = [];
  let byWordCount = 0;
  const closed = createClosedNetworks();
  const out: Out = {
    find: results.find,
    claim(claim) {
      claims.add(factKey(claim), claim);
      // Streams of books precede those that claim transactions.
      if (!('account' in claim) || claim.block === null || closed.isClosed(claim)) return;
      const key = `${claim.chainId} ${claim.account}`;
      const block = BigInt(claim.block);
      const known = firstBlocks.get(key);
      if (known === undefined || block < known) firstBlocks.set(key, block);
    },
    once: (key, once) => claims.add(`once ${key}`, { side: 'once', ...once }),
    paired: (key, fact) => claims.add(`pair ${key}`, fact),
    news: (fact) => claims.add(newsKey(fact), fact),
    deposit: (deposit) => deposits.add(`${deposit.family} ${deposit.at} ${deposit.address}`, deposit),
    sum: payments.sum,
    told: accounts.told,
    opening: accounts.opening,
    networkClosed(closing) {
      closed.close(closing);
      accounts.networkClosed(closing.chainId, closing.account);
      // Top-ups of the old network are told before.
      firstBlocks.delete(`${closing.chainId} ${closing.account}`);
    },
    unsettled: closed.unsettled,
    place: (place, fact) => claims.add(`place ${place}`, fact),
    byWord(of) {
      byWordCount += 1;
      if (byWord.length < byWordMax) byWord.push(of);
    },
    unapproved: (of) => unapproved.add(of.at, of),
    firstNonce: (account, nonce) => void firstNonces.set(account, nonce),
  };
  let count = 0;
  const { streams } = auditStreams(entries.sorted(), {
    out,
    book,
    approvalFrom_microUsd: deps.approvalFrom_microUsd,
    good: heads.good,
    tip: tips.tip,
    every(entry) {
      tips.entry(entry);
      // Its name comes before those of all streams that ask it.
      if (entry.stream === addressBookStream && entry.sealed) book.next(entry);
      count += 1;
      if (count % 5_000 === 0) deps.progress?.({ part: 'streams', done: count / state.events, count });
    },
  });
  heads.end();
  tips.end();
  const { approvalFrom_microUsd: most } = deps;
  if (most !== null)
    for (const finding of allowanceFindings(valuesOf(unapproved.sorted()), most)) results.find(finding);
  return {
    ...{ streams, claims, deposits, payments, accounts, closed, firstBlocks, firstNonces, byWord, byWordCount },
    keepTips: tips.keep,
  };
}

/** The chains' transactions first: what they show must be in the log, and what the log says must be there. */
function compare(deps: AuditDeps, { claims, accounts, closed }: Told, shown: ChainsRead, results: Results): void {
  const world: World = {
    settledBefore: settledBefore(deps),
    accountAt: shown.accountAt,
    holderOf: shown.holderOf,
    memoIn: shown.memoIn,
    isBehindEnd: shown.isBehindEnd,
    wasRead: shown.wasRead,
    isOfClosedNetwork: closed.isClosed,
    isWhole: true,
  };
  let count = 0;
  for (const facts of grouped<Fact>(shown.evidence, claims)) {
    for (const fact of facts) if (fact.side === 'chain' && fact.of === 'treasury') accounts.moved(fact);
    compareFacts(facts, world, {
      find: results.find,
      unclaimed: accounts.unclaimed,
      entered: accounts.entered,
      skipped: closed.skip,
    });
    count += facts.length;
    if (count % 5_000 < facts.length) deps.progress?.({ part: 'comparing', done: null, count });
  }
  for (const { standing, ...of } of shown.standings)
    for (const finding of accounts.close({ ...of, holds: standing.balances, settledBefore: world.settledBefore })
      .findings)
      results.find(finding);
}

/** A chain's account, as a key. */
export const accountKey = (chainId: ChainId, account: string): string => `${chainId} ${account}`;
