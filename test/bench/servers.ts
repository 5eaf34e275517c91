/** Starts one of the measured programs in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Server {
  /** URL of the server; empty if the program does not listen. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const start_ms = 120_000;
const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** Node's flags of `npm run service`, used for all measured programs. */
const serviceFlags = scripts.service.split(' ').filter((word: string) => word.startsWith('--'));

/** The program must print one JSON line with `"msg":"ready"` and its url. BENCH_NODE_FLAGS adds flags of Node. */
export async function startServer(program: string, env: Readonly<Record<string, string>>): Promise<Server> {
  const flags = [...serviceFlags, ...(env['BENCH_NODE_FLAGS'] ?? '').split(' ').filter(Boolean)];
  const path = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, [...flags, path], {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const late = setTimeout(() => child.kill('SIGKILL'), start_ms);
  const url = await readyLine(child);
  clearTimeout(late);
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function readyLine(child: ChildProcess): Promise<string> {
  if (child.stdout) {
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) {
      const said = JSON.parse(line) as { msg?: string; url?: string };
      if (said.msg !== 'ready') continue;
      child.stdout.resume();
      return said.url ?? '';
    }
  }
  throw new Error(`a measured program ended before it was ready (${child.exitCode ?? child.signalCode})`);
}
