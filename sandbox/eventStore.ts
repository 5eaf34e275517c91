/** The embedded event store as a program of its own: it stays while `npm run dev` starts the service anew. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, globSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { childEnvironment } from '../src/process/system.ts';
import type { Children } from './children.ts';
import { openLog } from './logFile.ts';

const root = join(import.meta.dirname, '..');
const program = join(root, 'tools/eventstore.ts');

/** @returns its URL: a socket that only this user reaches */
export async function keepEventStore(dataDir: string, children: Children): Promise<string> {
  const sources_ms = newestSource_ms();
  const { url } = await children.keep(
    'event-store',
    async () => {
      const started = await start(join(dataDir, 'eventstore'), join(dataDir, 'logs'));
      return { pid: started.pid, facts: { url: started.url, sources_ms } };
    },
    async (facts) => facts.sources_ms === sources_ms,
  );
  return url;
}

/** Time of the last change of its sources, after which it starts anew too. */
const newestSource_ms = (): number =>
  Math.max(...[program, ...globSync(join(root, 'src/store/**/*.ts'))].map((file) => statSync(file).mtimeMs));

async function start(data: string, logs: string): Promise<{ readonly pid: number; readonly url: string }> {
  for (const folder of [data, logs]) mkdirSync(folder, { recursive: true });
  const logFile = join(logs, 'event-store.log');
  const errors = openLog(logFile);
  const child = spawn(process.execPath, [program, '--data', data], {
    detached: true,
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', errors],
  });
  closeSync(errors);
  const ended = once(child, 'exit').then(() => '');
  const said = await Promise.race([once(child.stdout as Readable, 'data').then(String), ended]);
  const [, url] = /^Event store at (\S+), /.exec(said) ?? [];
  if (url === undefined || child.pid === undefined) throw new Error(`the event store did not start: see ${logFile}`);
  child.stdout?.destroy();
  child.unref();
  return { pid: child.pid, url };
}
