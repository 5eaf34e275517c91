/**
 * `npm run dev`: the sandbox, whose service starts anew after a change of its sources, with the world kept running. By then another process has
 * loaded the packages, so a restart only loads the product.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, watch } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
/** Rooms of the service. */
const watched = ['domain', 'commands', 'projections', 'queries', 'src', 'web'];
/** An editor writes several files at once. */
const settle_ms = 50;
/** A start of the service takes less. */
const start_ms = 4_000;
const prepares = '--prepare';

if (process.argv.includes(prepares)) await prepare();
else await restartOnChange();

/** Loads the packages, then waits for the order to start the sandbox in this process. */
async function prepare(): Promise<void> {
  const start = once(process, 'message');
  const packages = packagesOf([...watched.map((folder) => `${folder}/**/*.ts`), 'sandbox/*.ts']);
  // A package that cannot be loaded fails again where it is imported, with its reason.
  await Promise.allSettled(packages.map((name) => import(name)));
  await start;
  process.disconnect();
  process.argv = process.argv.filter((argument) => argument !== prepares);
  await import('./start.ts');
}

/** Packages that these modules import at their start. */
function packagesOf(modules: readonly string[]): readonly string[] {
  const files = globSync(modules, { cwd: root });
  const named = files.flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)(?! type)[^'";]* from '([^.'#][^':]*)';$/gm),
  ]);
  return [...new Set(named.map(([, name = '']) => name))];
}

async function restartOnChange(): Promise<void> {
  const changes = changesOf(watched);
  let running = prepared();
  // The sandbox ends its world, and this program ends with it. A terminal sends the signal to both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => running.kill(signal));
  for (;;) {
    running.send('start');
    const ended = once(running, 'exit');
    let next: ChildProcess | undefined;
    // Not at once: it would slow down the start of the service.
    const later = setTimeout(() => {
      next = prepared();
    }, start_ms);
    const changed = await Promise.race([changes.next(), ended.then(() => null)]);
    clearTimeout(later);
    // Without a change it ended by Ctrl-C, or it cannot start until a change corrects it.
    if (changed === null && (running.exitCode === 0 || running.signalCode !== null)) {
      next?.kill();
      process.exit(0);
    }
    const file = changed ?? (await changes.next());
    console.log(`\n  ${file} has changed: the service starts anew`);
    if (changed !== null) running.kill('SIGHUP');
    await ended;
    running = next ?? prepared();
  }
}

function prepared(): ChildProcess {
  const args = [import.meta.filename, ...process.argv.slice(2), prepares];
  return spawn(process.execPath, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
}

/** The next change of a source, from the moment of the question on. */
function changesOf(folders: readonly string[]): { next(): Promise<string> } {
  let heard: ((file: string) => void) | null = null;
  for (const folder of folders) {
    watch(join(root, folder), { recursive: true }, (_, name) => {
      if (name === null) return;
      const file = relative(root, join(root, folder, name));
      setTimeout(() => heard?.(file), settle_ms);
    });
  }
  return {
    next: () =>
      new Promise((resolve) => {
        heard = resolve;
      }),
  };
}
