/**
 * `npm run release`: makes the files of a release from the current commit: source archive, SBOM, image and checksums. It publishes nothing.
 * docs/contribute/release.md has the steps before and after it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';

interface Options {
  readonly out: string;
  readonly image: boolean;
  readonly platforms: string;
}

const root = join(import.meta.dirname, '..');
const printed = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const shown = (program: string, args: readonly string[]): void => {
  execFileSync(program, args, { cwd: root, stdio: 'inherit' });
};

/** @throws Error that names each reason why the commit cannot be released */
function readyVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const changed = printed('git', ['status', '--porcelain']).trim();
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const problems = [
    ...(changed === '' ? [] : ['The work tree has changes: commit them first.']),
    ...(changelog.includes(`\n## ${version}`) ? [] : [`CHANGELOG.md has no section "## ${version}".`]),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return version;
}

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/**
 * Packages of production in CycloneDX 1.5, from the lock file. `npm sbom` of npm 11.19 omits a package that an override names, the Stellar SDK
 * among them.
 */
function writeSbom(version: string, file: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const installed = Object.entries(packages).filter(([path, { dev = false }]) => path !== '' && !dev);
  const components = installed.map(([path, each]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const [algorithm, base64] = each.integrity?.split('-') ?? [];
    return {
      type: 'library',
      'bom-ref': path,
      ...{ name, version: each.version, purl: purlOf(name, each.version) },
      ...(each.license && { licenses: [{ expression: each.license }] }),
      ...(algorithm === 'sha512' &&
        base64 && { hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }] }),
    };
  });
  const component = { type: 'application', name: 'payment-intents', version };
  const sbom = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component }, components };
  writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
}

/** Several platforms need buildx and write an OCI archive; one platform uses the classic builder and `docker save`. */
function buildImage(tag: string, platforms: readonly string[], file: string): void {
  if (platforms.length > 1) {
    const to = ['--platform', platforms.join(), '--output', `type=oci,dest=${file}`];
    shown('docker', ['buildx', 'build', '--tag', tag, ...to, '.']);
    return;
  }
  shown('docker', ['build', '--tag', tag, ...platforms.flatMap((each) => ['--platform', each]), '.']);
  shown('docker', ['save', '--output', file, tag]);
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function writeChecksums(folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name !== 'SHA256SUMS').sort();
  const lines: string[] = [];
  for (const name of files) lines.push(`${await sha256Of(join(folder, name))}  ${name}`);
  writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`);
}

async function release({ out, image, platforms }: Options): Promise<void> {
  const version = readyVersion();
  const name = `payment-intents-${version}`;
  const folder = resolve(out, version);
  mkdirSync(folder, { recursive: true });
  // Two archives of one commit are equal, byte for byte.
  printed('git', [
    'archive',
    '--format=tar.gz',
    `--prefix=${name}/`,
    `--output=${join(folder, `${name}.tar.gz`)}`,
    'HEAD',
  ]);
  writeSbom(version, join(folder, `${name}.cdx.json`));
  if (image) {
    const wanted = platforms.split(',').filter(Boolean);
    buildImage(`payment-intents:${version}`, wanted, join(folder, `${name}.image.tar`));
  }
  await writeChecksums(folder);
  process.stdout.write(`Wrote ${folder}. Verify it there with: sha256sum --check SHA256SUMS\n`);
}

await new Command()
  .name('npm run release --')
  .description('Makes the files of a release from the current commit: source archive, SBOM, image and checksums.')
  .option('--out <folder>', 'Folder for the files of each version', 'release')
  .option('--no-image', 'Omit the image: no Docker is needed')
  .option(
    '--platforms <list>',
    'Platforms of the image, for example linux/amd64,linux/arm64; more than one needs buildx',
    '',
  )
  .addHelpText('after', '\nExample: npm run release -- --platforms linux/amd64,linux/arm64')
  .action((options: Options) =>
    release(options).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    }),
  )
  .parseAsync();
