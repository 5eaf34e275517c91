/** The shards as the runner sees them: each gets the next file when it is done with one, so that they end together. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { letOthersFirst } from './letOthersFirst.ts';
import type { Order, Outcome, Word } from './messages.ts';
import { watchProcesses } from './processorTime.ts';

/** What came out of one piece of work: a spec file, or a shard's own start and end. */
export interface Work {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  /** What the specs and the processes that they started have printed; the end of it when it is much. */
  readonly printed: string;
  readonly took_ms: number;
  /** Processor seconds of its whole process tree; undefined where they are unknown. */
  readonly processor_s?: number | undefined;
}

export interface ShardsOptions {
  /** Given out in this order. */
  readonly files: readonly string[];
  readonly count: number;
  /** Files that no more than so many shards run. The other shards let these go first. */
  readonly worlds: { readonly include: (file: string) => boolean; readonly shards: number };
  /** Files that one shard runs, one after the other. */
  readonly together: (file: string) => boolean;
  /** Each shard's temporary directory is made in here. */
  readonly folder: string;
  /** Options of Node for the programs that specs start. */
  readonly programOptions?: readonly string[];
  readonly onWork: (work: Work) => void;
}

const program = fileURLToPath(new URL('./shard.ts', import.meta.url));
const printedMax = 20_000;
/** A suite starts programs by the hundred: they load their modules with fewer looks at the disk and fewer collections. */
const quickStart = ['--preserve-symlinks', '--max-semi-space-size=64'];
/** No file takes so long unless it hangs in a way that mocha cannot see. */
const workMax_ms = 45 * 60_000;

/**
 * Runs the files. One that is under way when its shard dies has failed; the others go to the other shards.
 * @returns the files that no shard was left for
 */
export async function runShards(options: ShardsOptions): Promise<readonly string[]> {
  const { files, count, worlds, together, folder, programOptions = [], onWork } = options;
  const queue = [...files];
  /** Runs the files that belong together. */
  let keeper: Shard | undefined;
  const take = (shard: Shard, isSmall: boolean): string | undefined => {
    const isKept = keeper !== undefined && keeper !== shard && keeper.isAlive();
    const at = queue.findIndex((file) => !(isSmall && worlds.include(file)) && !(isKept && together(file)));
    const file = at < 0 ? undefined : queue.splice(at, 1)[0];
    if (file !== undefined && together(file)) keeper = shard;
    return file;
  };
  const serve = async (_: unknown, index: number): Promise<void> => {
    const isSmall = index >= worlds.shards;
    const shard = openShard(join(folder, `shard-${index + 1}`), programOptions);
    if (isSmall) letOthersFirst(shard.pid);
    tellFailures(await shard.start());
    while (shard.isAlive()) {
      const file = take(shard, isSmall);
      if (file === undefined) break;
      onWork(await shard.run(file));
    }
    if (shard.isAlive()) tellFailures(await shard.end());
  };
  // The start and the end of a shard are no tests: only what goes wrong there counts.
  const tellFailures = (work: Work) => {
    if (work.outcomes.length > 0) onWork(work);
  };
  await Promise.all(Array.from({ length: Math.min(count, files.length) }, serve));
  return queue;
}

type Shard = ReturnType<typeof openShard>;

function openShard(folder: string, programOptions: readonly string[]) {
  mkdirSync(folder, { mode: 0o755 });
  const NODE_OPTIONS = [process.env['NODE_OPTIONS'], ...quickStart, ...programOptions].filter(Boolean).join(' ');
  const env = { ...process.env, TMPDIR: folder, NODE_OPTIONS };
  const child = fork(program, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const processes = watchProcesses(child.pid, folder);
  let counted_s = 0;
  let outcomes: Outcome[] = [];
  let printed = '';
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
    // One that cannot hear it any more has gone, which is seen below.
    if (order) child.send(order, () => {});
    const limit = setTimeout(() => child.kill('SIGKILL'), workMax_ms);
    const answered = await Promise.race([heard.promise.then(() => true), gone.then(() => false)]);
    clearTimeout(limit);
    // The shard printed before it answered, but on another pipe: this reads what has arrived there.
    await setImmediate();
    const end = `the shard ended with ${child.signalCode ?? child.exitCode}`;
    if (!answered) outcomes.push({ state: 'failed', title: end, failure: end });
    const used_s = processes.readSeconds();
    const processor_s = used_s === undefined ? undefined : used_s - counted_s;
    counted_s = used_s ?? 0;
    const work = { name, outcomes, printed, took_ms: performance.now() - began_ms, processor_s };
    [outcomes, printed, heard] = [[], '', Promise.withResolvers()];
    return work;
  }

  return {
    pid: child.pid,
    isAlive,
    start: () => obey('the start of a shard'),
    async run(file: string): Promise<Work> {
      const work = await obey(file, { run: file });
      return work.outcomes.length > 0 ? work : { ...work, outcomes: [{ state: 'failed', title: 'has no test' }] };
    },
    /** Stops what the specs have shared. */
    async end(): Promise<Work> {
      const work = await obey('the end of a shard', { end: true });
      await gone;
      return work;
    },
  };
}
