/** The times of a run as JSON, for comparisons of runs. */
import { writeFileSync } from 'node:fs';
import { readAllSeconds } from './processorTime.ts';
import type { Work } from './shards.ts';

const rounded = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.round(seconds * 100) / 100;

/** Writes wall and processor seconds of each piece of work, in the order they ended, and the processor seconds of the run. */
export function writeTimes(path: string, works: readonly Work[]): void {
  const files = works.map(({ name, took_ms, processor_s }) => ({
    name,
    wall_s: rounded(took_ms / 1_000),
    processor_s: rounded(processor_s),
  }));
  writeFileSync(path, `${JSON.stringify({ processor_s: rounded(readAllSeconds()), files }, undefined, 2)}\n`);
}
