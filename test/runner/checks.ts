/** Checks of npm scripts besides the specs: one after the other, each counted as one test. */
import { execFile } from 'node:child_process';
import { letOthersFirst } from './letOthersFirst.ts';
import { type ProcessTree, watchProcesses } from './processorTime.ts';
import type { Work } from './shards.ts';

export const checks = ['types', 'lint', 'rules'] as const;

export async function runChecks(onWork: (work: Work) => void): Promise<void> {
  for (const name of checks) onWork(await runCheck(name));
}

function runCheck(name: string): Promise<Work> {
  const began_ms = performance.now();
  return new Promise((done) => {
    let processes: ProcessTree | undefined;
    const child = execFile('npm', ['run', '-s', name], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const failure = `${stdout}${stderr}`;
      const outcome = error
        ? ({ state: 'failed', title: `npm run ${name}`, failure } as const)
        : ({ state: 'passed', title: name } as const);
      const took_ms = performance.now() - began_ms;
      const processor_s = processes?.readSeconds();
      done({ name: `npm run ${name}`, outcomes: [outcome], printed: '', took_ms, processor_s });
    });
    processes = watchProcesses(child.pid);
    letOthersFirst(child.pid);
  });
}
