/** Registering and signing in over HTTP. Only the mail server is not real. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import pino from 'pino';
import type { Database } from '../../src/postgres/database.ts';
import { type World as Accounts, clear, codeIn, createWorld } from '../accounts/world.ts';
import { freshDatabase } from '../support/postgres.ts';
import { startWorld, type World } from './world.ts';

const registration = {
  email: 'Canary@Shop.example',
  displayName: 'Canary beans',
  kind: 'merchant',
  slug: 'beans',
  webhookUrl: 'https://shop.example/hooks',
};

describe('HTTP: accounts', () => {
  let database: Database;
  let accounts: Accounts;
  let world: World;
  let log: string;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    log = '';
    await start();
  });
  afterEach(() => world.stop());

  async function start(more: Parameters<typeof createWorld>[1] = {}): Promise<void> {
    accounts = createWorld(database, more);
    const sink = new Writable({
      write(chunk, _encoding, done) {
        log += chunk;
        done();
      },
    });
    world = await startWorld({
      accounts: accounts.accounts,
      findSession: accounts.accounts.findSession,
      logger: pino({ level: 'trace' }, sink),
    });
  }

  const post = (path: string, body?: object, headers = {}) =>
    world.call('POST', `/merchant-api${path}`, { headers, ...(body && { body }) });
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const nextCode = async () => codeIn((await accounts.mails()).at(-1) ?? assert.fail('no mail'));

  async function signedUp() {
    const { body: registering } = await post('/register', registration);
    const code = await nextCode();
    const { body: proved } = await post('/sign-in/verify', { challenge: registering.challenge, code });
    return { registering, code, proved };
  }

  it('registers, proves, signs in and out', async () => {
    const { registering, proved } = await signedUp();
    assert.equal(proved.registered, 'merchant_beans');
    assert.equal(proved.developerId, registering.developerId);
    const { body: sessions } = await world.call('GET', '/merchant-api/sessions', { headers: bearer(proved.token) });
    assert.deepEqual(
      sessions.data.map(({ current }: { current: boolean }) => current),
      [true],
    );
    assert.deepEqual((await post('/sign-out', undefined, bearer(proved.token))).body, { ended: 1 });
    const { status } = await world.call('GET', '/merchant-api/sessions', { headers: bearer(proved.token) });
    assert.equal(status, 401);
  });

  it('answers 400 with the remaining tries of a code, 409 for a used id, 403 if registration is closed', async () => {
    const { body } = await post('/register', registration);
    const code = await nextCode();
    const wrong = code === '000000' ? '000001' : '000000';
    const refused = await post('/sign-in/verify', { challenge: body.challenge, code: wrong });
    assert.deepEqual([refused.status, refused.body.error, refused.body.errors[0].pointer], [400, 'codeWrong', '/code']);
    assert.match(refused.body.message, /4 more tries/);
    const taken = await post('/register', { ...registration, email: 'eve@evil.example' });
    assert.deepEqual([taken.status, taken.body.error, taken.body.errors[0].pointer], [409, 'appIdTaken', '/slug']);
    await world.stop();
    await start({ registration: 'closed' });
    assert.deepEqual((await post('/register', registration)).body.error, 'registrationClosed');
  });

  it('answers a sign-in byte for byte alike for every address', async () => {
    await signedUp();
    const texts = await Promise.all(
      ['canary@shop.example', 'nobody@shop.example'].map(async (email) => {
        const { status, headers, text } = await post('/sign-in', { email });
        const { date: _d, 'x-request-id': _i, ...rest } = headers;
        return JSON.stringify({ status, rest, text: text.replace(/[0-9a-f]{64}/, '') });
      }),
    );
    assert.equal(texts[0], texts[1]);
  });

  it('points at the faulty field of a wallet', async () => {
    const pointerOf = async (settlement: object) => {
      const { status, body } = await post('/register', { ...registration, settlement });
      return [status, body.errors[0].pointer];
    };
    const receiverAddress = '0x00000000000000000000000000000000000000aa';
    const wallet = { chainId: '8453', tokenSymbol: 'usdc', receiverAddress };
    assert.deepEqual(await pointerOf({ ...wallet, chainId: '7' }), [400, '/settlement/chainId']);
    assert.deepEqual(await pointerOf({ ...wallet, receiverAddress: 'x' }), [400, '/settlement/receiverAddress']);
    assert.equal((await post('/register', { ...registration, settlement: wallet })).status, 201);
  });

  it('answers 429 with Retry-After to too many requests', async () => {
    await world.stop();
    await start({ limited: true, rates: { signIn: { requestsMax: 2, window_s: 60 } } });
    for (const email of ['a@b.example', 'c@d.example']) assert.equal((await post('/sign-in', { email })).status, 200);
    const refused = await post('/sign-in', { email: 'e@f.example' });
    assert.equal(refused.status, 429);
    assert.match(String(refused.headers['retry-after']), /^[1-9][0-9]?$/);
  });

  it('lets people read and end their own sessions and registrations, and no key may do so', async () => {
    const { proved } = await signedUp();
    const eve = await post('/register', { ...registration, email: 'eve@evil.example', slug: 'eve' });
    const { body: evil } = await post('/sign-in/verify', { challenge: eve.body.challenge, code: await nextCode() });
    const { body: sessions } = await world.call('GET', '/merchant-api/sessions', { headers: bearer(proved.token) });
    const [{ sessionId }] = sessions.data;
    assert.equal((await post(`/sessions/${sessionId}/revoke`, undefined, bearer(evil.token))).status, 404);
    assert.equal((await post(`/sessions/${sessionId}/revoke`, undefined, world.keys.walletAdmin)).status, 401);
    assert.equal((await post(`/sessions/${sessionId}/revoke`, undefined, bearer(proved.token))).status, 200);
    assert.equal((await post('/sessions/revoke-others', undefined, bearer(proved.token))).status, 401);
  });

  it('lets a signed-in person confirm or discard a waiting registration', async () => {
    const { proved } = await signedUp();
    await post('/register', { ...registration, slug: 'second' });
    await post('/register', { ...registration, slug: 'third' });
    const waiting = async () => {
      const { body } = await world.call('GET', '/merchant-api/registrations', { headers: bearer(proved.token) });
      return body.data.map(({ appId }: { appId: string }) => appId);
    };
    assert.deepEqual(await waiting(), ['merchant_second', 'merchant_third']);
    const confirmed = await post('/registrations/merchant_second/confirm', undefined, bearer(proved.token));
    assert.deepEqual([confirmed.status, confirmed.body.appId], [200, 'merchant_second']);
    await post('/registrations/merchant_third/discard', undefined, bearer(proved.token));
    assert.deepEqual(await waiting(), []);
    const [first] = await accounts.store.read('merchant-merchant_second');
    assert.equal(first?.metadata.cause, `developer:${proved.developerId}`);
  });

  it('keeps secrets with their owners: in no log, no event, no table, no other mail', async () => {
    const { registering, code, proved } = await signedUp();
    await post('/sign-in/verify', { challenge: registering.challenge, code });
    await post('/sign-in', { email: 'canary@shop.example', known: proved.known });
    const [mail] = await accounts.mails();
    const second = codeIn(mail ?? assert.fail());
    await world.call('GET', '/merchant-api/sessions', { headers: bearer(proved.token) });
    await world.call('GET', '/merchant-api/sessions', { headers: bearer(`${proved.token}x`) });

    const secrets = [code, second, registering.webhookSecret, registering.challenge, proved.token, proved.known];
    const person = ['canary@shop.example', 'Canary'];
    const events = JSON.stringify(
      (await accounts.store.read('merchant-merchant_beans')).map(({ data, metadata }) => [data, metadata]),
    );
    const tables = await database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'ops'::regnamespace AND relkind = 'r'`,
    );
    const rows = async (name: string) => JSON.stringify(await database.query(`SELECT t::text FROM ops.${name} AS t`));
    assert.match(log, /"route":"\/merchant-api\/sign-in\/verify"/);
    for (const secret of [...secrets, ...person]) {
      assert.ok(!log.toLowerCase().includes(secret.toLowerCase()), `the log has ${secret}`);
      assert.ok(!events.toLowerCase().includes(secret.toLowerCase()), `events have ${secret}`);
    }
    for (const { name } of tables) {
      const text = await rows(name);
      for (const secret of secrets) assert.ok(!new RegExp(`\\b${secret}\\b`).test(text), `${name} has ${secret}`);
      if (name !== 'people') assert.ok(!text.includes('canary@'), `${name} has the address`);
    }
    assert.ok(!JSON.stringify(mail).includes(registering.webhookSecret));
  });
});
