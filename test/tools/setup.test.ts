/** The README's lines: `npm run setup` writes an .env with everything that docker-compose.yml requires. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { readConfig } from '../../src/config.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const run = promisify(execFile);
const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const program = fileURLToPath(new URL('../../deploy/compose/setup.ts', import.meta.url));
/** The README's block, as users type it. */
const readmeLines = /^## Run it\n\n```sh\n([\s\S]*?)```/m.exec(text('README.md'))?.[1]?.trim().split('\n') ?? [];
const readmeLine = /^npm run -s setup -- (.*?) +#/m.exec(text('README.md'))?.[1] ?? assert.fail('no setup in README');

describe('npm run setup', () => {
  it('as the README has it writes what docker-compose.yml requires, and the service starts with', async () => {
    const cwd = temporaryDirectory();
    // A folder like a clone: the lines write beside its package.json.
    const root = fileURLToPath(new URL('../../', import.meta.url));
    for (const name of ['package.json', 'node_modules', 'deploy', '.env.example', 'docker-compose.yml'])
      symlinkSync(join(root, name), join(cwd, name));
    const upToEngine = readmeLines.findIndex((line) => line.startsWith('docker compose up'));
    assert.ok(upToEngine > 0, 'the README has no lines before docker compose up');
    for (const line of readmeLines.slice(0, upToEngine)) await run('sh', ['-ec', line], { cwd });
    const env = parseEnv(readFileSync(join(cwd, '.env'), 'utf8')) as Record<string, string>;
    assert.equal(statSync(join(cwd, '.env')).mode & 0o777, 0o600);
    const required = [...text('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
    assert.deepEqual(
      required.filter((name) => !env[name]),
      [],
    );
    const around = {
      ...env,
      DATABASE_URL: 'postgres://a:b@postgres:5432/payments',
      EVENTSTORE_DEFAULT_URL: 'esdb://eventstore:2113?tls=false',
    };
    readConfig({ ...around, ROLES: 'projections,subscribers' });
    const blank = [...text('docker-compose.yml').matchAll(/^ {6}(\w+): ""$/gm)].map(([, name = '']) => [name, '']);
    readConfig({ ...around, ...Object.fromEntries(blank), ROLES: 'api' });
    for (const name of ['HEADS_KEY', 'HEADS_KEY_OLD', 'MASTER_KEY_OLD', 'ANALYST_PASSWORD', 'TREASURY_PRIVATE_KEY'])
      assert.ok(
        blank.some(([blanked]) => blanked === name),
        `api gets ${name}`,
      );
  });

  it('changes no file that exists, and names what it needs', async () => {
    const cwd = temporaryDirectory();
    const args = [program, ...readmeLine.split(' ')];
    await run(process.execPath, args, { cwd });
    const before = readFileSync(join(cwd, '.env'), 'utf8');
    await assert.rejects(run(process.execPath, args, { cwd }));
    assert.equal(readFileSync(join(cwd, '.env'), 'utf8'), before);
    await assert.rejects(run(process.execPath, [program], { cwd }), /--public-url/);
  });
});
