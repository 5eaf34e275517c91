/**
 * Signs heads: follows the log, and periodically (by events or minutes) updates the tree and signs its root.
 *
 * A head is appended within the change of the tree. Crash before the append: nothing happened. Between the append and the commit: the tree
 * is older than the newest head, and must reach exactly that position with the signed root before anything is signed. After the commit:
 * both are stored.
 */
import type { Handle } from '../../../commands/handle.ts';
import type { Anchoring } from '../../../commands/heads/anchor.ts';
import { applyMoves, createMoves, type Moves, type TellBroken } from '../../../commands/heads/moves.ts';
import {
  appendHead,
  coveredCategories,
  type HeadKeys,
  type HeadsReading,
  newestHead,
} from '../../../commands/heads/sign.ts';
import {
  loadTopLevels,
  type TopLevels,
  TreeDamaged,
  type TreeProgress,
  type TreeStore,
} from '../../../commands/heads/tree.ts';
import type { Clock, EventStore } from '../../../commands/ports.ts';
import type { HeadSigned } from '../../../domain/heads/heads.ts';
import { epochMs, hour_ms, minute_ms } from '../../../domain/time.ts';

export interface HeadsDeps extends HeadsReading {
  readonly store: Pick<EventStore, 'all' | 'read'>;
  readonly handle: Handle;
  readonly tree: TreeStore;
  readonly clock: Clock;
  readonly keys: () => Promise<HeadKeys>;
  /** The first limit reached signs a head. */
  readonly every: { readonly events: number; readonly duration_ms: number };
  readonly tellBroken: TellBroken;
  /** The log differs from a head. */
  readonly alarm: (message: string) => void;
  readonly failed: (error: unknown) => void;
}

const round_ms = 5_000;
/** Maximum pause after consecutive failures: each one reads all uncovered events again. */
const pauseMax_ms = 5 * minute_ms;
/** Pause after a mismatch: reading the whole log again at once would find the same. */
const mismatch_ms = 15 * minute_ms;
const prefixes = coveredCategories.map((category) => `${category}-`);

/** Until the signal aborts. On one instance at a time: the caller holds a lease. */
export async function followForHeads(deps: HeadsDeps, signal: AbortSignal): Promise<void> {
  let held: TreeState | null = null;
  let pause_ms = round_ms;
  while (!signal.aborted) {
    try {
      held ??= await open(deps);
      await signHeads(deps, held, signal);
      pause_ms = round_ms;
    } catch (error) {
      held = null;
      pause_ms = Math.min(2 * pause_ms, pauseMax_ms);
      if (error instanceof TreeDamaged) await deps.tree.clear().catch(deps.failed);
      if (error instanceof LogDiffers) {
        deps.alarm(error.message);
        pause_ms = mismatch_ms;
      } else if (!signal.aborted) deps.failed(error);
    }
    await deps.clock.sleep(pause_ms, signal);
  }
}

/** State of the tree in the signing process. */
export interface TreeState {
  readonly crown: TopLevels;
  /** Position of the tree; null for an empty one. */
  progress: TreeProgress | null;
  /** Events read and not in the tree yet. */
  moves: Moves;
  readTo: bigint | null;
  /** Time of the first of these events. */
  since_ms: number | null;
  /** Newest head: signing continues after its position. */
  readonly newest: HeadSigned | null;
  /** True if the tree at that position must have the newest head's root, and has not reached it yet. */
  compares: boolean;
  /** True if the whole tree was built from the log in this run. */
  readonly anew: boolean;
}

/** The log, read from its first event on, differs from the one that the newest head was signed for. */
class LogDiffers extends Error {
  override readonly name = 'LogDiffers';
  constructor({ number, position }: HeadSigned) {
    super(
      `the log up to position ${position} is not what head ${number} was signed for: no further head is signed; npm run audit finds the stream (docs/operate/damaged-log.md, "A log that differs from its heads")`,
    );
  }
}

/** Trusts the tree as far as a head proves it; otherwise begins an empty one. */
export async function open(deps: HeadsDeps): Promise<TreeState> {
  const newest = await newestHead(deps);
  const same = newest !== null && String(newest.categories) === String(coveredCategories);
  let progress = await deps.tree.progress();
  let crown = await loadTopLevels(deps.tree);
  const ahead = progress !== null && (!same || progress.position > BigInt(newest.position));
  if (ahead || (progress && newest && isAt(progress, newest) && !isOf(newest, progress, crown))) {
    await deps.tree.clear();
    progress = null;
    crown = await loadTopLevels(deps.tree);
  }
  const compares = same && (progress === null || !isAt(progress, newest));
  const moves = createMoves(deps.tellBroken);
  return {
    crown,
    progress,
    moves,
    readTo: progress?.position ?? null,
    since_ms: null,
    newest,
    compares,
    anew: progress === null,
  };
}

const isAt = ({ position }: TreeProgress, head: HeadSigned): boolean => position === BigInt(head.position);

const isOf = (head: HeadSigned, { streams, events }: TreeProgress, crown: TopLevels): boolean =>
  head.root === rootIn(crown) && head.streams === String(streams) && head.events === String(events);

const rootIn = (crown: TopLevels): string => crown.root().hash.toString('hex');

/** Reads to the log's end, and signs a due head. @throws LogDiffers, TreeDamaged, TreeMoved, HeadKeyMissing, Unavailable */
export async function signHeads(deps: HeadsDeps, held: TreeState, signal: AbortSignal): Promise<void> {
  const { store, clock, every } = deps;
  const end = held.compares && held.newest ? BigInt(held.newest.position) : null;
  for await (const { events, position, live } of store.all({ after: held.readTo, prefixes, signal })) {
    for (const event of events) {
      if (held.compares && end !== null && event.position > end) throw differs(held);
      held.moves.add(event);
      held.since_ms ??= epochMs(clock.now());
      if (held.moves.count >= every.events || event.position === end) await advance(deps, held);
    }
    held.readTo = position;
    if (live) break;
  }
  if (signal.aborted) return;
  if (held.compares) throw differs(held);
  if (held.since_ms !== null && epochMs(clock.now()) - held.since_ms >= every.duration_ms) await advance(deps, held);
}

/** A stored tree may be wrong; one built from the first event on is not. */
const differs = ({ anew, newest }: TreeState): Error =>
  anew && newest
    ? new LogDiffers(newest)
    : new TreeDamaged('the tree of heads does not lead to the newest head: it is made again from the log');

async function advance(deps: HeadsDeps, held: TreeState): Promise<void> {
  const { handle, tree, keys, tellBroken } = deps;
  const { crown, moves, newest, progress } = held;
  if (!moves.newest) return;
  const { position, until } = moves.newest;
  const signs = newest === null || position > BigInt(newest.position);
  const next = await tree.change(progress, async (change) => {
    const more = await applyMoves(change, crown, moves.all, tellBroken);
    const streams = (progress?.streams ?? 0n) + more.streams;
    const to = { position, until, streams, events: (progress?.events ?? 0n) + more.events };
    if (held.compares && newest && isAt(to, newest) && !isOf(newest, to, crown)) throw differs(held);
    await change.moveTo(to);
    if (signs) await appendHead(handle, await keys(), to, rootIn(crown));
    return to;
  });
  if (newest && isAt(next, newest)) held.compares = false;
  Object.assign(held, { progress: next, moves: createMoves(tellBroken), since_ms: null });
}

// Follows the anchors of heads: orders a due one, records a final one, and raises an alarm for a missing one.

export interface AnchorsDeps {
  readonly anchoring: Anchoring;
  readonly clock: Clock;
  readonly every_ms: number;
  /** No anchor has been recorded for too long. */
  readonly alarm: (message: string) => void;
  /** Age of the newest anchor. */
  readonly observe: (age_ms: number) => void;
  readonly failed: (error: unknown) => void;
}

const anchorRound_ms = minute_ms;
/** Delay allowed beyond twice the interval. */
const patience_ms = hour_ms;

/** Until the signal aborts. On one instance at a time: the caller holds a lease. */
export async function followForAnchors(deps: AnchorsDeps, signal: AbortSignal): Promise<void> {
  const { anchoring, clock, every_ms, alarm, observe, failed } = deps;
  const began_ms = epochMs(clock.now());
  let anchored_ms = began_ms;
  while (!signal.aborted) {
    try {
      const at = await anchoring.round();
      anchored_ms = at === null ? began_ms : epochMs(at);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    const now_ms = epochMs(clock.now());
    observe(now_ms - anchored_ms);
    // An anchor that was due during downtime is ordered soon.
    if (now_ms - Math.max(anchored_ms, began_ms) > 2 * every_ms + patience_ms)
      alarm('no log head was written to the chain for too long: check why the operation anchor-… waits');
    await clock.sleep(anchorRound_ms, signal);
  }
}
