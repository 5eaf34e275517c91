/**
 * `npm run dev`: the sandbox, whose service starts anew after a change of its sources, with the world kept running. A restart loads one bundle of
 * the product, in a process that has loaded the packages before. Sources that cannot be bundled leave the running service alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, watch } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import util from 'node:util';
import { context, type Metafile } from 'esbuild';
import { ownPlaces } from './ownPlaces.ts';
import type { StartOrder, Surroundings } from './start.ts';
import { startCommand } from './startOptions.ts';

const root = join(import.meta.dirname, '..');
/** Rooms of the service. */
const watched = ['domain', 'commands', 'projections', 'queries', 'src', 'web'];
/** An editor writes several files at once: a change counts once they rest. */
const settle_ms = 50;
/** A start of the service takes less. */
const start_ms = 4_000;
/** Followed by the packages, as JSON. */
const prepares = '--prepare';

/** To a prepared process: load the bundle at this URL, or start what is loaded. */
type Order = { readonly load: string } | StartOrder;

if (process.argv.includes(prepares)) await prepare();
else {
  // The sandbox would refuse wrong options after each change.
  startCommand('npm run dev').parse();
  await restartOnChange();
}

/** Loads the packages, then the bundle that the order names. The sandbox itself waits for the order to start. */
async function prepare(): Promise<void> {
  const ordered = once(process, 'message');
  unmapCallSites();
  const [, list = '[]'] = process.argv.splice(process.argv.indexOf(prepares), 2);
  const packages: readonly string[] = JSON.parse(list);
  // A package that cannot be loaded fails again where it is imported, with its reason.
  await Promise.allSettled(packages.map((name) => import(name)));
  const [{ load }] = (await ordered) as [Exclude<Order, StartOrder>];
  process.argv.push('--await-order');
  await import(load);
}

/** The logger asks for the files of its callers. To map them, Node would read the whole source map at each start. */
function unmapCallSites(): void {
  const { getCallSites } = util;
  util.getCallSites = (frames) => getCallSites(typeof frames === 'number' ? frames : undefined, { sourceMap: false });
}

async function restartOnChange(): Promise<void> {
  const changes = changesOf(watched);
  const bundles = await openBundles();
  const first = await bundles.next();
  if (first === null) process.exit(1);
  let program = first;
  let running = prepared(bundles.packages());
  let left: Surroundings | null = null;
  let stopping = false;
  // The sandbox ends its world, and this program ends with it. A terminal sends the signal to both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping = true;
      running.kill(signal);
    });
  }
  order(running, { load: program });
  for (;;) {
    order(running, { left });
    running.once('message', (surroundings: Surroundings) => {
      left = surroundings;
    });
    const ended = endOf(running);
    let next: ChildProcess | undefined;
    // Not at once: it would slow down the start of the service.
    const later = setTimeout(() => {
      next = prepared(bundles.packages());
    }, start_ms);
    const changed = await Promise.race([bundledChange(), ended]);
    clearTimeout(later);
    // Without a change it ended by Ctrl-C, or it cannot start until a change corrects it.
    if (changed === null && (running.exitCode === 0 || running.signalCode !== null)) end(next);
    // It ended with its world.
    if (changed === null) left = null;
    program = changed ?? (await bundledChange());
    console.log('  the service starts anew');
    if (changed !== null) running.kill('SIGHUP');
    next ??= prepared(bundles.packages());
    order(next, { load: program });
    await ended;
    if (stopping) end(next);
    running = next;
  }

  function end(prepared: ChildProcess | undefined): never {
    prepared?.kill();
    process.exit(0);
  }

  /** Waits for a change that can be bundled. @returns the bundle */
  async function bundledChange(): Promise<string> {
    for (;;) {
      const files = await changes.next();
      console.log(`\n  ${files.at(-1)} has changed`);
      const bundle = await bundles.next(files);
      if (bundle !== null) return bundle;
      console.log('  the service stays as it was until the error is corrected');
    }
  }
}

/** An order to a process that has ended is lost: its end is noticed. */
function order(process: ChildProcess, next: Order): void {
  process.send(next, () => {});
}

async function endOf(process: ChildProcess): Promise<null> {
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
  return null;
}

function prepared(packages: readonly string[]): ChildProcess {
  const own = [import.meta.filename, ...process.argv.slice(2), prepares, JSON.stringify(packages)];
  const args = ['--enable-source-maps', ...own];
  return spawn(process.execPath, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
}

/** Bundles of the sandbox and the service, without packages. After a change only changed sources are read again. */
async function openBundles() {
  const folder = join(root, 'node_modules/.cache/dev', String(process.pid));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'start.mjs');
  // The bundler's process reads it: with fewer collections of garbage a bundle takes a quarter less time.
  Object.assign(process.env, { GOGC: '400' });
  const open = async () => {
    const places = ownPlaces();
    const bundling = await context({
      entryPoints: [join(root, 'sandbox/start.ts')],
      outfile,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node24',
      charset: 'utf8',
      sourcemap: true,
      // Node reads the map at each start, and shows lines of the sources themselves.
      sourcesContent: false,
      metafile: true,
      plugins: [places.plugin],
      logLevel: 'error',
    });
    return { ...places, bundling };
  };
  let opened = await open();
  let packages: readonly string[] = [];
  return {
    /**
     * @param files that have changed since the last bundle
     * @returns the URL of a new bundle; null if the sources cannot be bundled, which esbuild explains in the terminal
     */
    async next(files: readonly string[] = []): Promise<string | null> {
      if (files.some((file) => opened.lacks(join(root, file)))) {
        await opened.bundling.dispose();
        opened = await open();
      }
      const built = await opened.bundling.rebuild().catch(() => null);
      if (built === null) return null;
      packages = Object.values(built.metafile.outputs).flatMap(packagesAtStart);
      return pathToFileURL(outfile).href;
    },
    packages: () => packages,
  };
}

function packagesAtStart({ imports }: Metafile['outputs'][string]): readonly string[] {
  return imports.flatMap(({ path, kind, external }) => (external && kind === 'import-statement' ? [path] : []));
}

/** Changed sources, the last one last. Those that arrive while nobody waits count as one change, which the next question gets at once. */
function changesOf(folders: readonly string[]): { next(): Promise<readonly string[]> } {
  const changed = new Set<string>();
  let heard: ((files: readonly string[]) => void) | null = null;
  let settling: NodeJS.Timeout | undefined;
  const answer = () => {
    if (changed.size === 0 || heard === null) return;
    heard([...changed]);
    changed.clear();
    heard = null;
  };
  const known = new Set<string>();
  // Node's recursive watch follows no file that an editor has replaced, so each folder is watched.
  const follow = (folder: string) => {
    if (known.has(folder) || !existsSync(folder)) return;
    known.add(folder);
    const watcher = watch(folder, (_, name) => {
      if (name === null) return;
      for (const added of foldersIn(folder)) follow(added);
      const file = relative(root, join(folder, name));
      changed.delete(file);
      changed.add(file);
      clearTimeout(settling);
      settling = setTimeout(answer, settle_ms);
    });
    watcher.on('error', () => known.delete(folder));
    for (const inner of foldersIn(folder)) follow(inner);
  };
  for (const folder of folders) follow(join(root, folder));
  return {
    next: () =>
      new Promise((resolve) => {
        heard = resolve;
        answer();
      }),
  };
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  } catch {
    // It has just been removed.
    return [];
  }
}
