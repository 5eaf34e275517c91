/**
 * Fills read models as of a moment into a separate schema. Appends, notifies, sends and signs nothing, and does not touch the live ones.
 */
import { streamPrefixes } from '../../commands/codec.ts';
import { type AsOf, upTo } from '../../domain/asOf.ts';
import type { EventBatch } from '../../projections/commit.ts';
import type { Generation, SetDdl } from '../../projections/generations.ts';
import { advanceReplay, finishReplay, openReplay, type Replay, replayedSet } from '../../projections/replays.ts';
import { projectionSets } from '../../projections/sets.ts';
import { ddlOf } from '../postgres/migrate.ts';
import { batchSizes, committer, follow, type ProjectionDeps } from './projections.ts';
import type { RebuildProgress } from './rebuild.ts';

export interface ReplayDeps extends Omit<ProjectionDeps, 'set' | 'move'> {
  readonly into: string;
  /** Null for the whole log. */
  readonly until: AsOf | null;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

/**
 * A time ends before the first later event of the log, whatever the clocks say about the events after it.
 *
 * Crash anywhere: rows and checkpoint are committed together, and another run continues after the last batch.
 *
 * @throws NoReplay, PoisonEvent, FenceLost (another replay fills the schema), Unavailable
 */
export async function replay(deps: ReplayDeps): Promise<Replay> {
  const { database, store, signal, into, until, onProgress = () => {} } = deps;
  const ddl = await wholeDdl();
  const opened = await openReplay(database, into, until, ddl);
  let at: Generation = opened;
  const commit = await committer({ ...deps, set: replayedSet, move: advanceReplay }, at);
  const end = await store.tail();
  const tail = until && 'position' in until && until.position < end ? until.position : end;

  const options = { after: at.position, prefixes: streamPrefixes, ...batchSizes, signal };
  for await (const batch of follow(store, options)) {
    const { whole, ...cut } = cutAt(batch, until, at.position);
    if (cut.position !== null) at = await commit(at, { events: cut.events, position: cut.position });
    onProgress({ events: at.events, position: at.position ?? 0n, tail });
    if (!whole || batch.live) return await finishReplay(database, opened, ddl.indexes);
  }
  signal.throwIfAborted();
  throw new Error('a subscription ends only when its signal aborts');
}

/**
 * @param from current position of the rows; null before the first event. @returns the events up to the moment, and whether the moment is
 * reached
 */
function cutAt(batch: EventBatch, until: AsOf | null, from: bigint | null) {
  if (until === null) return { ...batch, whole: true };
  const events = upTo(batch.events, until);
  if ('position' in until) {
    const whole = batch.position < until.position;
    return { events, position: whole ? batch.position : until.position, whole };
  }
  const whole = events.length === batch.events.length;
  return { events, position: whole ? batch.position : (events.at(-1)?.position ?? from), whole };
}

async function wholeDdl(): Promise<SetDdl> {
  const parts = await Promise.all(projectionSets.map(({ name }) => ddlOf(name)));
  return {
    tables: parts.map(({ tables }) => tables).join('\n'),
    indexes: parts.map(({ indexes }) => indexes).join('\n'),
  };
}
