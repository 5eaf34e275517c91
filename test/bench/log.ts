/** The embedded event store alone: appends and reads, compared with another checkout of the product. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { cpuSeconds, loadText } from './machine.ts';
import { median, table, whole } from './table.ts';

export interface LogOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Directory of another checkout with its dependencies. Default: only this checkout is measured. */
  readonly beside?: string;
}

interface Round {
  readonly appends: number;
  readonly appendCpu_us: number;
  readonly reads: number;
  readonly readCpu_us: number;
}

interface Candidate {
  readonly name: string;
  readonly start: typeof spawnEmbeddedNode;
  readonly rounds: Round[];
}

const callers = 80;
const data = { paymentId: randomUUID(), text: 'x'.repeat(600) };

/** Alternates rounds, each on a fresh log. @returns a table with medians and the ratio to the other checkout */
export async function benchLog({ rounds, seconds, beside }: LogOptions): Promise<string> {
  const candidates: Candidate[] = [{ name: 'this', start: spawnEmbeddedNode, rounds: [] }];
  if (beside !== undefined) candidates.push({ name: beside, start: await startOf(beside), rounds: [] });
  for (let round = 0; round < rounds; round++) {
    for (const { start, rounds: measured } of candidates) measured.push(await measure(start, seconds));
  }
  const medians = candidates.map((candidate) => ({ ...candidate, ...medianOf(candidate.rounds) }));
  const last = medians.at(-1);
  const ratio = (one: number, other = Number.NaN): string => (one / other).toFixed(3);
  return table(
    [
      'event store',
      'appends/s',
      'CPU µs of it',
      'events/s read',
      'CPU µs of it',
      'appends, ratio',
      'reads, ratio',
      'load',
    ],
    medians.map(({ name, appends, appendCpu_us, reads, readCpu_us }) => [
      name,
      whole(appends),
      appendCpu_us.toFixed(1),
      whole(reads),
      readCpu_us.toFixed(1),
      ratio(appends, last?.appends),
      ratio(reads, last?.reads),
      loadText(),
    ]),
  );
}

async function startOf(checkout: string): Promise<typeof spawnEmbeddedNode> {
  const program = pathToFileURL(join(resolve(checkout), 'src/store/node/spawn.ts')).href;
  return ((await import(program)) as { spawnEmbeddedNode: typeof spawnEmbeddedNode }).spawnEmbeddedNode;
}

async function measure(start: typeof spawnEmbeddedNode, seconds: number): Promise<Round> {
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-bench-log-'));
  const node = await start({ dataDir });
  const store = openEventStore({ url: node.url });
  try {
    const appended = await timed(node, () => append(store, seconds));
    const read = await timed(node, () => readAll(store));
    return {
      appends: appended.perSecond,
      appendCpu_us: appended.cpu_us,
      reads: read.perSecond,
      readCpu_us: read.cpu_us,
    };
  } finally {
    await store.close();
    await node.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function timed({ pid }: EmbeddedNode, work: () => Promise<number>) {
  const [began_ms, before_s] = [performance.now(), cpuSeconds([pid])];
  const count = await work();
  const [seconds, cpu_s] = [(performance.now() - began_ms) / 1_000, cpuSeconds([pid]) - before_s];
  return { perSecond: count / seconds, cpu_us: (cpu_s / count) * 1e6 };
}

/** Appends one event to each new stream, like the creation of a payment. */
export async function append(store: OpenEventStore, seconds: number): Promise<number> {
  const until_ms = performance.now() + seconds * 1_000;
  let count = 0;
  const caller = async (): Promise<void> => {
    for (; performance.now() < until_ms; count++) {
      const event = { id: randomUUID(), type: 'Measured', data, metadata: {} };
      await store.append(`measured-${event.id}`, 'no_stream', [event as never]);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return count;
}

const times = 3;

async function readAll(store: OpenEventStore): Promise<number> {
  let count = 0;
  for (let time = 0; time < times; time++) {
    const leave = new AbortController();
    for await (const { events, live } of store.all({ after: null, prefixes: ['measured-'], signal: leave.signal })) {
      count += events.length;
      if (live) leave.abort();
    }
  }
  return count;
}

function medianOf(rounds: readonly Round[]): Round {
  const of = (key: keyof Round): number => median(rounds.map((round) => round[key]));
  return { appends: of('appends'), appendCpu_us: of('appendCpu_us'), reads: of('reads'), readCpu_us: of('readCpu_us') };
}
