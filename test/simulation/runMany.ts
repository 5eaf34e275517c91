/** Many seeds in several processes, with their results. */
import { existsSync, readFileSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import { categories, streams } from '../../domain/streams.ts';
import { writeWhole } from '../../src/lib/writeWhole.ts';
import { type Coverage, merge, noCoverage } from './report/coverage.ts';
import { summaryOf, type Totals } from './report/summary.ts';
import { processSeeds, startWorker } from './startWorker.ts';
import type { Job, Told } from './worker.ts';
import type { Habit } from './world/habits.ts';

interface Options {
  readonly seeds: number;
  readonly from: number;
  readonly processes: number;
  readonly json?: boolean;
  /** Payments of each world. Default: drawn from its seed. */
  readonly payments?: number;
  /** Habits of each world. Default: drawn from its seed. */
  readonly habits?: readonly Habit[];
  /** Replaces the faults of the seeds by a crash at each place. The worlds of one process share the places. */
  readonly crashes?: boolean;
  /** Receives the partial page periodically: a run of hours may be interrupted. */
  readonly shown?: (page: string) => void;
  /** File with the finished seeds of an interrupted run, which this run continues and updates. Seeds that were running begin again. */
  readonly resume?: string;
}

/** Finished seeds of a run. */
interface Finished {
  readonly told: readonly Told[];
  readonly coverage: Coverage;
  readonly took_ms: number;
}

const readFinished = (file: string | undefined): Finished =>
  file !== undefined && existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Finished)
    : { told: [], coverage: noCoverage(), took_ms: 0 };

/** Minimum seeds of a process: its start takes as long as ten of them. */
const jobSeedsLeast = 15;

export async function runMany({
  seeds,
  from,
  processes,
  json = false,
  payments,
  habits,
  crashes = false,
  shown = () => {},
  resume,
}: Options) {
  const before = readFinished(resume);
  const begun_ms = performance.now();
  const took_ms = () => before.took_ms + performance.now() - begun_ms;
  const { coverage } = before;
  const told: Told[] = [...before.told];
  /** Results of jobs that have ended: only these are in `coverage`. */
  const finished: Told[] = [...before.told];
  const known = new Set(before.told.map(({ seed }) => seed));
  const waiting = Array.from({ length: seeds }, (_, n) => from + n).filter((seed) => !known.has(seed));
  const bar = new SingleBar({
    format:
      'simulate [{bar}] {percentage}% | {value} of {total} seeds | {failed} failed | {rate} | {duration_formatted}',
    noTTYOutput: !json,
    notTTYSchedule: 10_000,
  });
  const rate = () => {
    const took_s = took_ms() / 1_000;
    const sum = (of: (each: Told) => number) => told.reduce((total, each) => total + of(each), 0) / took_s;
    return `${Math.round(sum(({ steps }) => steps))} steps/s | ${sum(({ payments }) => payments).toFixed(1)} payments/s`;
  };
  if (!json) bar.start(seeds, told.length, { failed: 0, rate: '' });

  function take(): Job | null {
    const share = Math.max(Math.ceil(waiting.length / processes), jobSeedsLeast);
    const most = Math.min(processSeeds, waiting.length, share);
    const first = waiting[0];
    if (first === undefined) return null;
    const gap = waiting.findIndex((seed, n) => seed !== first + n);
    const count = gap < 0 ? most : Math.min(most, gap);
    waiting.splice(0, count);
    return { from: first, count, crashes, ...(payments !== undefined && { payments }), ...(habits && { habits }) };
  }

  const failed = () =>
    told
      .flatMap(({ seed, failure, crashes }) => (failure ? [{ seed, only: crashes?.happened, ...failure }] : []))
      .sort((a, b) => a.seed - b.seed);

  function page(): string {
    const sum = (of: (each: Told) => number) => told.reduce((total, each) => total + of(each), 0);
    const totals: Totals = {
      from,
      seeds: told.length,
      processes,
      coverage,
      failures: failed(),
      payments: sum(({ payments }) => payments),
      steps: sum(({ steps }) => steps),
      simulated_ms: sum(({ simulated_ms }) => simulated_ms),
      faults: sum(({ faults }) => faults),
      took_ms: took_ms(),
    };
    const types = categories.flatMap((name) => Object.keys(streams[name].schemas));
    return summaryOf(totals, [...new Set(types)].sort());
  }

  async function runJob(job: Job): Promise<void> {
    const worker = startWorker();
    const ofJob: Told[] = [];
    const ofCoverage = await worker.run(job, (result) => {
      told.push(result);
      // The page needs no list of each seed's events.
      ofJob.push({ ...result, events: [] });
      if (json) console.log(JSON.stringify(result));
      else bar.update(told.length, { failed: told.filter(({ failure }) => failure).length, rate: rate() });
    });
    merge(coverage, ofCoverage);
    finished.push(...ofJob);
    if (resume !== undefined)
      writeWhole(resume, JSON.stringify({ told: finished, coverage, took_ms: took_ms() } satisfies Finished));
    shown(page());
    await worker.end();
  }

  async function runWorker(): Promise<void> {
    for (let job = take(); job; job = take()) await runJob(job);
  }

  await Promise.all(Array.from({ length: Math.max(1, processes) }, runWorker));
  if (!json) bar.stop();
  for (const { seed, invariant, message } of failed().slice(0, 20))
    console.log(`seed ${seed} FAILED ${invariant}: ${message}`);
  if (!json) console.log(`${seeds} seeds, ${failed().length} failed, ${rate()}`);
  return { page: page(), failures: failed() };
}
