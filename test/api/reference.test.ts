/** The API reference: its contents per reader, and its examples, which run. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { instant } from '../../domain/time.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import { type ExampleLanguage, exampleLanguages, exampleOf } from '../../web/reference/examples.ts';
import { readReference } from '../../web/reference/operations.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { Jar, memoryAccounts } from './desk.ts';
import { startWorld, type World } from './world.ts';

type UsedKey = Awaited<ReturnType<KeyReads['listKeys']>>[number];

const run = promisify(execFile);
const nobody = { appId: null, keyHint: null };
const page_bytesMax = 200_000;

const keyOf = (more: Partial<UsedKey>): UsedKey => ({
  keyId: 'k',
  name: 'till',
  scope: 'orders',
  hint: 'pi_live_…aaaa',
  createdAt: instant(Date.UTC(2026, 10, 1)),
  createdBy: 'developer:ada',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  ...more,
});

describe('HTTP: the API reference', () => {
  let world: World;
  before(async () => {
    const accounts = memoryAccounts(() => instant(Date.UTC(2026, 10, 21, 9)));
    const keys: Readonly<Record<string, readonly UsedKey[]>> = {
      merchant_ada: [
        keyOf({ hint: 'pi_live_…good' }),
        keyOf({ hint: 'pi_live_…gone', revokedAt: instant(Date.UTC(2026, 10, 2)) }),
        keyOf({ hint: 'pi_live_…over', expiresAt: instant(Date.UTC(2026, 10, 3)) }),
      ],
      merchant_eve: [keyOf({ hint: 'pi_live_…evil' })],
    };
    world = await startWorld({
      accounts,
      findSession: accounts.findSession,
      appsOf: async (developerId) =>
        (await accounts.person(developerId))?.email === 'ada@example.org'
          ? ['merchant_ada', 'wallet_ada']
          : ['merchant_eve'],
      listKeys: async (appId) => keys[appId] ?? [],
    });
  });
  after(() => world.stop());
  const document = async () => readReference((await world.call('GET', '/openapi.json')).body);

  it('has a page of at most 200 kB for each operation and webhook, in each language', async () => {
    const { operations } = await document();
    assert.ok(operations.length > 55);
    const jar = new Jar(world.url);
    for (const { id, summary } of operations)
      for (const lang of exampleLanguages) {
        const { status, text } = await jar.get(`/docs/api/${id}?lang=${lang}`);
        assert.equal(status, 200, id);
        assert.ok(text.includes(summary.replaceAll('&', '&amp;').replaceAll('<', '&lt;')), id);
        assert.ok(Buffer.byteLength(text) < page_bytesMax, `${id}: ${Buffer.byteLength(text)} bytes`);
      }
    assert.ok(Buffer.byteLength((await jar.get('/docs')).text) < page_bytesMax);
  });

  it('finds operations by words of their path, text and fields, and states when there is none', async () => {
    const jar = new Jar(world.url);
    const main = async (q: string) =>
      (await jar.get(`/docs?q=${encodeURIComponent(q)}`)).text.split('<main')[1]?.split('</main>')[0] ?? '';
    const found = await main('REFUND idempotencykey');
    assert.ok(found.includes('/docs/api/orderRefund') && !found.includes('/docs/api/getHealth'));
    assert.match(await main('zzz'), /Nothing found/);
    assert.match(await main('<b>x</b>'), /&lt;b>x&lt;\/b>|&lt;b&gt;/);
  });

  it('bounds a search, and refuses a language and an operation that do not exist', async () => {
    const jar = new Jar(world.url);
    assert.equal((await jar.get(`/docs?q=${'x'.repeat(101)}`)).status, 400);
    assert.equal((await jar.get('/docs?lang=cobol')).status, 400);
    assert.equal((await jar.get('/docs/api/nothing')).status, 404);
    assert.equal((await jar.get('/docs/api/constructor')).status, 404);
  });

  it('fills in the app and the newest valid key of the reader, and lets them choose another app', async () => {
    const jar = new Jar(world.url);
    await jar.signIn('ada@example.org');
    const own = await jar.get('/docs/api/addPayment');
    assert.match(own.text, /pi_live_…good/);
    assert.match(own.text, /"appId": "merchant_ada"|&quot;appId&quot;: &quot;merchant_ada&quot;/);
    assert.doesNotMatch(own.text, /…gone|…over/);
    assert.equal(own.headers.get('cache-control'), 'no-store');
    assert.equal(own.headers.get('access-control-allow-origin'), null);
    assert.match(String(own.headers.get('content-security-policy')), /script-src 'self';.*form-action 'self';/);
    assert.match((await jar.get('/docs/api/addPayment?app=wallet_ada')).text, /wallet_ada/);
  });

  it('shows nobody the key of another person’s app', async () => {
    const [ada, stranger] = [new Jar(world.url), new Jar(world.url)];
    await ada.signIn('ada@example.org');
    const asked = await ada.get('/docs/api/addPayment?app=merchant_eve');
    assert.equal(asked.status, 404);
    assert.doesNotMatch(asked.text, /evil/);
    const { text } = await stranger.get('/docs/api/addPayment?app=merchant_ada');
    assert.doesNotMatch(text, /…good|merchant_ada/);
  });

  describe('an example', () => {
    const commands: Readonly<Record<ExampleLanguage, (file: string) => readonly [string, readonly string[]]>> = {
      curl: (file) => ['bash', [file]],
      typescript: (file) => [process.execPath, [file]],
      python: (file) => ['python3', [file]],
    };
    const ends: Readonly<Record<ExampleLanguage, string>> = { curl: 'sh', typescript: 'mts', python: 'py' };

    for (const language of exampleLanguages)
      it(`in ${language} runs unchanged: it reads, and creates a payment with a key`, async () => {
        const reference = await document();
        const folder = temporaryDirectory();
        const env = { ...process.env, PAYMENTS_KEY: world.keys.wallet['X-API-Key'] ?? '' };
        for (const [id, expected] of [
          ['getHealth', /ok/],
          ['addPayment', /payment_unpaid/],
        ] as const) {
          const operation = reference.operations.find((each) => each.id === id);
          assert.ok(operation);
          const text = exampleOf(reference, operation, language, { appId: 'wallet_demo', keyHint: 'pi_live_…abcd' });
          const file = join(folder, `${id}.${ends[language]}`);
          await writeFile(file, text ?? '');
          const [command, given] = commands[language](file);
          assert.match((await run(command, [...given], { env })).stdout, expected, `${id}: ${text}`);
        }
      });

    it('quotes everything for its shell', async () => {
      const reference = await document();
      const hostile = {
        ...reference,
        url: world.url,
        document: {
          components: { schemas: { Evil: { examples: [{ it: "'; echo broken; '$(echo broken)`echo broken`\\" }] } } },
        },
      };
      const operation = reference.operations.find(({ id }) => id === 'addPayment');
      assert.ok(operation);
      const evil = {
        ...operation,
        path: '/none',
        body: { type: 'application/json', schema: { $ref: '#/components/schemas/Evil' } },
      };
      const file = join(temporaryDirectory(), 'evil.sh');
      await writeFile(
        file,
        (exampleOf(hostile, evil, 'curl', nobody) ?? '').replace(/^curl .*?'h/s, "printf '%s|' 'h"),
      );
      const { stdout } = await run('bash', [file]);
      assert.ok(stdout.includes("'; echo broken; '$(echo broken)`echo broken`"), stdout);
    });
  });
});
