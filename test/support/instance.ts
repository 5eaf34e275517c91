/** One more instance of the service beside a sandbox's own: on the same stores, keys and chains, as operators run it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface Instance {
  readonly url: string;
  /** The line that it printed when it was ready. */
  readonly ready: string;
  kill(): Promise<void>;
}

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** @param env overrides the sandbox's environment */
export async function startInstance(sandboxDir: string, env: Record<string, string> = {}): Promise<Instance> {
  const settings = parseEnv(readFileSync(join(sandboxDir, 'service.env'), 'utf8'));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...settings, ...env, DATA_DIR: temporaryDirectory(), PORT: '0' } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onStop(kill);
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { msg?: string; url?: string };
    if (said.msg !== 'ready' || !said.url) continue;
    child.stdout.resume();
    return { url: said.url, ready: line, kill };
  }
  throw new Error('the instance ended before it was ready');
}
