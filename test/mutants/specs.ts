/** Runs spec files of one tree in a separate process, and returns the outcome. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from '../../src/process/system.ts';

type Ended =
  | { readonly ended: 'green'; readonly passes: number }
  /** `title` of the first test that failed. */
  | { readonly ended: 'red'; readonly title: string }
  /** They could not be run, or did not end: this proves nothing. */
  | { readonly ended: 'broken'; readonly said: string };

export type SpecsRun = Ended & { readonly took_ms: number };

const runMax_ms = 10 * 60_000;
/** A spec that waits for what a bug prevents ends long before the run does. */
const patience = { SPEC_PATIENCE_S: '60' };
const saidMax = 2_000;
const linesMax = 20_000;

/** @param folder of the tree; the run ends at its first failure */
export async function runSpecs(folder: string, files: readonly string[]): Promise<SpecsRun> {
  const began_ms = performance.now();
  const mocha = join(folder, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const lines = await linesOf(folder, [mocha, '--bail', '--reporter', 'tap', ...files]);
  return { ...judged(lines), took_ms: performance.now() - began_ms };
}

/** Its report is in the Test Anything Protocol: `ok 1 title`, `not ok 2 title`, and at the end `# pass 1`. */
function judged(lines: readonly string[]): Ended {
  const failed = lines.flatMap((line) => /^not ok \d+ (.*)$/.exec(line)?.[1] ?? [])[0];
  if (failed !== undefined) return { ended: 'red', title: failed };
  const passes = Number(lines.flatMap((line) => /^# pass (\d+)$/.exec(line)?.[1] ?? []).at(-1) ?? 0);
  return passes > 0 ? { ended: 'green', passes } : { ended: 'broken', said: lines.join('\n').slice(-saidMax) };
}

/** Runs one seed of the tree's own simulation. @returns the broken invariant; null if none is broken, or the seed could not be run */
export async function runSeed(folder: string, seed: number): Promise<string | null> {
  const lines = await linesOf(folder, ['test/simulation/run.ts', '--seed', String(seed), '--no-shrink']);
  return lines.flatMap((line) => /^FAILED (\w+):/.exec(line)?.[1] ?? [])[0] ?? null;
}

async function linesOf(cwd: string, args: readonly string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...childEnvironment(), ...patience },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: runMax_ms,
  });
  const lines: string[] = [];
  const closed = once(child, 'close');
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      if (lines.length > linesMax) lines.shift();
    });
  await closed;
  return lines;
}
