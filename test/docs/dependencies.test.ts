import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const { dependencies, devDependencies } = JSON.parse(text('package.json')) as Record<string, Record<string, string>>;
const [production = '', development = ''] = text('docs/contribute/dependencies.md').split('\n## For development');

/** Package names in the first column of a table. */
const listed = (part: string) =>
  part
    .split('\n')
    .flatMap((line) => [...(/^\| (`.*?) \|/.exec(line)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));

describe('docs/contribute/dependencies.md', () => {
  it('justifies every dependency, and no removed one', () => {
    assert.deepEqual(listed(production).sort(), Object.keys(dependencies ?? {}).sort());
    assert.deepEqual(listed(development).sort(), Object.keys(devDependencies ?? {}).sort());
  });
});

interface Locked {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('the lockfile', () => {
  const { packages } = JSON.parse(text('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };
  const { allowScripts } = JSON.parse(text('package.json')) as { allowScripts: Readonly<Record<string, boolean>> };
  const platforms = ['linux', 'darwin'].flatMap((os) => ['x64', 'arm64'].map((cpu) => ({ os, cpu })));
  const runsOn = ({ os, cpu, libc }: Locked, platform: (typeof platforms)[number]) =>
    (os?.includes(platform.os) ?? true) && (cpu?.includes(platform.cpu) ?? true) && (libc?.includes('glibc') ?? true);
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

  it('has the binaries of each package for Linux and macOS, on x64 and arm64', () => {
    const wrong = Object.entries(packages).flatMap(([path, { os, optionalDependencies = {} }]) => {
      const binaries = Object.keys(optionalDependencies)
        .flatMap((name) => packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`] ?? [])
        .filter((each) => each.os && each.cpu);
      // A package of one platform names the libraries of that platform.
      if (os || binaries.length === 0) return [];
      const missing = platforms.filter((platform) => !binaries.some((each) => runsOn(each, platform)));
      return missing.map(({ os: system, cpu }) => `${path}: ${system} ${cpu}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('has no install script on these platforms that package.json neither allows nor forbids', () => {
    const undecided = Object.entries(packages)
      .filter(([, each]) => each.hasInstallScript && platforms.some((platform) => runsOn(each, platform)))
      .map(([path]) => nameOf(path))
      .filter((name) => !(name in allowScripts));
    assert.deepEqual(undecided, []);
  });
});
