/** `npm start` with wrong options and settings: a sentence that names them, before anything is started. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chosenChains } from '../../sandbox/chosenChains.ts';
import { startCommand } from '../../sandbox/startOptions.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const program = join(import.meta.dirname, '../../sandbox/start.ts');

describe('npm start', () => {
  const parsed = (...options: readonly string[]) =>
    startCommand('npm start')
      .exitOverride()
      .configureOutput({ writeErr() {} })
      .parse(options, { from: 'user' });

  it('refuses unknown options and unknown weather', () => {
    assert.throws(() => parsed('--nonsense'), /unknown option '--nonsense'/);
    assert.throws(() => parsed('extra'), /too many arguments/);
    assert.throws(() => parsed('--weather', 'snow'), /Allowed choices are calm, rough/);
    assert.deepEqual(parsed('--weather', 'rough', '--real-nodes').opts(), { weather: 'rough', realNodes: true });
  });

  it('refuses chains that do not exist', () => {
    assert.throws(() => chosenChains('8453,99'), /SANDBOX_CHAINS: 99 is none of 8453, /);
  });

  it('names a wrong setting without a stack, and starts nothing', () => {
    const dataDir = join(temporaryDirectory(), 'data');
    const env = { ...process.env, DATA_DIR: dataDir, SANDBOX_BLOCK_TIME_S: 'soon' };
    const { status, stderr, stdout } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
    assert.equal(stderr, 'error: SANDBOX_BLOCK_TIME_S: soon is no number of seconds above 0\n');
    assert.deepEqual([status, stdout, existsSync(dataDir)], [1, '', false]);
  });
});
