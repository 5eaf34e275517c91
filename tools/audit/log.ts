/** Reads the log once, from its first event to what was its end when the audit began, and puts it aside in the order of streams. */
import { streamPrefixes } from '../../commands/codec.ts';
import type { EventStore } from '../../commands/ports.ts';
import { type Believed, type Entry, entryKey } from './entry.ts';
import type { KeptHead } from './heads.ts';
import { createNotes } from './noted.ts';
import { createSpill, type Spill } from './spill.ts';
import type { AuditState, Workplace } from './state.ts';

export interface LogDeps {
  /** The raw log: nothing that is in it is left out. Nothing can be written through it. */
  readonly log: Pick<EventStore, 'all' | 'tail'>;
  /** Null where no key is at hand: then links, heads and chains have to do. */
  readonly believed: Believed | null;
  readonly progress: (done: bigint, total: bigint, events: number) => void;
  readonly signal: AbortSignal;
  /** Heads that the auditor holds: the log is compared with each of them, too. */
  readonly keptHeads?: readonly KeptHead[];
  /** Events between two notes of how far it is: what an interrupted audit reads again at most. */
  readonly saveEvery?: number;
}

export interface LogRead {
  readonly entries: Spill<Entry>;
  readonly state: AuditState;
  /** Up to here an interrupted audit had read, and nothing is read again; null where none had. */
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
  const entries = createSpill<Entry>({ directory: place.directory, name: 'entries', runs: state.entryRuns });
  const save = () => {
    state = { ...state, entryRuns: entries.flush() };
    place.save(state);
  };
  const after = state.after === null ? null : BigInt(state.after);
  const notes = createNotes(state, believed, wanted);
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
