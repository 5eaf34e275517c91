import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { receiver as receiverAddress, startWorld, type World } from '../api/world.ts';
import { gateCases } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import type { At, Seen } from './programs/shop.ts';

const run = promisify(execFile);
const here = import.meta.dirname;
const modules = join(here, '../../node_modules');
const txHash = `0x${'ab'.repeat(32)}`;

/** Two generators that run on Node and write TypeScript. */
const generators = {
  openApiFetch: (document: string, into: string) => [
    join(modules, 'openapi-typescript/bin/cli.js'),
    document,
    '--output',
    join(into, 'openApiFetch.ts'),
  ],
  heyApi: (document: string, into: string) => [
    join(modules, '@hey-api/openapi-ts/dist/run.mjs'),
    ...['--input', document, '--output', join(into, 'heyApi'), '--silent'],
  ],
} as const;

const names = gateCases(
  Object.keys(generators) as readonly (keyof typeof generators)[],
  (name) => name === 'openApiFetch',
);

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  rootDir: '.',
  outDir: 'built',
};

describe('clients that are generated from the OpenAPI document', () => {
  let world: World;
  let directory: string;

  before('generates them and compiles them under strict, with the programs that use them', async () => {
    world = await startWorld();
    directory = temporaryDirectory();
    const document = join(directory, 'openapi.json');
    const generated = join(directory, 'generated');
    for (const name of ['shop', ...names]) cpSync(join(here, `programs/${name}.ts`), join(directory, `${name}.ts`));
    symlinkSync(modules, join(directory, 'node_modules'));
    mkdirSync(generated);
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(document, (await world.call('GET', '/openapi.json')).text);
    for (const name of names) {
      const preload = pathToFileURL(join(here, 'typescript5.ts')).href;
      await run(process.execPath, ['--import', preload, ...generators[name](document, generated)], { cwd: directory });
    }
    await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '--project', directory]).catch(
      ({ stdout }: { stdout: string }) => assert.fail(stdout),
    );
  });
  after(() => world.stop());

  for (const name of names) {
    it(`${name}: creates, repeats, reads by id and by order, lists, registers a payin, and understands refusals`, async () => {
      const { shop } = (await import(pathToFileURL(join(directory, 'built', `${name}.js`)).href)) as {
        shop: (at: At) => Promise<Seen>;
      };
      const { wallet, walletAdmin } = world.keys;
      const seen = await shop({
        url: world.url,
        key: String(wallet['X-API-Key']),
        adminKey: String(walletAdmin['X-API-Key']),
        orderId: `${name} 1/2`,
        receiverAddress,
        txHash,
      });
      assert.deepEqual(seen, {
        id: seen.id,
        location: `/payment-api/payments/${seen.id}`,
        toPay: '10.01',
        repeated: { id: seen.id, replayed: 'true' },
        foundStatus: 'payment_unpaid',
        foundByOrder: seen.id,
        publicOrderId: null,
        listed: [seen.id],
        registered: { success: true, txHash },
        errors: [
          { status: 400, error: 'invalidRequest', pointer: '/source/amount' },
          { status: 401, error: 'unauthenticated', pointer: undefined },
          { status: 403, error: 'scope_insufficient', pointer: undefined },
          { status: 404, error: 'paymentNotFound', pointer: '/id' },
        ],
      } satisfies Seen);
    });
  }
});
