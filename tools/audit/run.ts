/**
 * The auditor's verifier: reads the log, recomputes every stream, queries the chains, and compares. It uses no read models, cursors or
 * decisions of the product, writes only its own files, and holds neither the log nor the chains in memory.
 */

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { streamPrefixes } from '../../commands/codec.ts';
import type { EventStore } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import { day_ms, epochMs, type Instant, instant, minute_ms } from '../../domain/time.ts';
import { writeWhole } from '../../src/lib/writeWhole.ts';
import { type ChainsRead, readChains, type Witness } from './chains.ts';
import {
  type AuditFact,
  type ByWord,
  type ClosedNetwork,
  type ClosedNetworks,
  createClosedNetworks,
  type DepositClaim,
  factKey,
  newsKey,
  type Out,
  type Unapproved,
  type World,
} from './claims.ts';
import { compareFacts } from './compare.ts';
import { type AuditEntry, type Believed, entryKey } from './entry.ts';
import { type Collector, createCollector, type Finding, findingAt, type Gap } from './findings.ts';
import { type AuditLeaf, auditHeads, comparedHeads, type KeptHead } from './heads.ts';
import { auditGuards, createFirstPass } from './noted.ts';
import { addressBookStream, createBook } from './reckon/others.ts';
import { createSpill, groupedByKey, type Record as Sorted, type Spill } from './spill.ts';
import { type AuditState, openWorkplace, type Workplace } from './state.ts';
import { auditStreams, type TipSeen } from './streams.ts';
import {
  type AccountLedger,
  type AccountSums,
  createAccountLedger,
  createPaymentLedger,
  type PaymentLedger,
  type PaymentSums,
} from './sums.ts';

/** An order reserves its daily share some moments before or after its own time. */
const window_ms = day_ms - 10 * minute_ms;

/**
 * Adds the withdrawals of one operator within a day: each order may be below the limit, and the sum must be as well.
 * @param orders in log order; at most one day of them is in memory. @param most in millionths of a dollar
 */
export function* allowanceFindings(orders: Iterable<Unapproved>, most: bigint): Iterable<Finding> {
  let recent: { readonly at_ms: number; readonly value: bigint }[] = [];
  let sum = 0n;
  for (const { where, at, by, value_microUsd } of orders) {
    const at_ms = Date.parse(at);
    const value = BigInt(value_microUsd);
    const over = recent.filter((each) => at_ms - each.at_ms >= window_ms);
    for (const each of over) sum -= each.value;
    if (over.length > 0) recent = recent.filter((each) => at_ms - each.at_ms < window_ms);
    recent.push({ at_ms, value });
    sum += value;
    // An order that is too large alone is found in its own stream.
    if (sum > most && value <= most)
      yield findingAt(
        'approvalMissing',
        where,
        `with it ${sum} millionths of a dollar were ordered within a day and not approved, the last by ${by}; ${most} may be`,
      );
  }
}

export interface LogDeps {
  /** The raw log without filters. It cannot be written through this. */
  readonly log: Pick<EventStore, 'all' | 'tail'>;
  /** Null without a key: then only hashes, heads and chains are checked. */
  readonly believed: Believed | null;
  readonly progress: (done: bigint, total: bigint, events: number) => void;
  readonly signal: AbortSignal;
  /** Heads that the auditor holds: the log is compared with each of them, too. */
  readonly keptHeads?: readonly KeptHead[];
  /** Events between two saves of the progress: the maximum that an interrupted audit reads again. */
  readonly saveEvery?: number;
}

export interface LogRead {
  readonly entries: Spill<AuditEntry>;
  readonly state: AuditState;
  /** Position that an interrupted audit had reached, before which nothing is read again; null if there was none. */
  readonly goneOnFrom: string | null;
}

const saveEveryDefault = 100_000;

const fresh = (tail: bigint, wanted: readonly number[]): AuditState => ({
  until: tail.toString(),
  after: null,
  events: 0,
  heads: [],
  wanted,
  held: [],
  since: null,
  sealedSince: null,
  latest: null,
  entryRuns: [],
  evidenceRuns: [],
  read: {},
  transactions: 0,
});

/** Reads the log once, from its first event to its end at the start of the audit, and stores the events in the order of streams. */
export async function readLog(
  { log, believed, progress, signal, keptHeads = [], saveEvery = saveEveryDefault }: LogDeps,
  place: Workplace,
): Promise<LogRead> {
  const tail = await log.tail();
  const left = place.load();
  const wanted = keptHeads.map(({ number }) => number);
  const goesOn = left !== null && BigInt(left.until) <= tail && String(left.wanted) === String(wanted);
  let state = goesOn ? left : fresh(tail, wanted);
  const until = BigInt(state.until);
  const goneOnFrom = state.after;
  const entries = createSpill<AuditEntry>({ directory: place.directory, name: 'entries', runs: state.entryRuns });
  const save = () => {
    state = { ...state, entryRuns: entries.flush() };
    place.save(state);
  };
  const after = state.after === null ? null : BigInt(state.after);
  const notes = createFirstPass(state, believed, wanted);
  let unsaved = 0;
  if (until === 0n || (after !== null && after >= until)) return { entries, state, goneOnFrom };
  for await (const batch of log.all({ after, prefixes: streamPrefixes, signal })) {
    const events = batch.events.filter(({ position }) => position <= until);
    for (const stored of events) {
      const entry = notes.read(stored);
      entries.add(entryKey(entry), entry);
    }
    unsaved += events.length;
    state = { ...state, after: batch.position.toString(), events: state.events + events.length, ...notes.now() };
    if (unsaved >= saveEvery) {
      save();
      unsaved = 0;
    }
    progress(batch.position, until, state.events);
    if (batch.position >= until || batch.live) break;
  }
  signal.throwIfAborted();
  state = { ...state, after: state.until };
  save();
  return { entries, state, goneOnFrom };
}

interface Tips {
  readonly revision: number;
  readonly link: string;
}

export interface TipsAudit {
  entry(entry: AuditEntry): void;
  tip(tip: TipSeen): void;
  end(): void;
  /** Saves this state for comparison by the next audit. */
  keep(): void;
}

/** Compares each stream with its state at the last audit, so that a rewritten stream is found even with valid seals. */
export function compareLastTips(directory: string, find: (finding: Finding) => void): TipsAudit {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const index = join(directory, 'tips.json');
  const before: { readonly folder: string; readonly runs: readonly string[] } = existsSync(index)
    ? JSON.parse(readFileSync(index, 'utf8'))
    : { folder: '', runs: [] };
  const folder = before.folder === 'tips-a' ? 'tips-b' : 'tips-a';
  rmSync(join(directory, folder), { recursive: true, force: true });
  const seen = createSpill<Tips>({ directory: join(directory, folder), name: 'tips' });
  const known = createSpill<Tips>({
    directory: join(directory, before.folder || folder),
    name: 'tips',
    runs: before.runs,
  })
    .sorted()
    [Symbol.iterator]();
  let due = next();

  function next(): Sorted<Tips> | null {
    const step = known.next();
    return step.done ? null : step.value;
  }
  function gone({ key, value }: Sorted<Tips>, revision: number | null): void {
    const where = { stream: key, revision, id: null };
    find(findingAt('streamTruncated', where, `an earlier audit saw event ${value.revision}; it is gone`));
  }
  return {
    entry(entry) {
      for (; due && due.key < entry.stream; due = next()) gone(due, null);
      if (due?.key === entry.stream && due.value.revision === entry.revision && due.value.link !== entry.link)
        find(findingAt('streamChanged', entry, `an earlier audit saw ${due.value.link} here, now it is ${entry.link}`));
    },
    tip({ stream, revision, link }) {
      if (due?.key === stream) {
        if (due.value.revision > revision) gone(due, revision);
        due = next();
      }
      seen.add(stream, { revision, link });
    },
    end() {
      for (; due; due = next()) gone(due, null);
    },
    keep() {
      writeWhole(index, JSON.stringify({ folder, runs: seen.flush() }));
      if (before.folder !== '') rmSync(join(directory, before.folder), { recursive: true, force: true });
    },
  };
}

export interface AuditDeps extends Pick<LogDeps, 'log' | 'believed' | 'signal' | 'saveEvery'> {
  /** One per configured chain; none for the log alone. */
  readonly witnesses: readonly Witness[];
  /** Directory of its files, including the last audit's state. */
  readonly directory: string;
  readonly now: () => Instant;
  /** Maximum age of pending transfers: younger ones are no finding. */
  readonly patience_ms: number;
  /** Value above which another operator must approve; null if unknown. */
  readonly approvalFrom_microUsd: bigint | null;
  readonly keptHeads?: readonly KeptHead[];
  /** Required key of the first head. */
  readonly headKey?: string;
  readonly progress?: (progress: AuditProgress) => void;
}

export interface AuditProgress {
  readonly part: 'log' | 'streams' | 'chains' | 'comparing';
  /** From 0 to 1; null if unknown. */
  readonly done: number | null;
  /** Events or transactions of the step so far. */
  readonly count: number;
}

export interface AuditReport {
  /** Position of the log's end at the start. */
  readonly until: string;
  /** Position up to which an interrupted audit had read the log, which is not read again. Null if there was none. */
  readonly goneOnFrom: string | null;
  readonly events: number;
  readonly streams: number;
  readonly transactions: number;
  /** The first findings of each code, in the order of streams; `found` and `kinds` count all. */
  readonly findings: readonly Finding[];
  readonly found: number;
  readonly kinds: Readonly<{ [code: string]: number }>;
  readonly gaps: readonly Gap[];
  /** By chain; empty unless a test network was reset. */
  readonly closedNetworks: readonly ClosedNetwork[];
  /** Payments to receivers that neither the log's terms nor a payer named: at most 100 of `byWordCount`. */
  readonly byWord: readonly ByWord[];
  readonly byWordCount: number;
  readonly payments: readonly PaymentSums[];
  readonly accounts: readonly AccountSums[];
  readonly seconds: number;
}

/** Crash anywhere: the next run continues with its saved reads, and nothing else was changed. */
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

/** Books open within the time allowed for pending transfers. */
function youngSince(deps: AuditDeps, { state: { since } }: LogRead): string | null {
  return since !== null && since > settledBefore(deps) && since <= deps.now() ? since : null;
}

const settledBefore = ({ now, patience_ms }: AuditDeps): Instant => instant(epochMs(now()) - patience_ms);

interface Results extends Collector {
  readonly gaps: Gap[];
}

export interface AuditEvents {
  readonly streams: number;
  readonly claims: Spill<AuditFact>;
  readonly deposits: Spill<DepositClaim>;
  readonly payments: PaymentLedger;
  readonly accounts: AccountLedger;
  readonly closed: ClosedNetworks;
  /** First block of a treasury account in the log, by chain and account. */
  readonly firstBlocks: ReadonlyMap<string, bigint>;
  /** Number of each account's first transaction that the log can know, by chain and account. */
  readonly firstNonces: ReadonlyMap<string, bigint>;
  readonly byWord: readonly ByWord[];
  readonly byWordCount: number;
  readonly keepTips: () => void;
}

/** Maximum listed payments on an operator's word. */
const byWordMax = 100;

function* valuesOf<T>(records: Iterable<{ readonly value: T }>): Iterable<T> {
  for (const { value } of records) yield value;
}

/** Hashes, numbers, heads, and every stream recomputed. */
function passStreams(deps: AuditDeps, place: Workplace, { entries, state }: LogRead, results: Results): AuditEvents {
  const { directory } = place;
  const claims = createSpill<AuditFact>({ directory, name: 'claims' });
  const deposits = createSpill<DepositClaim>({ directory, name: 'deposits' });
  const leaves = createSpill<AuditLeaf>({ directory, name: 'leaves' });
  const [payments, accounts, book] = [createPaymentLedger(), createAccountLedger(), createBook()];
  const heads = auditHeads(comparedHeads(state), {
    leaves,
    find: results.find,
    ...(deps.keptHeads && { kept: deps.keptHeads }),
    ...(deps.headKey !== undefined && { key: deps.headKey }),
  });
  const tips = compareLastTips(deps.directory, results.find);
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
      // Top-ups of the old network are earlier.
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
      // Its name sorts before all streams that use it.
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

/** Compares in both directions: the chains' transactions must be in the log, and the log's on the chains. */
function compare(
  deps: AuditDeps,
  { claims, accounts, closed }: AuditEvents,
  shown: ChainsRead,
  results: Results,
): void {
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
  for (const facts of groupedByKey<AuditFact>(shown.evidence, claims)) {
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

/** A chain's account as a key. */
export const accountKey = (chainId: ChainId, account: string): string => `${chainId} ${account}`;
