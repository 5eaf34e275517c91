/** Commits for who has the whole log before it: each batch is folded while Postgres still writes the one before. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CommitDeps, type EventBatch, projecting, writeChanges } from '../../projections/commit.ts';
import type { Generation } from '../../projections/generations.ts';
import type { RowChange } from '../../projections/projection.ts';
import { commitOrFindPoison, passes } from './projections.ts';

/** A commit that was made. */
export interface Committed<B extends EventBatch> {
  readonly generation: Generation;
  readonly batch: B;
}

interface Begun<B> {
  readonly batch: B;
  readonly written: Promise<Generation>;
}

/** One batch after the other. */
export async function* commitEach<B extends EventBatch>(
  opened: CommitDeps,
  from: Generation,
  batches: AsyncIterable<B>,
): AsyncGenerator<Committed<B>> {
  let generation = from;
  for await (const batch of batches) {
    generation = await commitOrFindPoison(opened, generation, batch);
    yield { generation, batch };
  }
}

/**
 * The same commits, by two processors. A batch is written only once the one before it is committed, so the checkpoint never passes over one.
 * At the log's end nothing is folded ahead: the fold holds what is committed, and may be gone on with. After a failure it may not.
 *
 * @param reopen makes a fold that knows only what is committed, by which the poison of a batch that fails for good is found
 * @throws as `commitOrFindPoison`
 */
export async function* commitAhead<B extends EventBatch>(
  opened: CommitDeps,
  from: Generation,
  batches: AsyncIterable<B>,
  reopen: (at: Generation) => Promise<CommitDeps>,
): AsyncGenerator<Committed<B>> {
  let at = from;
  let begun: Begun<B> | null = null;
  try {
    for await (const batch of batches) {
      const folding = fold(batch);
      await folding.catch(() => {});
      if (begun) yield await ended(begun);
      begun = { batch, written: folding.then((changes) => writeChanges(opened, at, batch, changes)) };
      begun.written.catch(() => {});
      if (!batch.live) continue;
      yield await ended(begun);
      begun = null;
    }
    if (begun) yield await ended(begun);
  } finally {
    // Nothing is under way when it has ended, however.
    await begun?.written.catch(() => {});
  }

  /** In steps: what is being written needs this thread, too. */
  async function fold(batch: B): Promise<readonly RowChange[]> {
    await opened.fold.prepare(batch.events);
    const steps = projecting(opened, batch.events);
    let step = steps.next();
    for (; !step.done; step = steps.next()) await nextTurn();
    opened.fold.keep(batch.live === true);
    return step.value;
  }

  async function ended({ batch, written }: Begun<B>): Promise<Committed<B>> {
    try {
      at = await written;
    } catch (error) {
      if (!passes(error)) await commitOrFindPoison(await reopen(at), at, batch);
      throw error;
    }
    return { generation: at, batch };
  }
}
