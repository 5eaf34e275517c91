/** One payment's report: its events with their hashes, and each transaction as its chain returns it. */
import type { EventStore } from '../../commands/ports.ts';
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import { deliveryIdOf } from '../../domain/webhook.ts';
import { evidenceOf, type Witness, type WitnessedAccount } from './chains.ts';
import {
  type AuditFact,
  type Claim,
  type ClosedNetworks,
  createClosedNetworks,
  type Evidence,
  factKey,
  newsKey,
  type Out,
  type ReportedEvent,
  type Telling,
} from './claims.ts';
import { compareFacts, compareNews } from './compare.ts';
import { isInflow } from './compareInflows.ts';
import { type AuditEntry, type Believed, readEntry } from './entry.ts';
import type { Finding, Gap } from './findings.ts';
import { createBook } from './reckon/others.ts';
import { findingLines } from './report.ts';
import { auditStreams } from './streams.ts';

export interface StoryDeps {
  readonly log: Pick<EventStore, 'read'>;
  readonly believed: Believed | null;
  readonly witnesses: readonly Witness[];
  readonly settledBefore: string;
  readonly signal: AbortSignal;
}

interface Story {
  readonly events: readonly AuditEntry[];
  /** The log's statements about each transaction, and the chain's result at its block. */
  readonly transactions: readonly { readonly claims: readonly Claim[]; readonly shown: readonly Evidence[] }[];
  readonly findings: readonly Finding[];
  readonly gaps: readonly Gap[];
}

/** @returns null if there is no such payment @throws Unavailable, ChainUnavailable */
export async function auditStory(paymentId: string, deps: StoryDeps): Promise<Story | null> {
  const entries = await entriesOf(deps, `payment-${paymentId}`);
  if (entries.length === 0) return null;
  const hooks = await Promise.all(entries.map(({ id }) => entriesOf(deps, `webhook-${deliveryIdOf(id)}`)));
  const batched = entries.filter(({ type }) => type === 'PayoutBatched').map(({ data }) => `payoutBatch-${data.batch}`);
  const batches = await Promise.all([...new Set(batched)].map((stream) => entriesOf(deps, stream)));
  const all = [...entries, ...batches.flat(), ...hooks.flat()];
  const findings: Finding[] = [];
  const claims: Claim[] = [];
  const news: (ReportedEvent | Telling)[] = [];
  const nothing = (): void => {};
  const out: Out = {
    find: (finding) => findings.push(finding),
    claim: (claim) => claims.push(claim),
    once: nothing,
    paired: nothing,
    news: (fact) => news.push(fact),
    deposit: nothing,
    sum: nothing,
    told: nothing,
    opening: nothing,
    networkClosed: nothing,
    unsettled: nothing,
    place: nothing,
    byWord: nothing,
    unapproved: nothing,
    firstNonce: nothing,
  };
  const sorted = all.map((value) => ({ key: value.stream, value }));
  auditStreams(sorted, {
    out,
    book: createBook(),
    approvalFrom_microUsd: null,
    good: nothing,
    tip: nothing,
    every: nothing,
  });
  for (const told of Map.groupBy(news, newsKey).values()) compareNews(told, deps, out);
  const gaps: Gap[] = [];
  const transactions = [];
  const closed = createClosedNetworks();
  for (const chainId of new Set(claims.map((claim) => claim.chainId))) await readClosings(deps, chainId, closed);
  const compared = { closed, gaps, findings };
  for (const own of Map.groupBy(claims, factKey).values()) transactions.push(await shownOf(deps, own, compared));
  return { events: all, transactions, findings, gaps };
}

/** A broken hash chain is a finding and not an exception, so it reads page by page. */
async function entriesOf({ log, believed }: StoryDeps, stream: string): Promise<readonly AuditEntry[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await log.read(stream, { from: BigInt(events.length), max: 500 });
    events.push(...page);
    if (page.length < 500) return events.map((event) => readEntry(event, believed));
  }
}

/** Reads which networks of the chain were closed. @throws ChainUnavailable */
async function readClosings(deps: StoryDeps, chainId: ChainId, closed: ClosedNetworks): Promise<void> {
  const witness = deps.witnesses.find((each) => each.chainId === chainId);
  for (const { account, payinAddresses } of (await witness?.accounts(deps.signal)) ?? []) {
    const entries = await entriesOf(deps, `books-${chainId}-${account}`);
    for (const { type, position, data } of entries)
      if (type === 'BooksNetworkClosed') closed.close({ chainId, account, position, ...data, payinAddresses });
  }
}

interface Comparing {
  readonly closed: ClosedNetworks;
  readonly gaps: Gap[];
  readonly findings: Finding[];
}

async function shownOf(
  { witnesses, settledBefore, signal }: StoryDeps,
  claims: readonly Claim[],
  { closed, gaps, findings }: Comparing,
) {
  const [first] = claims;
  const witness = witnesses.find(({ chainId }) => chainId === first?.chainId);
  const block = claims.map((claim) => claim.block).find((each) => each !== null);
  const nothing = { claims, shown: [] };
  if (!first || !witness || block === undefined || block === null) {
    if (first && !witness) gaps.push({ of: `chain ${first.chainId}`, why: 'it is not configured here' });
    return nothing;
  }
  if (claims.every(closed.isClosed)) {
    const why = 'it is of a network that began anew, whose transactions no node has any more';
    gaps.push({ of: `transaction ${first.txHash} on chain ${first.chainId}`, why });
    return nothing;
  }
  const accounts = await witness.accounts(signal);
  const at = { from: BigInt(block), to: BigInt(block) };
  const shown: Evidence[] = [];
  for (const address of new Set(claims.map((claim) => addressOf(claim, accounts)))) {
    const asked = { account: address, ...at, order: 'oldestFirst', max: 500, after: null } as const;
    const of = accounts.some(({ account }) => account === address) ? 'treasury' : 'deposit';
    const { transactions } = await witness.history.transactions(asked, signal);
    shown.push(
      ...transactions
        .filter(({ txHash }) => txHash === first.txHash)
        .map((each) => evidenceOf(witness, of, address, each)),
    );
  }
  const facts: AuditFact[] = [...shown, ...claims];
  const accountAt = (_: unknown, address: string) =>
    accounts.find((each) => each.account === address || each.payinAddresses.includes(address))?.account ?? null;
  const holderOf = (_: unknown, address: string) => witness.history.holderOf?.(address) ?? address;
  compareFacts(
    facts,
    {
      ...{
        settledBefore,
        accountAt,
        holderOf,
        wasRead: () => true,
        isOfClosedNetwork: closed.isClosed,
        isWhole: false,
      },
      memoIn: (_, address) => witness.history.memoIn?.(address) ?? null,
      isBehindEnd: () => false,
    },
    { find: (finding) => findings.push(finding), unclaimed: () => {}, entered: () => {}, skipped: () => {} },
  );
  return { claims, shown };
}

function addressOf(claim: Claim, accounts: readonly WitnessedAccount[]): string {
  if (!isInflow(claim)) return claim.account;
  return accounts.find(({ payinAddresses }) => payinAddresses.includes(claim.to))?.account ?? claim.to;
}

// A payment's story as the lines that `npm run audit -- payment <id>` prints.

/** One line per element: texts of a log come from others, and must not begin a line. */
export function storyLines({ events, transactions, findings, gaps }: Story): readonly string[] {
  return [
    ...events.flatMap(eventLines),
    '',
    ...transactions.flatMap(({ claims, shown }) => transactionLines(claims, shown)),
    '',
    ...gaps.map(({ of, why }) => `not looked at: ${of}: ${why}`),
    ...(findings.length === 0 ? ['Log and chains say the same.'] : findings.flatMap(findingLines)),
  ];
}

const eventLines = ({ stream, revision, at, type, id, link, sealed }: AuditEntry): readonly string[] => [
  `${at}  ${type}${stream.startsWith('payment-') ? '' : `  (${stream})`}`,
  `    event ${revision} ${id}, hash ${link}${sealed ? '' : ', WITHOUT A GOOD SEAL'}`,
];

function transactionLines(claims: readonly Claim[], shown: readonly Evidence[]): readonly string[] {
  const [first] = claims;
  if (!first) return [];
  const said = claims.map((claim) => `    the log: ${saidBy(claim)} (event ${claim.where.revision})`);
  const seen = shown.map(
    ({ block, blockHash, account, succeeded, changes }) =>
      `    the chain: block ${block} ${blockHash}, ${succeeded ? 'succeeded' : 'failed'}, ${account}: ${changes.map(({ asset, amount }) => amountText(first.chainId, asset, BigInt(amount))).join(', ') || 'nothing moved'}`,
  );
  return [
    `${chainOf(first.chainId).name} ${first.txHash}`,
    ...said,
    ...(seen.length > 0 ? seen : ['    the chain: nothing at that place']),
  ];
}

function saidBy(claim: Claim): string {
  switch (claim.kind) {
    case 'payin':
    case 'unmatched':
      return `${amountText(claim.chainId, claim.asset, BigInt(claim.amount))} came to ${claim.to}, ${claim.phase}`;
    case 'attempt':
      return `${amountText(claim.chainId, claim.asset, BigInt(claim.amount))} to ${claim.receiver}, ${claim.fate}${claim.cost ? `, fee ${claim.cost.fee}` : ''}`;
    case 'anchor':
      return `the memo ${claim.hash}`;
    case 'batch':
      return `${claim.members.length} payouts in one transaction, ${claim.fate}`;
    default:
      return `${claim.kind}, fee ${claim.fee}`;
  }
}

function amountText(chainId: ChainId, asset: string, units: bigint): string {
  const token = tokenAt(chainOf(chainId), asset);
  return token ? `${formatAmount(units, token.decimals)} ${token.symbol}` : `${units} of ${asset}`;
}
