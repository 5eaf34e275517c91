/** State of the first pass over the log for later passes: heads to compare with, and evidence of the writer. */
import type { StoredEvent } from '../../domain/decider.ts';
import { sealing, sealingInstance } from '../../domain/sealing.ts';
import { epochMs, type Instant, minute_ms } from '../../domain/time.ts';
import { type AuditEntry, type Believed, readEntry } from './entry.ts';
import { type Collector, findingAt, type Gap } from './findings.ts';
import { headsLogStream, withHead } from './heads.ts';
import type { AuditState } from './state.ts';

type Noted = Pick<AuditState, 'heads' | 'held' | 'since' | 'sealedSince' | 'latest'>;

export interface Notes {
  /** The next event, in the order of the log. */
  read(stored: StoredEvent): AuditEntry;
  now(): Noted;
}

/** @param believed null without a key. @param wanted numbers of heads that the auditor holds */
export function createFirstPass(noted: Noted, believed: Believed | null, wanted: readonly number[]): Notes {
  let { heads, held, since, sealedSince, latest } = noted;
  /** Seals began no later than the first seal, whatever the sealing stream says. */
  const begun = (): bigint =>
    sealedSince !== null && believed && BigInt(sealedSince) < believed.begun
      ? BigInt(sealedSince)
      : (believed?.begun ?? 0n);
  return {
    read(stored) {
      const entry = readEntry(stored, believed && { ...believed, begun: begun() });
      const seal: unknown = stored.metadata?.seal;
      if (entry.sealed && typeof seal === 'string') sealedSince ??= entry.position;
      since ??= entry.at;
      const backdated = latest !== null && isBefore(entry.at, latest) ? latest : null;
      if (entry.sealed && !Number.isNaN(Date.parse(entry.at)) && (latest === null || entry.at > latest))
        latest = entry.at;
      if (entry.stream === headsLogStream && entry.type === 'HeadSigned' && !entry.wrong) {
        heads = withHead(heads, entry);
        if (held.length < wanted.length && wanted.includes(entry.data.number)) held = [...held, entry];
      }
      return backdated === null ? entry : withWrongTime(entry, backdated);
    },
    now: () => ({ heads, held, since, sealedSince, latest }),
  };
}

/** Tolerance: clocks of instances differ, and an append may be retried during an outage. */
const clocksWithin_ms = 60 * minute_ms;

/** The log's order bounds the times in events: a backdated event is detected. */
const isBefore = (at: string, latest: string): boolean => Date.parse(latest) - Date.parse(at) > clocksWithin_ms;

const withWrongTime = (entry: AuditEntry, latest: string): AuditEntry => ({
  ...entry,
  wrong: [
    ...(entry.wrong ?? []),
    { code: 'orderBroken', message: `it says that it was written at ${entry.at}, behind an event of ${latest}` },
  ],
});

const sealingStream = `${sealing.category}-${sealingInstance}`;
/** Twice the maximum time between two heads. */
const headsDue_ms = 2 * 1_440 * minute_ms;

/** Checks the events that prove who wrote the log; a missing proof is a finding. */
export function auditGuards(
  { heads, since, sealedSince, events }: AuditState,
  { believed, now }: { readonly believed: Believed | null; readonly now: Instant },
  { find, gaps }: Pick<Collector, 'find'> & { readonly gaps: Gap[] },
): void {
  if (events === 0) return;
  const isOld = since !== null && !(epochMs(now) - Date.parse(since) < headsDue_ms);
  if (heads.length === 0 && isOld)
    gaps.push({
      of: 'heads',
      why: 'the log has none: only a head that somebody kept shows that it was not written anew',
    });
  if (believed === null) return;
  if (sealedSince === null)
    gaps.push({ of: 'seals', why: 'no event has one: nothing shows that the service wrote them' });
  else if (BigInt(sealedSince) < believed.begun)
    find(
      findingAt(
        'revisionMissing',
        { stream: sealingStream, revision: null, id: null },
        `it does not say that seals began at position ${sealedSince} or before, where the first one is`,
      ),
    );
}
