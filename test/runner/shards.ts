/** The shards from the runner's view: each gets the next file when it has finished one, so that they end together. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { letOthersFirst } from './letOthersFirst.ts';
import type { Order, Outcome, Word } from './messages.ts';
import { watchProcesses } from './processorTime.ts';

/** Result of one piece of work: a spec file, or a shard's own start and end. */
export interface Work {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  /** Output of the specs and of their processes; only the end of a long output. */
  readonly printed: string;
  readonly took_ms: number;
  /** Processor seconds of its whole process tree; undefined where they are unknown. */
  readonly processor_s?: number | undefined;
}

export interface ShardsOptions {
  /** Files in the order of their start. */
  readonly files: readonly string[];
  readonly count: number;
  /** Files that at most this many shards run. The other shards leave these files to them at first. */
  readonly worlds: { readonly include: (file: string) => boolean; readonly shards: number };
  /** Names the group of a file. One shard runs a group's files, one after the other; undefined: any shard runs the file. */
  readonly together: (file: string) => string | undefined;
  /** Each shard's temporary directory is created in this folder. */
  readonly folder: string;
  /** Options of Node for the programs that specs start. */
  readonly programOptions?: readonly string[];
  readonly onWork: (work: Work) => void;
}

const program = fileURLToPath(new URL('./shard.ts', import.meta.url));
const printedMax = 20_000;
/** Faster starts, since a suite starts programs by the hundred: fewer disk accesses at loading, and fewer garbage collections. */
const quickStart = ['--preserve-symlinks', '--max-semi-space-size=64'];
/** No file takes this long, unless it hangs in a way that mocha cannot detect. The full suite's simulated worlds take an hour on a busy machine. */
const workMax_ms = () => (process.env['SUITE'] === 'full' ? 180 : 45) * 60_000;

/**
 * Runs the files. A file whose shard dies has failed; the other shards take over the rest.
 * @returns the files for which no shard was left
 */
export async function runShards(options: ShardsOptions): Promise<readonly string[]> {
  const { files, count, worlds, together, folder, programOptions = [], onWork } = options;
  const queue = [...files];
  const hasWorlds = files.some(worlds.include);
  /** By group: the shard that runs its files. */
  const keepers = new Map<string, Shard>();
  const take = (shard: Shard, isSmall: boolean): string | undefined => {
    const isKept = (group: string | undefined): boolean => {
      const keeper = group === undefined ? undefined : keepers.get(group);
      return keeper !== undefined && keeper !== shard && keeper.isAlive();
    };
    const isOwn = (group: string | undefined): boolean => group !== undefined && keepers.get(group) === shard;
    // The rest of a group comes first: its world runs as long as the group.
    const own = queue.findIndex((file) => isOwn(together(file)));
    const any = () => queue.findIndex((file) => !(isSmall && worlds.include(file)) && !isKept(together(file)));
    const at = own < 0 ? any() : own;
    const file = at < 0 ? undefined : queue.splice(at, 1)[0];
    const group = file === undefined ? undefined : together(file);
    if (group !== undefined) keepers.set(group, shard);
    return file;
  };
  const serve = async (_: unknown, index: number): Promise<void> => {
    const isSmall = hasWorlds && index >= worlds.shards;
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
  // The start and the end of a shard are no tests: only their failures count.
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
  // Its last message arrives before its channel closes.
  const gone = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);

  async function obey(name: string, order?: Order): Promise<Work> {
    const began_ms = performance.now();
    // A failed message means that the shard has ended, which is handled below.
    if (order) child.send(order, () => {});
    const limit = setTimeout(() => child.kill('SIGKILL'), workMax_ms());
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
    /** Stops the shared parts of the specs. */
    async end(): Promise<Work> {
      const work = await obey('the end of a shard', { end: true });
      await gone;
      return work;
    },
  };
}
