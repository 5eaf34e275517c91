/** One process of `npm run simulate`: takes seeds from its parent, and tells what came of each. */
import './edge/hooks.ts';
import type { Coverage } from './report/coverage.ts';

export interface Job {
  readonly from: number;
  readonly count: number;
  /** Left out: as each seed has it. */
  readonly payments?: number;
}

/** What came of one seed, as it is told to the parent. */
export interface Told {
  readonly seed: number;
  readonly hash: string;
  readonly failure: { readonly invariant: string; readonly message: string } | null;
  readonly steps: number;
  readonly simulated_ms: number;
  readonly payments: number;
  readonly faults: number;
}

export type FromWorker = { readonly told: Told } | { readonly done: Coverage };

const { simulate } = await import('./world/simulate.ts');
const { simulatedChains } = await import('./chains.ts');
const { cover, noCoverage } = await import('./report/coverage.ts');

const tell = (message: FromWorker): void => void process.send?.(message);

process.on('message', (job: Job) => {
  void work(job);
});

async function work({ from, count, ...fewer }: Job): Promise<void> {
  const coverage = noCoverage();
  for (let seed = from; seed < from + count; seed += 1) {
    const outcome = await simulate({ seed, chains: simulatedChains, only: null, ...fewer });
    cover(coverage, outcome);
    const { hash, failure, steps, simulated_ms, payments, faults } = outcome;
    tell({ told: { seed, hash, failure, steps, simulated_ms, payments, faults: faults.length } });
  }
  tell({ done: coverage });
}
