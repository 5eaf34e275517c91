/** One compose file, run from a separate directory under a separate project name: nothing of an operator's is touched. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../freePort.ts';
import { chainsHost } from './chains.ts';
import type { Engine, Ran } from './engine.ts';
import { productImage, standIns } from './images.ts';
import type { Shape } from './shapes.ts';

export interface Container {
  readonly id: string;
  readonly service: string;
  readonly state: string;
  /** In the engine's words: `Up 3 seconds (healthy)`, `Exited (0) 2 minutes ago`. */
  readonly status: string;
}

export interface Project {
  readonly directory: string;
  readonly engine: Engine;
  readonly shape: Shape;
  compose(...args: readonly string[]): Promise<string>;
  /** Runs `docker compose exec -T <service> <command>`. */
  exec(service: string, ...command: readonly string[]): Promise<string>;
  /** With something on standard input. */
  composeWith(ran: Ran, ...args: readonly string[]): Promise<string>;
  containers(service?: string): Promise<readonly Container[]>;
  volumes(): Promise<readonly string[]>;
  /** Callers reach it here. */
  readonly url: string;
  /** Starts the services of its shape and their dependencies. */
  up(): Promise<void>;
  untilHealthy(): Promise<void>;
  /** Stops and removes its containers and networks; its volumes remain unless they must be removed. */
  down(what?: 'volumes too'): Promise<void>;
}

export interface ProjectOptions {
  readonly engine: Engine;
  readonly shape: Shape;
  readonly directory: string;
  readonly env: string;
  /** `.env.signer`. */
  readonly signerEnv: string | null;
  readonly chainsCaFile: string;
  /** With the images that were made here. */
  readonly isLocal: boolean;
  readonly signal: AbortSignal;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const healthy_ms = 300_000;
const look_ms = 1_000;

export async function openProject(options: ProjectOptions): Promise<Project> {
  const { engine, shape, directory, signal } = options;
  const port = await freePort();
  layOut(options, port);
  const first = ['--project-name', `payment-intents-check-${shape.name}`, '--file', shape.file, '--file', overrides];
  const composeWith = (ran: Ran, ...args: readonly string[]) =>
    engine.compose([...first, ...args], { ...ran, cwd: directory });
  const compose = (...args: readonly string[]) => composeWith({}, ...args);
  /** Anonymous volumes have no name and no label, so they must be recorded here. */
  const nameless = new Set<string>();
  async function noteNameless(): Promise<void> {
    const ids = (await self.containers()).map(({ id }) => id);
    if (ids.length === 0) return;
    const format = '{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}}\n{{end}}{{end}}';
    const names = (await engine.docker(['inspect', '--format', format, ...ids])).split('\n');
    for (const name of names) if (/^[0-9a-f]{64}$/.test(name)) nameless.add(name);
  }
  const self: Project = {
    ...{ directory, engine, shape, compose, composeWith, url: `http://127.0.0.1:${port}` },
    exec: (service, ...command) => compose('exec', '-T', service, ...command),
    async containers(service) {
      const labels = [`com.docker.compose.project=payment-intents-check-${shape.name}`];
      if (service) labels.push(`com.docker.compose.service=${service}`);
      const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
      const format = '{{.ID}}\t{{.Label "com.docker.compose.service"}}\t{{.State}}\t{{.Status}}';
      const listed = await engine.docker(['ps', '--all', ...filters, '--format', format]);
      return listed
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [id = '', of = '', state = '', status = ''] = line.split('\t');
          return { id, service: of, state, status };
        });
    },
    async volumes() {
      const filter = `label=com.docker.compose.project=payment-intents-check-${shape.name}`;
      return (await engine.docker(['volume', 'ls', '--quiet', '--filter', filter])).split('\n').filter(Boolean);
    },
    async up() {
      await compose('up', '--detach', ...shape.services).catch(async ({ message }: Error) => {
        throw new Error(`${message}\n${await compose('logs', '--no-color', '--tail', '15', ...shape.ours)}`);
      });
    },
    async untilHealthy() {
      let waiting: readonly Container[] = [];
      for (let waited_ms = 0; waited_ms < healthy_ms; waited_ms += look_ms) {
        signal.throwIfAborted();
        const all = await self.containers();
        waiting = all.filter(({ state, status }) => !isWell(state, status));
        if (all.length > 0 && waiting.length === 0) return;
        await sleep(look_ms);
      }
      const what = waiting.map(({ service, status }) => `${service}: ${status}`).join('; ');
      throw new Error(`not healthy after ${healthy_ms / 1_000} s: ${what}\n${await compose('logs', '--tail', '20')}`);
    },
    async down(what) {
      await noteNameless();
      await compose('down', '--remove-orphans', '--timeout', '30', ...(what ? ['--volumes'] : []));
      if (!what) return;
      const there = new Set((await engine.docker(['volume', 'ls', '--quiet'])).split('\n'));
      const left = [...nameless].filter((name) => there.has(name));
      if (left.length > 0) await engine.docker(['volume', 'rm', ...left]);
    },
  };
  return self;
}

/** A running service that is not unhealthy, or a task that has ended with success. */
const isWell = (state: string, status: string): boolean =>
  state === 'running' ? !/\((unhealthy|health: starting)\)/.test(status) : /^Exited \(0\)/.test(status);

const overrides = 'docker-compose.check.yml';

/** Copies the build's context, the compose file and its mounts, adapted to this machine. */
function layOut(
  { shape, directory, engine, env, signerEnv, chainsCaFile, isLocal }: ProjectOptions,
  port: number,
): void {
  const visible = readFileSync(join(root, '.dockerignore'), 'utf8').matchAll(/^!(.+)$/gm);
  for (const path of [...[...visible].map(([, name = '']) => name), '.dockerignore', 'deploy']) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    cpSync(join(root, path), join(directory, path), { recursive: true });
  }
  const local = (text: string): string =>
    isLocal ? Object.values(standIns).reduce((all, { of, image }) => all.replaceAll(of, image), text) : text;
  for (const file of ['Dockerfile', shape.file]) {
    let text = local(readFileSync(join(root, file), 'utf8'));
    text = text.replaceAll('image: payment-intents\n', `image: ${productImage}\n`);
    if (!engine.isPlugin) text = text.replace(/^name: .*\n/m, '');
    text = text
      .replace(/127\.0\.0\.1:\d+:/g, '127.0.0.1::')
      .replace(/127\.0\.0\.1:\$\{PORT:-3000\}:/, `127.0.0.1:${port}:`);
    writeFileSync(join(directory, file), text);
  }
  writeFileSync(join(directory, overrides), overridesOf(shape, isLocal));
  writeFileSync(join(directory, '.env'), env, { mode: 0o600 });
  if (signerEnv !== null) writeFileSync(join(directory, '.env.signer'), signerEnv, { mode: 0o600 });
  cpSync(chainsCaFile, join(directory, 'chains-ca.pem'));
}

/** Route to the local chains; with substitutes also this machine's network for the build, and the shared log. */
function overridesOf({ ours, eventStores }: Shape, isLocal: boolean): string {
  const of = (service: string, settings: object) => [service, settings] as const;
  const services = Object.fromEntries([
    ...ours.map((service) =>
      of(service, {
        ...(isLocal && { build: { context: '.', network: 'host' } }),
        extra_hosts: [`${chainsHost}:host-gateway`],
        volumes: ['./chains-ca.pem:/etc/chains-ca.pem:ro'],
      }),
    ),
    ...(isLocal ? eventStores.map((service) => of(service, { volumes: ['standin-log:/shared'] })) : []),
  ]);
  const volumes = isLocal && eventStores.length > 0 ? { 'standin-log': {} } : {};
  // JSON is YAML.
  return JSON.stringify({ services, volumes }, null, 2);
}

/** Files of containers belong to their own users. */
export async function removeDirectory(engine: Engine, directory: string): Promise<void> {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    const mount = ['--volume', `${directory}:/directory`, '--user', '0:0', '--entrypoint', 'rm'];
    await engine.docker(['run', '--rm', ...mount, productImage, '-rf', '/directory/secrets']);
    rmSync(directory, { recursive: true, force: true });
  }
}
