/** A team on the real service: invited by mail, admitted in a browser, refused by role, removed while signed in, made owner with a code. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openMailFolder } from '../../sandbox/mailFolder.ts';
import { visitor } from '../support/chromium.ts';
import { createSandbox } from '../support/sandbox.ts';

describe('a team', () => {
  const sandbox = createSandbox({ chains: [8453] });
  before(() => sandbox.start());
  after(() => sandbox.destroy());

  const mailsTo = (email: string, subject: string) =>
    openMailFolder(sandbox.file().mailbox.folder)
      .list()
      .filter((mail) => mail.to === email && mail.subject === subject);
  const seen = new Set<string>();
  async function newCode(email: string, subject: string): Promise<string> {
    const codes = () => mailsTo(email, subject).map(({ text }) => /Your code is (\d{6})/.exec(text)?.[1] ?? '');
    await sandbox.until(() => codes().some((code) => !seen.has(code)));
    const code = codes().find((each) => !seen.has(each)) ?? assert.fail('no code');
    seen.add(code);
    return code;
  }
  async function signIn(page: Page, email: string, path: string): Promise<void> {
    await page.goto(path);
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Mail me a code' }).click();
    await page.getByLabel('Code').fill(await newCode(email, 'Your sign-in code'));
    await page.getByRole('button', { name: 'Go on' }).click();
  }

  it('is invited, works by its roles, and ends at once', async () => {
    const { baseUrl } = sandbox.file();
    const owner = 'olga@shop.example';
    const member = 'otto@shop.example';
    const request = { email: owner, displayName: 'Bakery', kind: 'merchant', slug: 'bakery' };
    const { body } = await sandbox.call('POST', '/merchant-api/register', { body: request });
    const code = await newCode(owner, 'Confirm your app');
    const proof = { challenge: body.challenge, code };
    assert.equal((await sandbox.call('POST', '/merchant-api/sign-in/verify', { body: proof })).status, 200);

    const [olga, otto] = await Promise.all([visitor(baseUrl), visitor(baseUrl)]);
    for (const { page } of [olga, otto]) page.setDefaultTimeout(20_000);
    const team = '/dashboard/apps/merchant_bakery/team';
    await signIn(olga.page, owner, team);
    await olga.page.goto(team);
    await olga.page.getByLabel('E-mail').fill(member);
    await olga.page.getByRole('radio', { name: /Read-only/ }).check();
    await olga.page.getByRole('button', { name: 'Send the invitation' }).click();
    await olga.page.getByText('The invitation is mailed').waitFor();
    await sandbox.until(() => mailsTo(member, 'You are invited to a team').length === 1);

    await signIn(otto.page, member, '/dashboard/invitations');
    await otto.page.goto('/dashboard/invitations');
    await otto.page.getByRole('button', { name: 'Join' }).click();
    await otto.page.getByText('You are in the team').waitFor();
    await otto.page.goto('/dashboard/apps/merchant_bakery/embedding');
    await otto.page.getByLabel('Sites').fill('https://otto.example');
    await otto.page.getByRole('button', { name: 'Save' }).click();
    await otto.page.getByText('your role in this team, read-only, does not allow you').waitFor();

    await olga.page.goto(team);
    await olga.page.getByRole('link', { name: /Make owner.*otto@shop/ }).click();
    await olga.page.getByRole('button', { name: 'Mail me a code' }).click();
    await olga.page.getByLabel('Code').fill(await newCode(owner, 'Confirm the new owner'));
    await olga.page.getByRole('button', { name: 'Transfer the ownership' }).click();
    await olga.page.getByText('The app has its new owner').waitFor();

    await otto.page.goto(team);
    await otto.page.getByRole('link', { name: /Remove.*olga@shop/ }).click();
    await otto.page.getByRole('button', { name: 'Remove the member' }).click();
    await otto.page.getByText('The member is removed').waitFor();
    assert.equal((await olga.page.goto(team))?.status(), 404, 'in a session that goes on');
    await sandbox.until(() => mailsTo(owner, 'You left a team: merchant_bakery').length === 1);
    await Promise.all([olga.leave(), otto.leave()]);
  });
});
