/** The shards as the runner sees them: each gets the next file when it is done with one, so that they end together. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Order, Outcome, Word } from './messages.ts';

/** What came out of one piece of work: a spec file, or a shard's own start and end. */
export interface Work {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  /** What the specs and the processes that they started have printed; the end of it when it is much. */
  readonly printed: string;
  readonly took_ms: number;
}

export interface ShardsOptions {
  /** Given out in this order. */
  readonly files: readonly string[];
  readonly count: number;
  /** Each shard's temporary directory is made in here. */
  readonly folder: string;
  readonly onWork: (work: Work) => void;
}

const program = fileURLToPath(new URL('./shard.ts', import.meta.url));
const printedMax = 20_000;
/** No file takes so long unless it hangs in a way that mocha cannot see. */
const workMax_ms = 20 * 60_000;

/**
 * Runs the files. One that is under way when its shard dies has failed; the others go to the other shards.
 * @returns the files that no shard was left for
 */
export async function runShards({ files, count, folder, onWork }: ShardsOptions): Promise<readonly string[]> {
  const queue = [...files];
  const serve = async (_: unknown, index: number): Promise<void> => {
    const shard = openShard(join(folder, `shard-${index + 1}`));
    await shard.ready();
    for (let file = shard.isAlive() && queue.shift(); file; file = shard.isAlive() && queue.shift()) {
      onWork(await shard.run(file));
    }
    const end = await shard.end();
    if (end.outcomes.length > 0) onWork(end);
  };
  await Promise.all(Array.from({ length: Math.min(count, files.length) }, serve));
  return queue;
}

function openShard(folder: string) {
  mkdirSync(folder, { mode: 0o755 });
  const env = { ...process.env, TMPDIR: folder };
  const child = fork(program, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let outcomes: Outcome[] = [];
  let printed = '';
  let ending = false;
  let heard = Promise.withResolvers<void>();
  child.on('message', (word: Word) => ('outcome' in word ? outcomes.push(word.outcome) : heard.resolve()));
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-printedMax);
    });
  }
  const isAlive = () => child.connected && child.exitCode === null && child.signalCode === null;
  // What it said last arrives before its channel closes.
  const gone = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);

  async function obey(name: string, order?: Order): Promise<Work> {
    const began_ms = performance.now();
    if (order && isAlive()) child.send(order);
    const limit = setTimeout(() => child.kill('SIGKILL'), workMax_ms);
    await Promise.race([heard.promise, gone]);
    clearTimeout(limit);
    if (!isAlive() && !ending) fail(`the shard ended with ${child.signalCode ?? child.exitCode}`);
    const work = { name, outcomes, printed, took_ms: performance.now() - began_ms };
    [outcomes, printed, heard] = [[], '', Promise.withResolvers()];
    return work;
  }
  const fail = (title: string) => outcomes.push({ state: 'failed', title, failure: title });

  return {
    isAlive,
    ready: () => obey('start'),
    async run(file: string): Promise<Work> {
      const work = await obey(file, { run: file });
      return work.outcomes.length > 0 ? work : { ...work, outcomes: [{ state: 'failed', title: 'has no test' }] };
    },
    /** Stops what the specs have shared. */
    async end(): Promise<Work> {
      if (!isAlive()) return { name: folder, outcomes: [], printed: '', took_ms: 0 };
      ending = true;
      const work = await obey('the end of a shard', { end: true });
      await gone;
      return work;
    },
  };
}
