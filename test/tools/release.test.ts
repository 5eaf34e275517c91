/** `npm run release` in a separate repository with the files that it reads. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const root = join(import.meta.dirname, '../..');
const read = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;
const { version, dependencies, devDependencies } = read<{
  version: string;
  dependencies: Readonly<Record<string, string>>;
  devDependencies: Readonly<Record<string, string>>;
}>(join(root, 'package.json'));
const name = `payment-intents-${version}`;

describe('npm run release', function () {
  this.timeout(60_000);
  let folder: string;
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: folder,
      stdio: 'pipe',
    });
  const release = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['deploy/release.ts', '--no-image', ...args], { cwd: folder, encoding: 'utf8' });

  before(() => {
    folder = temporaryDirectory();
    for (const file of ['package.json', 'package-lock.json', 'CHANGELOG.md', 'deploy/release.ts'])
      cpSync(join(root, file), join(folder, file));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, '.gitignore'), 'node_modules\n/release\n');
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'Begin');
  });

  it('writes the source, a bill of the packages of production, and checksums that hold', () => {
    const { status, stderr } = release();
    assert.equal(status, 0, stderr);
    const out = join(folder, 'release', version);
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
    const files = execFileSync('tar', ['-tzf', `${name}.tar.gz`], { cwd: out, encoding: 'utf8' });
    assert.ok(files.includes(`${name}/package.json\n`));
    const { components } = read<{ components: readonly { name: string; version: string }[] }>(
      join(out, `${name}.cdx.json`),
    );
    const listed = new Set(components.map((each) => `${each.name}@${each.version}`));
    for (const [dependency, pinned] of Object.entries(dependencies))
      assert.ok(listed.has(`${dependency}@${pinned}`), dependency);
    assert.ok(devDependencies['mocha']);
    assert.equal(listed.has(`mocha@${devDependencies['mocha']}`), false);
    assert.equal(existsSync(join(out, `${name}.image.tar`)), false);
  });

  it('makes the same source archive again from the same commit', () => {
    const at = (out: string) => readFileSync(join(out, version, `${name}.tar.gz`));
    mkdirSync(join(folder, 'release/again'), { recursive: true });
    assert.equal(release('--out', 'release/again').status, 0);
    assert.ok(at(join(folder, 'release')).equals(at(join(folder, 'release/again'))));
  });

  it('refuses changes that are not committed, and a version that the changelog does not name', () => {
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n');
    const { status, stderr } = release();
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `The work tree has changes: commit them first.\nCHANGELOG.md has no section "## ${version}".\n`,
    );
  });
});
