import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Told } from '../../simulation/worker.ts';

const program = fileURLToPath(new URL('../../simulation/run.ts', import.meta.url));

async function simulate(
  from: number,
  seeds: number,
  processes = 2,
  more: readonly string[] = [],
): Promise<readonly Told[]> {
  const given = ['--json', '--from', String(from), '--seeds', String(seeds), '--processes', String(processes), ...more];
  // Seeds that fail are told as well, with an exit code of their own.
  const ended = await promisify(execFile)(process.execPath, [program, '--no-shrink', ...given]).catch(
    (error: { stdout?: string; stderr?: string }) => ({ stdout: error.stdout ?? '', stderr: error.stderr ?? '' }),
  );
  const lines = ended.stdout.split('\n').filter((line) => line.startsWith('{'));
  assert.equal(lines.length, seeds, `not all seeds were run: ${ended.stderr}`);
  return lines.map((line) => JSON.parse(line) as Told).toSorted((a, b) => a.seed - b.seed);
}

describe('the service in a simulated world', function () {
  // Processes of their own load the whole service.
  this.timeout(1_800_000);
  let told: readonly Told[];

  it('keeps its promises in the first courses of things', async () => {
    told = await simulate(1, 120);
    const failed = told.filter(({ failure }) => failure !== null);
    assert.deepEqual(failed, []);
    const wrong = told.reduce((sum, { faults }) => sum + faults, 0);
    assert.ok(wrong > 6_000, 'hardly anything went wrong in these worlds');
  });

  it('keeps them in a hundred more, of one payment each', async () => {
    const failed = (await simulate(121, 100, 2, ['--payments', '1'])).filter(({ failure }) => failure !== null);
    assert.deepEqual(failed, []);
  });

  it('replays a seed exactly, whatever ran in its process before', async () => {
    const alone = await simulate(40, 1, 1);
    assert.deepEqual(
      told.filter(({ seed }) => seed === 40),
      alone,
    );
  });
});
