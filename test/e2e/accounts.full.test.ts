/** The real process, killed while a person proves an e-mail, and restarted; then two instances and one session. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openMailFolder } from '../../sandbox/mailFolder.ts';
import { historyOf } from '../support/history.ts';
import { type Instance, startInstance } from '../support/instance.ts';
import { mailedCode } from '../support/mailedCode.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';

const merchantTool = fileURLToPath(new URL('../../tools/merchant.ts', import.meta.url));

/** Appends of a proof, in order. */
const begins = 'MerchantRegistered+WebhookSecretRotated+ProfileSet';
const points = ['proof.noted', `${begins}.beforeAppend`, `${begins}.afterAppend`, 'proof.registered'];

describe('registering in a service that is killed', () => {
  const sandbox = createSandbox({ chains: [8453] });
  after(() => sandbox.destroy());

  const post = (path: string, body: object): Promise<Answer> => sandbox.call('POST', `/merchant-api${path}`, { body });
  const mailsTo = (email: string) =>
    openMailFolder(sandbox.file().mailbox.folder)
      .list()
      .filter(({ to }) => to === email);

  async function codeFor(to: string): Promise<string> {
    const code = () => mailedCode(sandbox.file().mailbox.folder, { to });
    await sandbox.until(() => code() !== undefined);
    return code() ?? assert.fail('no code');
  }

  async function registered(slug: string) {
    const email = `${slug}@shop.example`;
    const { status, body } = await post('/register', { email, displayName: 'A shop', kind: 'merchant', slug });
    assert.equal(status, 201);
    return { ...body, code: await codeFor(email) } as Record<'developerId' | 'appId' | 'challenge' | 'code', string>;
  }

  for (const [index, point] of points.entries()) {
    it(`at ${point}: the same code, sent again, finishes it once`, async () => {
      await sandbox.start({ CRASH_AT: point });
      const { challenge, code, appId, developerId } = await registered(`shop${index}`);
      await assert.rejects(post('/sign-in/verify', { challenge, code }));
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());

      assert.equal(await sandbox.start(), 'ready', sandbox.printed());
      const { status, body } = await post('/sign-in/verify', { challenge, code });
      assert.deepEqual([status, body.registered, body.developerId], [200, appId, developerId]);
      assert.equal((await post('/sign-in/verify', { challenge, code })).body.error, 'codeExpired');
      await sandbox.stop();
      const history = (await historyOf(sandbox.dataDir)).get(`merchant-${appId}`);
      assert.deepEqual(
        history?.map(({ type }) => type),
        begins.split('+'),
      );
    });
  }

  describe('once it runs', () => {
    let other: Instance;
    before(async () => {
      await sandbox.start();
      other = await startInstance(sandbox.dataDir);
    });
    after(() => other.kill());

    const sessionsAt = async (url: string, token: string): Promise<number> =>
      (await fetch(`${url}/merchant-api/sessions`, { headers: { Authorization: `Bearer ${token}` } })).status;

    /** `npm run merchant` beside a running service. */
    const operator = (...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [merchantTool, ...args], {
        env: { ...process.env, DATA_DIR: sandbox.dataDir },
      });

    it('a session is valid on both instances, and ended on both at once', async () => {
      const { challenge, code } = await registered('both');
      const { body } = await post('/sign-in/verify', { challenge, code });
      const { baseUrl } = sandbox.file();
      assert.deepEqual([await sessionsAt(baseUrl, body.token), await sessionsAt(other.url, body.token)], [200, 200]);
      const headers = { Authorization: `Bearer ${body.token}` };
      await fetch(`${other.url}/merchant-api/sign-out`, { method: 'POST', headers });
      assert.deepEqual([await sessionsAt(baseUrl, body.token), await sessionsAt(other.url, body.token)], [401, 401]);
    });

    it('an operator invites, gives an app to and erases a person', async () => {
      const email = 'grace@shop.example';
      await operator('invite', email);
      await sandbox.until(() => mailsTo(email).some(({ subject }) => subject === 'You are invited to register'));
      const { stdout } = await operator('owner', 'wallet_demo', email);
      assert.match(stdout, /wallet_demo belongs to grace/);
      const { body } = await post('/sign-in', { email });
      const signedIn = await post('/sign-in/verify', { challenge: body.challenge, code: await codeFor(email) });
      const headers = { Authorization: `Bearer ${signedIn.body.token}` };
      await sandbox.until(async () => {
        const stats = await sandbox.call('GET', '/merchant-api/me/stats?period=7d', { headers });
        return stats.status === 200;
      });
      assert.match((await operator('erase', email)).stdout, /wallet_demo/);
      assert.equal(await sessionsAt(other.url, signedIn.body.token), 401);
      await assert.rejects(operator('erase', email), /nobody has this address/);
    });

    it('owners are notified of each change once, although two instances could do it', async () => {
      const slug = 'told';
      const { challenge, code, appId } = await registered(slug);
      await post('/sign-in/verify', { challenge, code });
      await operator('rotate', appId);
      const about = () => mailsTo(`${slug}@shop.example`).map(({ subject }) => subject);
      await sandbox.until(() => about().length > 1);
      assert.deepEqual(about(), [`Webhook secret rotated: ${appId}`, 'Confirm your app']);
    });
  });
});
