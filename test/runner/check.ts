/** `npm run check`: types, lint and rules side by side. Prints each one's seconds, and the output of those that fail. */
import { execFile } from 'node:child_process';
import { checks } from './checks.ts';

const seconds = (since_ms: number): string => `${((performance.now() - since_ms) / 1_000).toFixed(1)} s`;

function run(name: string): Promise<boolean> {
  const began_ms = performance.now();
  return new Promise((done) => {
    execFile('npm', ['run', '-s', name], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const details = error ? `\n${stdout}${stderr}` : '';
      process.stdout.write(`${error ? '✗' : '✓'} ${name} ${seconds(began_ms)}${details}\n`);
      done(!error);
    });
  });
}

const began_ms = performance.now();
const passed = await Promise.all(checks.map(run));
process.stdout.write(`${passed.every(Boolean) ? 'passed' : 'failed'} in ${seconds(began_ms)}\n`);
process.exitCode = passed.every(Boolean) ? 0 : 1;
