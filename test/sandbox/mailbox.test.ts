/** The sandbox's mail server: the service's mails become files and appear on a page. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type Mailbox, startMailbox } from '../../sandbox/mailbox.ts';
import { openMailFolder } from '../../sandbox/mailFolder.ts';
import { readMail } from '../../sandbox/readMail.ts';
import { createSmtp } from '../../src/accounts/smtp.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('sandbox: mailbox', () => {
  const folder = join(temporaryDirectory(), 'mail');
  let mailbox: Mailbox;
  let smtp: ReturnType<typeof createSmtp>;
  before(async () => {
    mailbox = await startMailbox({ port: 0, folder });
    smtp = createSmtp({ url: mailbox.smtpUrl, from: 'Payments <no-reply@sandbox.example>' });
  });
  after(async () => {
    smtp.close();
    await mailbox.stop();
  });

  const page = async (path: string): Promise<string> => (await fetch(`${mailbox.url}${path}`)).text();

  it('keeps a mail as a file and shows it, list and text', async () => {
    assert.match(await page('/'), /No mail yet/);
    const text = `Your code is 123456\n\nZoë’s beans, a line that is longer than mail lines are: ${'x'.repeat(200)}\n`;
    assert.equal(await smtp.send({ to: 'ada@shop.example', subject: 'Your code – Café', text }), true);
    const [mail] = openMailFolder(folder).list();
    assert.deepEqual(
      { to: mail?.to, from: mail?.from, subject: mail?.subject, text: mail?.text },
      { to: 'ada@shop.example', from: 'Payments <no-reply@sandbox.example>', subject: 'Your code – Café', text },
    );
    const [, name] = /href="\/([^"]+)"><strong>Your code – Café/.exec(await page('/')) ?? [];
    assert.equal(name, mail?.name);
    assert.match(await page(`/${name}`), /Your code is 123456/);
  });

  it('shows mails as text, under a policy that runs nothing', async () => {
    await smtp.send({
      to: 'eve@shop.example',
      subject: '<script>alert(1)</script>',
      text: '<img src=x onerror=alert(1)>',
    });
    const list = await fetch(mailbox.url);
    const text = await list.text();
    assert.doesNotMatch(text, /<script|<img/);
    assert.match(text, /&lt;script>/);
    assert.match(String(list.headers.get('content-security-policy')), /default-src 'none'/);
  });

  it('reads no other file, answers no other method and no other name of this machine', async () => {
    for (const path of ['/../webhook.log', '/%2e%2e/x', '/.eml', '/nothing']) {
      assert.equal((await fetch(`${mailbox.url}${path}`)).status, 404, path);
    }
    assert.equal((await fetch(mailbox.url, { method: 'POST' })).status, 405);
    const status = await new Promise((resolve, reject) => {
      const asked = request(mailbox.url, { headers: { Host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
    assert.equal(status, 403);
  });

  it('keeps the newest five hundred', () => {
    const many = join(temporaryDirectory(), 'mail');
    const kept = openMailFolder(many);
    const at = new Date('2026-11-22T09:00:00.000Z');
    const names = Array.from({ length: 503 }, (_, index) => kept.keep(Buffer.from(`Subject: ${index}\r\n\r\n`), at));
    assert.deepEqual(
      readdirSync(many).sort(),
      names.slice(3).map((name) => `${name}.eml`),
    );
  });

  it('refuses a mail that is too large', async () => {
    const before = openMailFolder(folder).list().length;
    await assert.rejects(smtp.send({ to: 'ada@shop.example', subject: 'large', text: 'x'.repeat(300_000) }));
    assert.equal(openMailFolder(folder).list().length, before);
  });

  it('reads encoded headers and texts', () => {
    const mail = [
      'Subject: =?UTF-8?Q?caf=C3=A9_?=',
      ' =?UTF-8?B?4oKs?=',
      'To: a@b.example',
      'Content-Transfer-Encoding: base64',
      '',
      'WsO2bw==',
    ];
    const { subject, text } = readMail(Buffer.from(mail.join('\r\n')));
    assert.deepEqual([subject, text], ['café €', 'Zöo']);
  });
});
