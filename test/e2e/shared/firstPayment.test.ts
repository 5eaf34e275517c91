/** A merchant's way from nothing to a paid test payment and its webhook, by the dashboard's own links and buttons, as docs/start names them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { type Visitor, visitor } from '../../support/chromium.ts';
import { mailedCode } from '../../support/mailedCode.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';

const guide = readFileSync(new URL('../../../docs/start/dashboard.md', import.meta.url), 'utf8');
const email = 'mia@lemonade.example';
const home = '/dashboard/apps/merchant_lemonade';

describe('a merchant in the dashboard alone', () => {
  const sandbox = sharedSandbox();
  const used: string[] = [];
  let mia: Visitor;
  let page: Page;
  before(async () => {
    await startSharedSandbox();
    mia = await visitor(sandbox.file().baseUrl);
    page = mia.page;
  });
  after(() => mia.leave());

  const press = async (name: string) => {
    used.push(name);
    await page.getByRole('button', { name, exact: true }).click();
  };
  const follow = async (name: string) => {
    used.push(name);
    await page.getByRole('link', { name }).first().click();
  };
  const write = async (label: string, text: string) => {
    used.push(label);
    await page.getByLabel(label).first().fill(text);
  };

  it('registers with the mailed code', async () => {
    await page.goto('/');
    await follow('Register');
    await write('E-mail', email);
    await press('Mail me a code');
    const code = () => mailedCode(sandbox.file().mailbox.folder, { to: email });
    await sandbox.until(() => code() !== undefined);
    await write('Code', code() ?? '');
    await press('Go on');
  });

  it('names the app and sets its wallet', async () => {
    await write('Name of your shop or app', 'Lemonade');
    await write('Short name', 'lemonade');
    await press('Register');
    await page.waitForURL(`**${home}/settlement`);
    used.push('Chain');
    await page.getByLabel('Chain').selectOption('8453');
    await write('Address', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
    await press('Set the wallet');
    await page.getByText('The settlement wallet is saved.').waitFor();
  });

  it('sets the webhook URL of the sandbox’s receiver', async () => {
    await follow('Webhooks');
    await write('Webhook URL', sandbox.file().webhook.url);
    await page
      .locator('form')
      .filter({ has: page.getByLabel('Webhook URL') })
      .getByRole('button', { name: 'Save' })
      .click();
    used.push('Save');
    assert.match((await page.locator('.secret code').textContent()) ?? '', /^[0-9a-f]{64}$/);
  });

  it('makes a test payment and sees it paid, with both webhooks accepted', async () => {
    await follow('Overview');
    await follow('Make a test payment');
    await press('Make a test payment');
    await page.waitForURL(new RegExp(`${home}/payments/[0-9a-f-]{36}$`));
    await page.locator('h1').getByText('Completed').waitFor();
    await sandbox.until(async () => {
      await page.reload();
      return (await page.getByText('answered 200').count()) === 2;
    });
    const id = page.url().split('/').at(-1) ?? '';
    assert.deepEqual(
      sandbox.webhooks(id).map(({ valid }) => valid),
      [true, true],
    );
  });

  it('finds each field, link and button in the guide, in this order', () => {
    let at = 0;
    for (const name of used) {
      const next = guide.indexOf(`**${name}**`, at);
      assert.ok(next >= 0, `**${name}** after character ${at} of the guide`);
      at = next;
    }
  });
});
