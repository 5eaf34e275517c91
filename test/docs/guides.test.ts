/** Runs the commands and programs of the guides, in their order, against a sandbox that is started like a newcomer's. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { signWebhook } from '../../commands/sendWebhook.ts';
import { bounceCodes } from '../../domain/payment/events.ts';
import { paymentStatuses } from '../../domain/payment/view.ts';
import { situations } from '../../sandbox/situations.ts';
import { type GuideName, guideNames, readGuide, renderGuide } from '../../web/guides/routes.ts';
import { createSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const root = new URL('../../', import.meta.url).pathname;

/** Fenced blocks of a language in a guide. */
const blocksOf = (name: GuideName, language: string): readonly string[] =>
  [...readGuide(name).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code]) => code ?? '',
  );

const has = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('the guides', () => {
  for (const name of guideNames) {
    it(`${name} links to guides and headings that exist, and its page has every heading`, () => {
      const page = renderGuide(name);
      assert.match(page, /<h1 id="[a-z-]+">/);
      for (const [, target = ''] of page.matchAll(/href="(\/docs\/guides\/[^"]+)"/g)) {
        const [path, anchor] = target.split('#') as [string, string?];
        const other = guideNames.find((each) => path === `/docs/guides/${each}`);
        assert.ok(other, target);
        if (anchor) assert.ok(renderGuide(other).includes(`id="${anchor}"`), target);
      }
      assert.doesNotMatch(page, /\.md["#]/);
    });
  }

  it('name each errorCode that npm run trigger does not cause, and it causes every status', () => {
    const made = new Set(situations.map(({ errorCode }) => errorCode));
    const without = bounceCodes.filter((code) => !made.has(code));
    const [, named = ''] = /^Three errorCodes have no situation([\s\S]*?)\n\n/m.exec(readGuide('testing')) ?? [];
    assert.deepEqual([...named.matchAll(/`(\w+)`:/g)].map(([, code]) => code).toSorted(), without.toSorted());
    const ends = new Set(situations.map(({ ends }) => ends));
    assert.deepEqual(
      paymentStatuses.filter((status) => !ends.has(status)),
      [],
    );
  });

  it('name every status of a payment, and no other', () => {
    const [table = ''] = readGuide('statuses').split('## Which');
    const named = [...table.matchAll(/^\| `(payment_\w+)` \|/gm)].map(([, status]) => status);
    assert.deepEqual(named.toSorted(), [...paymentStatuses].toSorted());
  });

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const guide of guideNames)
      for (const [, script = ''] of readGuide(guide).matchAll(/npm run (?:-s )?([a-z-]+)/g)) assert.ok(scripts[script]);
  });

  describe('run as they are', () => {
    const sandbox = createSandbox({ chains: [8453] });
    let folder: string;
    let env: NodeJS.ProcessEnv;
    before(async () => {
      await sandbox.start();
      const { baseUrl, merchant } = sandbox.file();
      folder = temporaryDirectory();
      env = {
        ...process.env,
        DATA_DIR: sandbox.dataDir,
        PAYMENTS_URL: baseUrl,
        PAYMENTS_KEY: merchant.ordersKey,
        PAYMENTS_ADMIN_KEY: merchant.adminKey,
        SHOP_STATE: join(folder, 'shop.json'),
      };
      // The shell runs in a separate folder; npm runs in the project, like the reader's.
      mkdirSync(join(folder, 'bin'));
      writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\ncd '${root}' && exec '${npm}' "$@"\n`, { mode: 0o755 });
    });
    after(() => sandbox.destroy());

    const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();

    async function shell(name: GuideName): Promise<string> {
      const script = `set -euo pipefail\n${blocksOf(name, 'sh').join('\n')}`;
      const own = { ...env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
      const ran = promisify(execFile)('bash', ['-c', script], { cwd: folder, env: own });
      return (await ran).stdout;
    }

    /** The module of a guide's nth program. */
    function program(name: GuideName, nth = 0) {
      const file = join(folder, `${name}-${nth}.mjs`);
      writeFileSync(file, blocksOf(name, 'js')[nth] ?? assert.fail(`${name} has no program ${nth}`));
      Object.assign(process.env, { ...env });
      return import(pathToFileURL(file).href);
    }

    const needsShell = (context: Mocha.Context) => {
      // Runs where the guide's own tools are installed; otherwise it is pending.
      if (!has('curl') || !has('jq')) context.skip();
    };

    it('five-minutes: an order, its page, the money, the end', async function () {
      needsShell(this);
      const printed = await shell('five-minutes');
      assert.match(printed, /"status": "payment_unpaid"/);
      assert.match(printed, /payment_payout_completed/);
      assert.match(printed, /\ntrue\n$/);
    });

    it('testing: a test that pays too little', async function () {
      needsShell(this);
      assert.match(await shell('testing'), /\ntrue\n$/);
    });

    it('statuses, wrong-money and webhooks-or-feed: an underpayment, then paid, then reported once', async () => {
      const order = { orderId: 'tea-2', type: 'exactIn', display: { title: 'Tea', currency: 'USD' } };
      const source = { chainId: 8453, tokenSymbol: 'USDC', amount: '5.00' };
      const { body } = await sandbox.create(
        { ...order, appId: 'merchant_demo', source },
        sandbox.file().merchant.ordersKey,
      );
      const { lacks } = await program('wrong-money');
      const { isPaid } = await program('statuses');
      const { takeNews } = await program('webhooks-or-feed', 1);
      assert.equal(await lacks(body.id), '5.00');
      const ended = isPaid(body.id);
      await sandbox.pay(body, '5.00');
      assert.equal(await ended, true);
      assert.equal(await lacks(body.id), '0');
      let fulfilled: readonly string[] = [];
      while (!fulfilled.includes('tea-2')) fulfilled = await takeNews();
      assert.equal((await takeNews()).filter((each: string) => each === 'tea-2').length, 1);
    });

    it('webhooks-or-feed: the signature of a webhook is accepted, and no similar one', async () => {
      const { isGenuine } = await program('webhooks-or-feed', 0);
      const [secret, body, now_ms] = ['ab'.repeat(32), Buffer.from('{"type":"x"}'), 1_790_000_000_000];
      const { signature } = signWebhook({ deliveryId: 'one', body, secret }, now_ms);
      const headers = { 'x-service-timestamp': String(now_ms), 'x-service-signature': signature };
      assert.equal(isGenuine(headers, body, secret, now_ms), true);
      assert.equal(isGenuine(headers, Buffer.from('{"type":"y"}'), secret, now_ms), false);
      assert.equal(isGenuine(headers, body, 'cd'.repeat(32), now_ms), false);
      assert.equal(isGenuine(headers, body, secret, now_ms + 300_001), false);
      assert.equal(isGenuine({}, body, secret, now_ms), false);
    });
  });
});
