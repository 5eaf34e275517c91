/** A small honest world: a log with its previous hashes, seals and heads, and the chains of its payments. Specs plant frauds into it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountBalances, AccountTransaction } from '../../../commands/accountHistory.ts';
import { eventCodec, linkOf, seal, type Tip, tipAfter } from '../../../commands/codec.ts';
import { hashOfHead, headKeyOf } from '../../../commands/heads/chain.ts';
import { coveredCategories } from '../../../commands/heads/sign.ts';
import { rootOfStreams } from '../../../commands/heads/tree.ts';
import type { EventBatchRead } from '../../../commands/ports.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { categoryOf, type DomainEvent, type StoredEvent } from '../../../domain/decider.ts';
import { type Anchor, type HeadsEvent, signHead, tellAnchor } from '../../../domain/heads/heads.ts';
import type { Instant } from '../../../domain/time.ts';
import { createSeals } from '../../../src/security/masterKey.ts';
import type { Witness } from '../../../tools/audit/chains.ts';
import type { Believed } from '../../../tools/audit/entry.ts';
import type { KeptHead } from '../../../tools/audit/heads.ts';
import { type AuditDeps, type AuditReport, runAudit } from '../../../tools/audit/run.ts';
import { hashOf, minute, treasuryAccount } from '../../support/payments.ts';

const seals = createSeals(Buffer.alloc(32, 7));
const headKey = headKeyOf(Buffer.alloc(32, 9));

/** Events in the order of the log. */
export interface Said {
  readonly stream: string;
  readonly event: DomainEvent;
  /** Time of writing. Default: a minute after the previous event. */
  readonly at?: Instant;
}

/** Id of an event by its place: events planted elsewhere change no id. */
export function idAt(stream: string, revision: bigint): string {
  const digits = hashOf(stream, revision.toString()).slice(2);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

/** Writes events like a holder of the master key: each with the previous hash and a seal. */
export function written(said: readonly Said[]): StoredEvent[] {
  const tips = new Map<string, Tip>();
  return said
    .map(({ stream, event, at: writtenAt }, at) => {
      const previous = tips.get(stream) ?? null;
      const category = categoryOf(stream);
      const facts = {
        at: writtenAt ?? minute(at),
        cause: 'worker:test',
        appId: null,
        schemaVersion: eventCodec.schemaVersion(category),
      };
      const revision = (previous?.revision ?? -1n) + 1n;
      const [made] = seal(stream, previous, [event], facts, { eventId: () => idAt(stream, revision) });
      if (!made) throw new Error('one event makes one');
      const link = linkOf({ ...made, stream, revision });
      const sealed = { ...made, metadata: { ...made.metadata, seal: seals.sealOf(link) } };
      tips.set(stream, tipAfter(stream, previous, [sealed]));
      return JSON.parse(JSON.stringify({ ...sealed, stream })) as StoredEvent;
    })
    .map((event, at, all) => ({
      ...event,
      revision: BigInt(all.slice(0, at).filter(({ stream }) => stream === event.stream).length),
      position: BigInt(64 * (at + 1)),
    }));
}

/** Position of the newest event. */
const furthest = (events: readonly StoredEvent[]): bigint =>
  events.map(({ position }) => position).toSorted((a, b) => Number(b - a))[0] ?? 0n;

/** A signed head over all events so far. */
export function head(
  said: readonly Said[],
  before: HeadsEvent | null = null,
  categories: readonly string[] = coveredCategories,
): Said {
  const tips = new Map(written(said).map((event) => [event.stream, event]));
  tips.delete('heads-log');
  const covered = [...tips.values()].filter(({ stream }) => categories.includes(categoryOf(stream)));
  const position = furthest(covered);
  const decided = signHead(
    before,
    {
      position: position.toString(),
      until: minute(said.length),
      events: covered.reduce((sum, { revision }) => sum + revision + 1n, 0n).toString(),
      streams: String(covered.length),
      categories: [...categories],
      root: rootOfStreams(
        covered.map((event) => ({ stream: event.stream, revision: event.revision, link: linkOf(event) })),
      ),
      publicKey: headKey.publicKey,
    },
    { hashOf: hashOfHead, sign: headKey.sign },
  );
  const [event] = decided as readonly HeadsEvent[];
  if (!event) throw new Error('a head is signed');
  return { stream: 'heads-log', event };
}

/** The head is anchored on a chain. `heads-log` has not changed since. */
export function anchored({ event }: Said, anchor: Pick<Anchor, 'headHash' | 'transaction' | 'ledger'>): Said {
  const before = event as HeadsEvent;
  const own = { ...anchor, head: before.data.number, chainId: 1, account: treasuryAccount } as const;
  const how = { seen: before.data.number, publicKey: headKey.publicKey, hashOf: hashOfHead, sign: headKey.sign };
  const [told] = tellAnchor(before, own, how) as readonly HeadsEvent[];
  if (!told) throw new Error('an anchor is told');
  return { stream: 'heads-log', event: told };
}

/** One of the service's accounts, or a deposit, and a transaction's effect on it. */
export interface Shown extends AccountTransaction {
  readonly account: string;
}

export interface Ground {
  readonly chainId: ChainId;
  /** The treasury's account. Default: that of the EVM chains. */
  readonly account?: string;
  readonly transactions: readonly Shown[];
  readonly holds: Readonly<{ [asset: string]: bigint }>;
  /** Accounts by their alias addresses, such as muxed addresses on Stellar. */
  readonly holders?: Readonly<{ [address: string]: string }>;
  /** Memos that addresses contain, as M addresses do on Stellar. */
  readonly memos?: Readonly<{ [address: string]: string }>;
}

/** An old block: number and hash. */
export const block = (number: number) => ({
  blockNumber: BigInt(number),
  blockHash: hashOf('block', number),
  time: minute(1),
});
const to = 900;

export function witnessOf({ chainId, transactions, holds, holders = {}, memos = {}, ...ground }: Ground): Witness {
  const { account: own = treasuryAccount } = ground;
  const standing: AccountBalances = { ...block(to), balances: holds };
  const of = (wanted: readonly string[], from: bigint, last: bigint) =>
    transactions.filter(
      ({ account, blockNumber }) => wanted.includes(account) && from <= blockNumber && blockNumber <= last,
    );
  return {
    chainId,
    family: chainOf(chainId).family,
    accounts: async () => [{ account: own, payinAddresses: [] }],
    history: {
      listsCoin: false,
      holderOf: (address) => holders[address] ?? address,
      memoIn: (address) => memos[address] ?? null,
      transactions: async ({ account, from, to: last }) => ({
        transactions: of([account], from, last),
        next: null,
        complete: true,
      }),
      standing: async () => standing,
    },
    blockAt: async () => 1n,
    // On chains with memos, payments share the treasury's own address.
    ...(chainOf(chainId).family !== 'stellar' && {
      async *deposits(addresses: readonly string[], range: { readonly from: bigint; readonly to: bigint }) {
        for (const found of of(addresses, range.from, range.to)) yield { address: found.account, transaction: found };
      },
    }),
  };
}

export interface Audited {
  readonly log: readonly StoredEvent[];
  readonly grounds: readonly Ground[];
  readonly now?: Instant;
  readonly directory?: string;
  readonly sealed?: boolean;
  readonly keptHeads?: readonly KeptHead[];
  readonly more?: Partial<AuditDeps>;
}

/** The log in the view of a holder of the seals' key. */
export const believed: Believed = { begun: 0n, sealsAt: () => seals };

export const logOf = (events: readonly StoredEvent[]) => ({
  async *all({ after }: { readonly after: bigint | null }): AsyncIterable<EventBatchRead> {
    const rest = events.filter(({ position }) => position > (after ?? 0n));
    yield { events: rest, position: rest.at(-1)?.position ?? 0n, live: true };
  },
  tail: async () => furthest(events),
});

export async function audit({
  keptHeads = [],
  log,
  grounds,
  now = minute(10_000),
  directory,
  sealed = true,
  more = {},
}: Audited): Promise<AuditReport> {
  const own = directory ?? mkdtempSync(join(tmpdir(), 'audit-'));
  try {
    return await runAudit({
      log: logOf(log),
      believed: sealed ? believed : null,
      witnesses: grounds.map(witnessOf),
      directory: own,
      now: () => now,
      patience_ms: 60_000,
      approvalFrom_microUsd: 1_000_000_000n,
      keptHeads,
      signal: new AbortController().signal,
      ...more,
    });
  } finally {
    if (directory === undefined) rmSync(own, { recursive: true, force: true });
  }
}

/** Findings, each as `code stream`. */
export const told = ({ findings }: AuditReport): readonly string[] => [
  ...new Set(findings.map(({ code, stream }) => `${code} ${stream}`)),
];

/** Findings with the number of the named event; `-` if a chain or a whole stream is meant. */
export const pointed = ({ findings }: AuditReport): readonly string[] => [
  ...new Set(findings.map(({ code, stream, revision }) => `${code} ${stream} ${revision ?? '-'}`)),
];
