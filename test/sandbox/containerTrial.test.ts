/** The parts of `npm run compose:check` that need no container engine. The whole is run by hand. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { standIns } from '../../sandbox/trials/containers/images.ts';
import { filingCommands, operatorCommands, words } from '../../sandbox/trials/containers/operator.ts';
import { shapes } from '../../sandbox/trials/containers/shapes.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const run = promisify(execFile);
const program = fileURLToPath(new URL('../../sandbox/trials/containers/main.ts', import.meta.url));

describe('npm run compose:check', () => {
  it('without an engine states so, tries nothing and ends with 1', async () => {
    const env = { PATH: temporaryDirectory(), DOCKER_HOST: 'unix:///nowhere/docker.sock' };
    const failed = await run(process.execPath, [program], { env }).then(
      () => assert.fail('it ended well'),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    assert.equal(failed.code, 1);
    assert.equal(failed.stdout, '');
    assert.match(failed.stderr, /^Nothing was tried: no engine answers .*Install Docker/);
  });

  it('types exactly the commands of docs/operate/containers.md', () => {
    const page = text('docs/operate/containers.md');
    const commands = [...operatorCommands('<paymentId>'), ...filingCommands('<paymentId>', '<month>')];
    const typed = commands.map(({ command }) => command.replace('wallet_check', 'wallet_shop'));
    for (const command of typed) assert.ok(page.includes(command), `docs/operate/containers.md lacks ${command}`);
    // Commands with arguments of the operator: these lists do not contain them.
    const others = /^npm run -s (merchant -- register|restore|rotate-master-key)/;
    const told = [...page.matchAll(/npm run -s [^`\n|]+/g)].map(([said]) => said.trim());
    assert.deepEqual(
      told.filter((said) => !typed.includes(said) && !others.test(said)),
      [],
    );
  });

  it('reads words of a command like a shell', () => {
    assert.deepEqual(words('npm run -s treasury -- pause "some maintenance"'), [
      ...['npm', 'run', '-s', 'treasury', '--', 'pause', 'some maintenance'],
    ]);
  });

  it('has stand-ins for the images that the files name, and no others', () => {
    const files = ['Dockerfile', ...Object.values(shapes).map(({ file }) => file)].map(text).join('\n');
    for (const [name, { of }] of Object.entries(standIns)) assert.match(files, new RegExp(of.source), name);
    const left = Object.values(standIns).reduce((all, { of, image }) => all.replaceAll(of, image), files);
    const official = [...left.matchAll(/^(?: {4}| {2})image: (\S+)$/gm)].map(([, image = '']) => image);
    assert.deepEqual([...new Set(official)].filter((image) => !image.startsWith('payment-intents')).sort(), [
      'axllent/mailpit:v1.31.4',
      'grafana/grafana:12.1.0',
    ]);
  });
});
