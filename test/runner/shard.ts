/** One process of the suite: runs the requested files one after the other. Specs of one shard share some parts, which it starts once. */
import Mocha from 'mocha';
import settings from '../../.mocharc.json' with { type: 'json' };
import { mochaHooks, stopAll, stopGroup } from '../support/hooks.ts';
import { type Order, type Outcome, textOf, type Word } from './messages.ts';
import { sharedWorldOf } from './specFiles.ts';

const say = (word: Word): void => void process.send?.(word);
const tell = (outcome: Outcome): void => say({ outcome });

/** A reporter that sends each outcome at once. */
class Teller extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    const titleOf = (each: Mocha.Runnable) => each.titlePath().join(' ');
    runner.on('pass', (test) => tell({ state: 'passed', title: titleOf(test) }));
    runner.on('pending', (test) => tell({ state: 'skipped', title: titleOf(test) }));
    runner.on('fail', (test, error) => tell({ state: 'failed', title: titleOf(test), failure: textOf(error) }));
  }
}

process.on('message', async (order: Order) => {
  if ('run' in order) await run(order.run);
  else await stopAll().catch((error) => tell({ state: 'failed', title: 'stop', failure: textOf(error) }));
  process.send?.({ done: true } satisfies Word, () => 'end' in order && process.exit());
});

// The runner was killed: nobody receives messages.
process.on('disconnect', () => stopAll().finally(() => process.exit(1)));

await mochaHooks.beforeAll();
say({ done: true });

/** Group of the file that this shard ran last. */
let group: string | undefined;

async function run(file: string): Promise<void> {
  const next = sharedWorldOf(file);
  // An idle world uses a tenth of a processor or more, on real nodes half of one.
  if (next !== group)
    await stopGroup().catch((error) => tell({ state: 'failed', title: 'stop', failure: textOf(error) }));
  group = next;
  const mocha = new Mocha({ ...settings, reporter: Teller });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    tell({ state: 'failed', title: 'cannot be loaded', failure: textOf(error) });
    return;
  }
  await new Promise((over) => mocha.run(over));
  mocha.dispose();
}
