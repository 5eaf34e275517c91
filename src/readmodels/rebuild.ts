/** Fills the next generation of a projection set beside the live one and switches to it. It never acts on the world. */
import { streamPrefixes } from '../../commands/codec.ts';
import { Unavailable } from '../../commands/ports.ts';
import { assert } from '../../domain/decider.ts';
import { notifyAll } from '../../projections/commit.ts';
import {
  activate,
  dropBuilding,
  dropRetired,
  type Generation,
  inSchema,
  lockActive,
  openBuilding,
} from '../../projections/generations.ts';
import { quoted } from '../../projections/sql.ts';
import { endAnalysts } from '../postgres/analytics.ts';
import { ddlOf } from '../postgres/migrate.ts';
import { refuseSetBack } from './logSetBack.ts';
import { batchSizes, follow, openProgress, type ProjectionDeps } from './projections.ts';

export interface RebuildDeps extends ProjectionDeps {
  /** The log is older than the live generation, which contains lost events: waits for nothing, and reuses nothing of an earlier rebuild. */
  readonly logRestored?: boolean;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

export interface RebuildProgress {
  readonly events: bigint;
  /** Log positions: the current one, and the log's end at the start. */
  readonly position: bigint;
  readonly tail: bigint;
}

/** Maximum pause of the live runner while the new generation catches up. */
const switch_ms = 10_000;
/** Maximum attempts after Postgres cancels a statement. */
const triesMax = 5;

/**
 * Crash anywhere before the switch: the live generation is unchanged, and another run continues. After the switch the new one is live; the
 * former one is dropped then or by the next rebuild.
 *
 * @throws LogSetBack, Unavailable, PoisonEvent, FenceLost (another rebuild of the set is running)
 */
export async function rebuild(deps: RebuildDeps): Promise<Generation> {
  const { database, set, store, clock, signal, logRestored = false, onProgress = () => {} } = deps;
  const ddl = await ddlOf(set.name);
  if (logRestored) await dropBuilding(database, set.name);
  else await refuseSetBack(database, store, { signal, ...(clock && { clock }) });
  const progress = await openProgress(deps, await openBuilding(database, set, ddl));
  const tail = await store.tail();

  await catchUp(({ live }) => live, signal);
  await database.transaction(async (tx) => {
    await inSchema(tx, progress.at);
    await tx.query(ddl.indexes);
  });
  await analyse();
  await catchUp(({ live }) => live, signal);
  await progress.end();

  // Visible rows must not vanish again, or a payin could miss its deposit: the live runner waits until the new generation contains every
  // event of the old one.
  const active = await tried(switchOver);
  await tried(() => dropRetired(database, set.name));
  return active;

  function switchOver(): Promise<Generation> {
    return database.transaction(async (tx) => {
      const old = await lockActive(tx, set.name);
      const asFar = () => logRestored || progress.at.events >= (old?.events ?? 0n);
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(switch_ms)]);
      if (!asFar()) await catchUp(asFar, inTime);
      inTime.throwIfAborted();
      await endAnalysts(tx);
      await notifyAll(tx, set);
      return await activate(tx, progress.at);
    });
  }

  /** Readers, and the former runner, may deadlock with this statement: Postgres then cancels one of the two. */
  async function tried<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof Unavailable) || tries === triesMax || signal.aborted) throw error;
      }
    }
  }

  async function catchUp(done: (batch: { live: boolean }) => boolean, until: AbortSignal): Promise<void> {
    const eventsMin = set.rebuildBatch_events ?? batchSizes.eventsMin;
    const sizes = { eventsMin, eventsMax: 2 * eventsMin };
    const options = { after: progress.at.position, prefixes: streamPrefixes, ...sizes, signal: until };
    for await (const batch of follow(store, options)) {
      await progress.apply(batch);
      onProgress({ events: progress.at.events, position: batch.position, tail });
      if (done(batch)) return;
    }
    until.throwIfAborted();
    assert(false, 'a subscription ends only when its signal aborts');
  }

  async function analyse(): Promise<void> {
    const tables = await database.query<{ name: string }>(
      'SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = $2',
      [quoted(progress.at.schema), 'r'],
    );
    for (const { name } of tables) await database.query(`ANALYZE ${quoted(progress.at.schema)}.${quoted(name)}`);
  }
}
