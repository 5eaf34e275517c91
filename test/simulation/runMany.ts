/** Many seeds in several processes, with their results. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { SingleBar } from 'cli-progress';
import { categories, streams } from '../../domain/streams.ts';
import { merge, noCoverage } from './report/coverage.ts';
import { summaryOf, type Totals } from './report/summary.ts';
import type { FromWorker, Job, Told } from './worker.ts';
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
}

/** Maximum seeds of a process: promises of ended simulated processes are never freed. */
const jobSeeds = 100;
/** Minimum seeds of a process: loading the service takes as long as four of them. */
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
}: Options) {
  const begun_ms = performance.now();
  const coverage = noCoverage();
  const told: Told[] = [];
  let next = from;
  const end = from + seeds;
  const bar = new SingleBar({
    format:
      'simulate [{bar}] {percentage}% | {value} of {total} seeds | {failed} failed | {rate} | {duration_formatted}',
    noTTYOutput: !json,
    notTTYSchedule: 10_000,
  });
  const rate = () => {
    const took_s = (performance.now() - begun_ms) / 1_000;
    const sum = (of: (each: Told) => number) => told.reduce((total, each) => total + of(each), 0) / took_s;
    return `${Math.round(sum(({ steps }) => steps))} steps/s | ${sum(({ payments }) => payments).toFixed(1)} payments/s`;
  };
  if (!json) bar.start(seeds, 0, { failed: 0, rate: '' });

  function take(): Job | null {
    const share = Math.max(Math.ceil((end - next) / processes), jobSeedsLeast);
    const count = Math.min(jobSeeds, end - next, share);
    if (count <= 0) return null;
    const job = { from: next, count, crashes, ...(payments !== undefined && { payments }), ...(habits && { habits }) };
    next += count;
    return job;
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
      took_ms: performance.now() - begun_ms,
    };
    const types = categories.flatMap((name) => Object.keys(streams[name].schemas));
    return summaryOf(totals, [...new Set(types)].sort());
  }

  async function runJob(job: Job): Promise<void> {
    const child = fork(new URL('worker.ts', import.meta.url), {
      // A young generation that begins at its full size (MiB) saves 5 % of the processor time.
      execArgv: [...process.execArgv, '--min-semi-space-size=64', '--max-semi-space-size=64'],
    });
    child.on('message', (message: FromWorker) => {
      if ('done' in message) {
        merge(coverage, message.done);
        child.disconnect();
        return shown(page());
      }
      told.push(message.told);
      if (json) console.log(JSON.stringify(message.told));
      else bar.update(told.length, { failed: told.filter(({ failure }) => failure).length, rate: rate() });
    });
    child.send(job);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`a process of the simulation ended with ${code}: see above`);
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
