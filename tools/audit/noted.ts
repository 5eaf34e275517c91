/** What the first pass over the log remembers for those after it: heads to compare with, and what shows who wrote it. */
import type { StoredEvent } from '../../domain/decider.ts';
import { sealing, sealingInstance } from '../../domain/sealing.ts';
import { epochMs, type Instant, minute_ms } from '../../domain/time.ts';
import type { Collector } from './collector.ts';
import { type Believed, type Entry, readEntry } from './entry.ts';
import { findingAt, type Gap } from './findings.ts';
import { headsStream, withHead } from './heads.ts';
import type { AuditState } from './state.ts';

type Noted = Pick<AuditState, 'heads' | 'held' | 'since' | 'sealedSince' | 'latest'>;

export interface Notes {
  /** The next event, in the order of the log. */
  read(stored: StoredEvent): Entry;
  now(): Noted;
}

/** @param believed null where no key is at hand. @param wanted numbers of heads that the auditor holds */
export function createNotes(noted: Noted, believed: Believed | null, wanted: readonly number[]): Notes {
  let { heads, held, since, sealedSince, latest } = noted;
  /** The first seal is the last moment at which seals can have begun, whatever the stream says that tells of it. */
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
      if (entry.stream === headsStream && entry.type === 'HeadSigned' && !entry.wrong) {
        heads = withHead(heads, entry);
        if (held.length < wanted.length && wanted.includes(entry.data.number)) held = [...held, entry];
      }
      return backdated === null ? entry : withWrongTime(entry, backdated);
    },
    now: () => ({ heads, held, since, sealedSince, latest }),
  };
}

/** Clocks of instances differ, and an append may be retried while the store is away. */
const clocksWithin_ms = 60 * minute_ms;

/** The log's order bounds the times that events state: who backdates an event is found. */
const isBefore = (at: string, latest: string): boolean => Date.parse(latest) - Date.parse(at) > clocksWithin_ms;

const withWrongTime = (entry: Entry, latest: string): Entry => ({
  ...entry,
  wrong: [
    ...(entry.wrong ?? []),
    { code: 'orderBroken', message: `it says that it was written at ${entry.at}, behind an event of ${latest}` },
  ],
});

const sealingStream = `${sealing.category}-${sealingInstance}`;
/** Twice the longest time that may lie between two heads. */
const headsDue_ms = 2 * 1_440 * minute_ms;

/** What shows who wrote the log, where it is gone: nothing is believed for the lack of it. */
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
