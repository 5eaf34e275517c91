/** A container engine of this machine, used through its own command line. Docker's environment, such as DOCKER_HOST, applies. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface Ran {
  /** Working directory. Default: the current one. */
  readonly cwd?: string;
  /** Default: ten minutes. */
  readonly timeout_ms?: number;
  /** Given on standard input. */
  readonly input?: string;
}

export interface Engine {
  /** Its version: `Docker 28.2.2, docker compose 2.39.1`. */
  readonly says: string;
  /** True if compose is the plugin, which knows all of a compose file. Its predecessor 1.29 refuses the top-level name. */
  readonly isPlugin: boolean;
  /** @returns its output @throws Error with the end of its output */
  docker(args: readonly string[], ran?: Ran): Promise<string>;
  compose(args: readonly string[], ran?: Ran): Promise<string>;
}

const ask_ms = 20_000;
const usual_ms = 10 * 60_000;
const printedMax_bytes = 64 * 1024 * 1024;
const lastLines = 25;

/** @returns null and the reason, if no engine is usable */
export async function findEngine(): Promise<Engine | { readonly missing: string }> {
  const server = await printed('docker', ['version', '--format', '{{.Server.Version}}'], { timeout_ms: ask_ms }).catch(
    (error: Error) => error,
  );
  if (server instanceof Error)
    return {
      missing: `no engine answers (${firstLine(server.message)}). Install Docker Engine 20.10 or newer, start it, or name it by DOCKER_HOST.`,
    };
  for (const [file, ...first] of [['docker', 'compose'], ['docker-compose']] as const) {
    const version = await printed(file, [...first, 'version', '--short'], { timeout_ms: ask_ms }).catch(() => null);
    if (version === null) continue;
    return {
      says: `Docker ${server.trim()}, ${[file, ...first].join(' ')} ${version.trim()}`,
      isPlugin: first.length > 0,
      docker: (args, ran) => printed('docker', args, ran),
      compose: (args, ran) => printed(file, [...first, ...args], ran),
    };
  }
  return {
    missing: `Docker ${server.trim()} is here without compose. Install its plugin (docker compose), or docker-compose 1.29.`,
  };
}

const run = promisify(execFile);

async function printed(file: string, args: readonly string[], ran: Ran = {}): Promise<string> {
  const { cwd, timeout_ms = usual_ms, input } = ran;
  const running = run(file, [...args], { ...(cwd && { cwd }), timeout: timeout_ms, maxBuffer: printedMax_bytes });
  if (input !== undefined) running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-lastLines).join('\n');
    throw new Error(`${[file, ...args].join(' ').slice(0, 200)} failed: ${said || message}`);
  }
}

const firstLine = (text: string): string => text.split('failed: ').at(-1)?.split('\n')[0] ?? '';
