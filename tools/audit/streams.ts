/** Pass two: stream by stream, in the order of names. Checks hashes and numbers, and recomputes the events' statements. */
import { categoryOf } from '../../domain/decider.ts';
import type { Out } from './claims.ts';
import { type AuditEntry, type Reckoner, together } from './entry.ts';
import { findingAt } from './findings.ts';
import { createAnchorReckoner, createBatchReckoner } from './reckon/batches.ts';
import { createAccountReckoner, createEarningsReckoner } from './reckon/cashback.ts';
import { createFundedRefundReckoner } from './reckon/fundedRefunds.ts';
import {
  type Book,
  createBooksReckoner,
  createOperationReckoner,
  createRelayReckoner,
  createTreasuryReckoner,
  createUnmatchedReckoner,
} from './reckon/others.ts';
import { createPaymentReckoner } from './reckon/payment.ts';
import { createRebalanceReckoner } from './reckon/rebalances.ts';
import { createNewsReckoner, createWebhookReckoner } from './reckon/webhooks.ts';
import type { Record as Sorted } from './spill.ts';

/** A stream's newest event, up to a position. */
export interface TipSeen {
  readonly stream: string;
  readonly revision: number;
  readonly link: string;
  readonly id: string;
}

export interface StreamsDeps {
  readonly out: Out;
  readonly book: Book;
  readonly approvalFrom_microUsd: bigint | null;
  /** Receives each event with a valid hash and seal, in the order of streams and numbers. */
  readonly good: (entry: AuditEntry) => void;
  /** Receives each stream's end. */
  readonly tip: (tip: TipSeen) => void;
  readonly every: (entry: AuditEntry) => void;
}

/** Cashback pays out money without payins: it has no funds of its own on a chain. */
const quiet: Reckoner = { next() {}, end() {} };

function reckonerOf(stream: string, { out, book, approvalFrom_microUsd }: StreamsDeps): Reckoner {
  switch (categoryOf(stream)) {
    case 'payment':
      return together(
        createPaymentReckoner(out),
        createEarningsReckoner(out),
        createFundedRefundReckoner(out),
        createNewsReckoner(out),
      );
    case 'unmatched':
      return createUnmatchedReckoner(out);
    case 'treasury':
      return createTreasuryReckoner(out, book);
    case 'operation':
      return createOperationReckoner(out, book, approvalFrom_microUsd);
    case 'relay':
      return createRelayReckoner(out);
    case 'rebalance':
      return createRebalanceReckoner(out);
    case 'books':
      return createBooksReckoner(out);
    case 'payoutBatch':
      return createBatchReckoner(out);
    case 'heads':
      return createAnchorReckoner(out);
    case 'webhook':
      return createWebhookReckoner(out);
    case 'credit':
    case 'cashback':
      return createAccountReckoner(out);
    default:
      return quiet;
  }
}

interface Current {
  readonly stream: string;
  readonly reckoner: Reckoner;
  last: AuditEntry;
  /** True while every event so far continued the hash chain. */
  chained: boolean;
}

export function auditStreams(entries: Iterable<Sorted<AuditEntry>>, deps: StreamsDeps): { readonly streams: number } {
  let streams = 0;
  let current: Current | undefined;

  function end(ended: Current | undefined): void {
    if (!ended) return;
    const { reckoner, last } = ended;
    guarded(deps, last, () => reckoner.end());
    deps.tip({ stream: last.stream, revision: last.revision, link: last.link, id: last.id });
  }
  for (const { value: entry } of entries) {
    if (current?.stream === entry.stream) {
      current.chained = follows(deps.out, entry, current.last) && current.chained;
      current.last = entry;
    } else {
      end(current);
      streams += 1;
      const chained = follows(deps.out, entry, null);
      current = { stream: entry.stream, reckoner: reckonerOf(entry.stream, deps), last: entry, chained };
    }
    const { reckoner, chained } = current;
    guarded(deps, entry, () => deps.every(entry));
    for (const { code, message } of entry.wrong ?? []) deps.out.find(findingAt(code, entry, message));
    if (chained && entry.sealed) guarded(deps, entry, () => deps.good(entry));
    if (!entry.wrong?.some(({ code }) => code === 'schemaWrong')) guarded(deps, entry, () => reckoner.next(entry));
  }
  end(current);
  return { streams };
}

/** Schema-valid data that no decision produced can break a computation: that is a finding, not the end of the audit. */
function guarded({ out }: StreamsDeps, entry: AuditEntry, act: () => void): void {
  try {
    act();
  } catch (error) {
    out.find(findingAt('schemaWrong', entry, `${entry.type} cannot be reckoned with: ${(error as Error).message}`));
  }
}

/** @returns true if the event continues its stream's hash chain */
function follows(out: Out, entry: AuditEntry, last: AuditEntry | null): boolean {
  const due = last === null ? 0 : last.revision + 1;
  if (entry.revision !== due) {
    const what = due < entry.revision ? `${due} to ${entry.revision - 1} are missing` : `${due} was due`;
    out.find(findingAt('revisionMissing', entry, `event ${entry.revision} comes, ${what}`));
    return false;
  }
  if (last !== null && BigInt(entry.position) <= BigInt(last.position)) {
    out.find(findingAt('orderBroken', entry, `it stands in the log before event ${last.revision} of its stream`));
    return false;
  }
  const prev = last === null ? null : last.link;
  if (entry.prev === prev) return true;
  out.find(
    findingAt(
      'linkBroken',
      entry,
      `it follows ${entry.prev ?? 'nothing'}, but the event before it is ${prev ?? 'none'}`,
    ),
  );
  return false;
}
