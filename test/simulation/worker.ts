/** One process of `npm run simulate`: receives seeds from its parent, and returns each result. */
import './edge/hooks.ts';
import type { Coverage } from './report/coverage.ts';
import type { Habit } from './world/habits.ts';

export interface Job {
  readonly from: number;
  readonly count: number;
  /** Default: drawn from each seed. */
  readonly payments?: number;
  /** Default: those that each seed draws. */
  readonly habits?: readonly Habit[];
  /** Replaces the faults of each seed by crashes: `createCrashTour`. */
  readonly crashes?: boolean;
}

/** Result of one seed for the parent. */
export interface Told {
  readonly seed: number;
  readonly hash: string;
  readonly failure: { readonly invariant: string; readonly message: string } | null;
  readonly steps: number;
  readonly simulated_ms: number;
  readonly payments: number;
  readonly faults: number;
  /** Types of events that were written. */
  readonly events: readonly string[];
  /** Only of a tour of crashes. */
  readonly crashes?: {
    /** Places that the service passed and where it could have crashed. */
    readonly passed: readonly string[];
    /** Faults in the format of `--only`. */
    readonly happened: readonly string[];
  };
}

export type FromWorker = { readonly told: Told } | { readonly done: Coverage };

const { simulate } = await import('./world/simulate.ts');
const { simulatedChains } = await import('./chains.ts');
const { cover, isCrash, noCoverage } = await import('./report/coverage.ts');
const { createCrashTour } = await import('./report/crashTour.ts');

const tell = (message: FromWorker): void => void process.send?.(message);

process.on('message', (job: Job) => {
  void work(job);
});

async function work({ from, count, crashes = false, ...fewer }: Job): Promise<void> {
  const coverage = noCoverage();
  const tour = crashes ? createCrashTour() : null;
  for (let seed = from; seed < from + count; seed += 1) {
    const outcome = await simulate({ seed, chains: simulatedChains, only: tour?.faults ?? null, ...fewer });
    cover(coverage, outcome);
    tour?.add(outcome.faults);
    const { hash, failure, steps, simulated_ms, payments, faults, passed, events } = outcome;
    const told = {
      seed,
      hash,
      failure,
      steps,
      simulated_ms,
      payments,
      faults: faults.length,
      events: [...events.keys()],
    };
    const toured = { passed: [...passed.keys()].filter(isCrash), happened: faults };
    tell({ told: tour ? { ...told, crashes: toured } : told });
  }
  tell({ done: coverage });
}
