/** Runs the same steps on both twins and compares what their clients saw. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Clients } from './clients.ts';
import { type Follower, officialFollower, productFollower } from './follower.ts';
import { createPerformer, type EventIds, eventIds } from './perform.ts';
import type { RestartedSequences, Sequence } from './steps.ts';
import type { Signal } from './twin.ts';

/** Numbers of compared items so far. */
export interface Tally {
  sequences: number;
  steps: number;
  restarts: number;
}

export type Twins = readonly [embedded: Clients, real: Clients];

/** A name that begins the names of all streams of one comparison. */
const freshPrefix = (): string => `t${randomUUID().slice(0, 13).replace('-', '')}`;

/** @throws AssertionError that names the first step with different results */
function mustBeAlike(embedded: readonly string[], real: readonly string[]): void {
  for (const [i, line] of real.entries())
    assert.equal(embedded[i], line, `the embedded node (actual) and the real one (expected) differ at step ${i}`);
  assert.equal(embedded.length, real.length);
}

/** Performs one sequence on both twins. */
export async function compareSequence(twins: Twins, { client, steps }: Sequence, tally: Tally): Promise<void> {
  const prefix = freshPrefix();
  const ids = eventIds();
  const [embedded, real] = await onBoth(twins, async (clients) => {
    const performer = createPerformer(clients, client, prefix, ids);
    for (const step of steps) await performer.perform(step);
    return performer.finish();
  });
  tally.sequences += 1;
  tally.steps += steps.length;
  mustBeAlike(embedded, real);
}

/** Performs sequences in turns on both twins, restarts these between the turns, and has followers stay all the time. */
export async function compareRestarted(
  twins: Twins,
  { sequences, restarts }: RestartedSequences,
  tally: Tally,
): Promise<void> {
  const prefix = freshPrefix();
  const ids = sequences.map(eventIds);
  const turns = Math.max(...sequences.map(({ steps }) => steps.length));
  const signals = signalsBefore(restarts, turns);

  const sides = await onBoth(twins, (clients) => openSide(clients, prefix, sequences, ids));
  for (const [turn, before] of signals.entries()) {
    // One side waits for the other: a broken connection fails the appends of all instances of the official client.
    for (const signal of before) await onBoth(twins, (clients) => restart(clients, signal));
    await onBoth(sides, (side) => side.take(turn));
  }
  const [embedded, real] = await onBoth(sides, (side) => side.finish());
  tally.sequences += sequences.length;
  tally.steps += sequences.reduce((sum, { steps }) => sum + steps.length, 0);
  tally.restarts += signals.flat().length;
  for (const [i, line] of real.saw.entries()) mustBeAlike(embedded.saw[i] ?? [], line);
  assert.deepEqual(embedded.followed, real.followed, 'followers that stay through restarts get the same events');
  const [official, product] = real.followed;
  assert.deepEqual(official, product, 'both clients follow alike');
}

/** One twin's side of a comparison in turns. */
interface Side {
  /** Performs the step of that number of each sequence. */
  take(turn: number): Promise<void>;
  finish(): Promise<{ readonly saw: readonly (readonly string[])[]; readonly followed: readonly string[][] }>;
}

async function openSide(
  clients: Clients,
  prefix: string,
  sequences: readonly Sequence[],
  ids: readonly EventIds[],
): Promise<Side> {
  const performers = sequences.map(({ client, steps }, i) => ({
    steps,
    performer: createPerformer(clients, client, `${prefix}-${i}-`, ids[i] ?? eventIds()),
  }));
  const after = await mark(clients, prefix, randomUUID());
  const followers = [
    officialFollower(clients.twin.url, [prefix], after),
    productFollower(clients.store, [prefix], after),
  ];
  return {
    async take(turn) {
      for (const { performer, steps } of performers) {
        const step = steps[turn];
        if (step) await performer.perform(step);
      }
    },
    async finish() {
      const saw: (readonly string[])[] = [];
      for (const { performer } of performers) saw.push(await performer.finish());
      const end = randomUUID();
      await mark(clients, prefix, end);
      return { saw, followed: await Promise.all(followers.map((follower) => followed(follower, end, ids))) };
    },
  };
}

async function restart(clients: Clients, signal: Signal): Promise<void> {
  await clients.twin.restart(signal);
  await clients.renew();
}

/** Signals by turn: one after the last turn as well. */
function signalsBefore(restarts: RestartedSequences['restarts'], turns: number): readonly (readonly Signal[])[] {
  return Array.from({ length: turns + 1 }, (_, turn) =>
    restarts.filter(({ before }) => Math.min(before, turns) === turn).map(({ signal }) => signal),
  );
}

/** Appends an event outside all sequences; returns its position. */
async function mark(clients: Clients, prefix: string, id: string): Promise<bigint> {
  const { position } = await clients.as('official').append(`${prefix}mark`, 'any', [{ id, binary: false, n: 0 }]);
  return position ?? 0n;
}

/** Events that a follower got, named by the sequence and the number in it. */
async function followed(
  follower: Follower,
  end: string,
  ids: readonly ReturnType<typeof eventIds>[],
): Promise<string[]> {
  const got = await follower.until(end);
  return got.map(
    (id) =>
      ids
        .map((of, i) => [i, of.number(id)])
        .find(([, number]) => number !== undefined)
        ?.join(':') ?? 'of the server',
  );
}

async function onBoth<S, T>(both: readonly [S, S], work: (side: S) => Promise<T>): Promise<readonly [T, T]> {
  const [first, second] = await Promise.allSettled(both.map(work));
  for (const outcome of [first, second]) if (outcome?.status === 'rejected') throw outcome.reason;
  return [first, second].map((outcome) => (outcome as PromiseFulfilledResult<T>).value) as [T, T];
}
