/** Delivery of pages: permitted forms, attributes of cookies, form of errors, one-time messages. */
import assert from 'node:assert/strict';
import { refuse, refusedTogether } from '../../domain/decider.ts';
import { instant } from '../../domain/time.ts';
import { Jar, memoryAccounts } from './desk.ts';
import { startWorld, type World } from './world.ts';

const signIn = '/dashboard/sign-in';
const page = 'text/html; charset=utf-8';

describe('HTTP: the dashboard', () => {
  let world: World;
  let jar: Jar;
  before(async () => {
    const accounts = memoryAccounts(() => instant(Date.UTC(2026, 10, 21, 9)));
    world = await startWorld({ accounts, findSession: accounts.findSession });
  });
  beforeEach(() => {
    jar = new Jar(world.url);
  });
  after(() => world.stop());

  describe('the way in', () => {
    it('leads to the sign-in, and back to the requested page', async () => {
      const asked = await jar.get('/dashboard/sessions');
      assert.deepEqual([asked.status, asked.to], [303, `${signIn}?next=%2Fdashboard%2Fsessions`]);
      await jar.post(signIn, { email: 'ada@example.org', next: '/dashboard/sessions' });
      assert.equal((await jar.post('/dashboard/code', { code: '314 159' })).to, '/dashboard/sessions');
      assert.equal((await jar.get('/dashboard/sessions')).status, 200);
    });

    it('leads to no other site, whatever the request names', async () => {
      for (const next of [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '/dashboard/../x',
        '/dashboard//evil',
        'x',
      ]) {
        await jar.post(signIn, { email: 'ada@example.org', next });
        assert.equal((await jar.post('/dashboard/code', { code: '314159' })).to, '/dashboard', next);
        await jar.post('/dashboard/sign-out');
      }
    });

    it('keeps no e-mail in any URL', async () => {
      assert.equal((await jar.post(signIn, { email: 'ada@example.org' })).to, '/dashboard/code');
      assert.match((await jar.get('/dashboard/code')).text, /ada@example\.org/);
    });

    it('asks for the e-mail first', async () => {
      assert.equal((await jar.get('/dashboard/code')).to, signIn);
      assert.equal((await jar.post('/dashboard/code', { code: '314159' })).to, signIn);
    });

    it('ends: the token is no longer valid', async () => {
      await jar.signIn('ada@example.org');
      const token = jar.cookies.get('__Host-session') ?? '';
      assert.equal((await jar.post('/dashboard/sign-out')).to, signIn);
      assert.equal(jar.cookies.has('__Host-session'), false);
      jar.cookies.set('__Host-session', token);
      assert.equal((await jar.get('/dashboard/sessions')).status, 303);
    });
  });

  describe('cookies', () => {
    it('belong to this host alone, are hidden from scripts, and are not sent with other sites’ forms', async () => {
      const asked = await jar.post(signIn, { email: 'ada@example.org' });
      const proved = await jar.post('/dashboard/code', { code: '314159' });
      const set = [...asked.headers.getSetCookie(), ...proved.headers.getSetCookie()];
      assert.deepEqual(
        set.map((text) => text.replace(/=[^;]*/, '')),
        [
          '__Host-challenge; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=600',
          '__Host-session; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=43200',
          '__Host-known; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=31536000',
          '__Host-challenge; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
        ],
      );
    });

    it('count as absent with another name, broken or too long', async () => {
      await jar.signIn('ada@example.org');
      const token = jar.cookies.get('__Host-session') ?? '';
      for (const cookie of [
        `session=${token}`,
        `__host-session=${token}`,
        '__Host-session=%',
        `__Host-session=${'x'.repeat(9_000)}`,
      ]) {
        assert.equal(
          (await new Jar(world.url).get('/dashboard/sessions', { cookie })).status,
          303,
          cookie.slice(0, 30),
        );
      }
      for (const cookie of [
        '__Host-challenge=abc',
        `__Host-challenge=${Buffer.from('{"challenge":1}').toString('base64url')}`,
      ]) {
        assert.equal((await new Jar(world.url).get('/dashboard/code', { cookie })).to, signIn);
      }
    });
  });

  describe('a form', () => {
    const refused: readonly (readonly [string, Record<string, string>])[] = [
      ['another site', { origin: 'https://evil.example' }],
      ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
      ['another port', { origin: 'http://127.0.0.1:1' }],
      ['a page that hides where it is from', { origin: 'null' }],
      ['what is no origin', { origin: 'evil' }],
      ['a neighbour', { 'sec-fetch-site': 'same-site' }],
      ['nowhere', { 'sec-fetch-site': 'none' }],
    ];
    for (const [from, headers] of refused) {
      it(`sent from ${from} is refused before it is read`, async () => {
        await jar.signIn('ada@example.org');
        const answer = await jar.post('/dashboard/sign-out', {}, headers);
        assert.deepEqual([answer.status, answer.headers.get('content-type')], [403, page]);
        assert.equal((await jar.get('/dashboard/sessions')).status, 200);
      });
    }

    it('without a header about its origin is refused', async () => {
      const body = new URLSearchParams({ email: 'ada@example.org' });
      assert.equal((await jar.ask('POST', signIn, { body })).status, 403);
    });

    it('is accepted from our own pages, also behind a proxy that states so', async () => {
      assert.equal(
        (await jar.post(signIn, { email: 'ada@example.org' }, { 'sec-fetch-site': 'same-origin' })).status,
        303,
      );
    });

    it('returns with the entered values, and each error beside its field', async () => {
      const answer = await jar.post(signIn, { email: 'no e-mail' });
      assert.equal(answer.status, 400);
      assert.match(answer.text, /E-mail must be an e-mail address\./);
      assert.match(answer.text, /no e-mail/);
      assert.match((await jar.post(signIn, { email: '   ' })).text, /E-mail is required\./);
    });

    it('never returns a code', async () => {
      await jar.post(signIn, { email: 'ada@example.org' });
      const answer = await jar.post('/dashboard/code', { code: '999888' });
      assert.equal(answer.status, 400);
      assert.match(answer.text, /4 tries are left/);
      assert.doesNotMatch(answer.text, /999888/);
    });

    it('is bounded: in bytes and in fields, each once, none unknown', async () => {
      const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, 'x']));
      const twice = { body: 'email=a%40b.org&email=c%40d.org', type: 'application/x-www-form-urlencoded' };
      const bodies = [
        [413, { body: `email=${'x'.repeat(20_000)}`, type: 'application/x-www-form-urlencoded' }],
        [400, { body: String(new URLSearchParams(many)), type: 'application/x-www-form-urlencoded' }],
        [400, twice],
        [400, { body: 'email=a%40b.org&role=admin', type: 'application/x-www-form-urlencoded' }],
        [415, { body: '{"email":"a@b.org"}', type: 'application/json' }],
        [415, { body: 'email=a', type: 'text/plain' }],
      ] as const;
      for (const [status, { body, type }] of bodies) {
        const headers = { origin: world.url, 'content-type': type };
        assert.equal((await jar.ask('POST', signIn, { body, headers })).status, status, body.slice(0, 40));
      }
    });
  });

  describe('a person who asks too often', () => {
    it('is notified in the form, with the time of the next try', async () => {
      const refused = { refused: 'rateLimited', message: 'too many codes were asked for', retryAfter_s: 40 } as const;
      const busy = await startWorld({ accounts: { ...memoryAccounts(world.clock.now), ask: async () => refused } });
      const answer = await new Jar(busy.url).post(signIn, { email: 'ada@example.org' });
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '40']);
      assert.match(answer.text, /Too many codes were asked for\./);
      await busy.stop();
    });
  });

  describe('a registration', () => {
    const names: string[] = [];
    let mine: World;
    before(async () => {
      const accounts = memoryAccounts(() => instant(Date.UTC(2026, 10, 21, 9)));
      mine = await startWorld({
        findSession: accounts.findSession,
        accounts: {
          ...accounts,
          async registerApp(developerId, { kind, slug, displayName }) {
            const bad = displayName === '' ? [refuse('invalidRequest', 'name must have a letter', '/displayName')] : [];
            const worse = slug === 'No' ? [refuse('invalidRequest', 'slug must be small', '/slug')] : [];
            const wrong = refusedTogether([...bad, ...worse]);
            if (wrong) return wrong;
            names.push(`${developerId} ${displayName}`);
            return { appId: `${kind}_${slug}` };
          },
        },
      });
    });
    after(() => mine.stop());

    it('goes from the e-mail to the code, the name and the wallet; a wrong code loses nothing', async () => {
      const own = new Jar(mine.url);
      assert.equal((await own.post('/dashboard/register', { email: 'new@example.org' })).to, '/dashboard/code');
      assert.match((await own.get('/dashboard/code')).text, /Next you name your app/);
      const wrong = await own.post('/dashboard/code', { code: '111111' });
      assert.equal(wrong.status, 400);
      assert.match(wrong.text, /new@example\.org/);
      assert.match(wrong.text, /href="\/dashboard\/register">request another code/);
      assert.match((await own.get('/dashboard/register')).text, /value="new@example\.org"/);
      assert.equal((await own.post('/dashboard/code', { code: '314159' })).to, '/dashboard/register/app');
      assert.equal((await own.get('/dashboard/register')).to, '/dashboard/register/app');
      const named = { displayName: 'Tea', kind: 'merchant', slug: 'tea' };
      const done = await own.post('/dashboard/register/app', named);
      assert.equal(done.to, '/dashboard/apps/merchant_tea/settlement');
      assert.equal(
        (await own.post('/dashboard/register/app', { ...named, kind: 'wallet' })).to,
        '/dashboard/apps/wallet_tea/',
      );
      assert.equal(names.length, 2);
    });

    it('names every wrong field in one answer, and keeps the entered values', async () => {
      const own = new Jar(mine.url);
      await own.signIn('ada@example.org');
      const { status, text } = await own.post('/dashboard/register/app', { kind: 'wallet', slug: 'No' });
      assert.equal(status, 400);
      assert.match(text, /id="field-displayName-error"/);
      assert.match(text, /id="field-slug-error"/);
      assert.match(text, /value="No"/);
    });

    it('names no app before the e-mail is proved', async () => {
      const count = names.length;
      const asked = await new Jar(mine.url).post('/dashboard/register/app', { displayName: 'Tea', kind: 'merchant' });
      assert.deepEqual([asked.to, names.length], ['/dashboard/sign-in', count]);
    });
  });

  describe('a registration that waits for its proof', () => {
    const appId = 'merchant_waiting';
    const waiting = {
      appId,
      displayName: 'Waiting',
      settlement: null,
      webhookUrl: null,
      requestedAt: instant(Date.UTC(2026, 10, 21, 8)),
      expiresAt: instant(Date.UTC(2026, 10, 22, 8)),
    };
    const discarded: string[] = [];
    let mine: World;
    before(async () => {
      const accounts = memoryAccounts(() => instant(Date.UTC(2026, 10, 21, 9)));
      const secrets = { webhookSecret: 'f'.repeat(64), webhookSecretFingerprint: `sha256:${'e'.repeat(64)}` };
      mine = await startWorld({
        findSession: accounts.findSession,
        accounts: {
          ...accounts,
          pendingRegistrations: async () => [waiting],
          confirmRegistration: async (_developerId, id) => ({ appId: id, webhookUrl: null, ...secrets }),
          discardRegistration: async (_developerId, id) => void discarded.push(id),
        },
      });
    });
    after(() => mine.stop());

    it('is confirmed after signing in, with a new secret that is shown once', async () => {
      const own = new Jar(mine.url);
      await own.signIn('ada@example.org');
      assert.match((await own.get('/dashboard')).text, /merchant_waiting/);
      const taken = await own.post(`/dashboard/register/${appId}/confirm`);
      assert.equal(taken.status, 200);
      assert.match(taken.text, /f{64}/);
      assert.doesNotMatch((await own.get('/dashboard')).text, /f{64}/);
    });

    it('or discarded', async () => {
      const own = new Jar(mine.url);
      assert.equal((await own.post(`/dashboard/register/${appId}/discard`)).to, signIn);
      assert.deepEqual(discarded, []);
      await own.signIn('ada@example.org');
      assert.equal((await own.post(`/dashboard/register/${appId}/discard`)).to, '/dashboard');
      assert.deepEqual(discarded, [appId]);
    });
  });

  describe('a message that is shown once', () => {
    it('is on the next page and on no other', async () => {
      await jar.signIn('ada@example.org');
      await jar.post('/dashboard/sign-out');
      assert.match((await jar.get(signIn)).text, /You have signed out/);
      assert.doesNotMatch((await jar.get(signIn)).text, /You have signed out/);
    });

    it('contains no text of other people', async () => {
      jar.cookies.set('__Host-told', 'pay_to_0xevil');
      assert.doesNotMatch((await jar.get(signIn)).text, /evil/);
      jar.cookies.set('__Host-told', 'constructor');
      assert.equal((await jar.get(signIn)).status, 200);
    });
  });

  describe('answers', () => {
    it('are pages with the strictest policy that forms allow, and are cached nowhere', async () => {
      const { headers } = await jar.get(signIn);
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none'",
      );
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'same-origin');
      assert.equal(headers.get('content-type'), page);
    });

    it('to HEAD are those to GET without the body', async () => {
      const { status, text, headers } = await jar.ask('HEAD', signIn, {});
      assert.deepEqual([status, text], [200, '']);
      assert.ok(Number(headers.get('content-length')) > 0);
    });

    it('are pages for unknown paths too, and JSON for clients that ask for JSON', async () => {
      for (const path of [
        '/dashboard/nothing',
        '/dashboard/assets/nothing.js',
        '/dashboard/assets/..%2f..%2fpackage.json',
        '/dashboard/%zz',
      ]) {
        const { status, headers, text } = await jar.get(path);
        assert.equal(headers.get('content-type'), page, path);
        assert.ok(status === 404 || (status === 400 && path.endsWith('%zz')), path);
        assert.ok(text.includes(headers.get('x-request-id') ?? 'no id'), path);
      }
      const json = await jar.get('/dashboard/nothing', { accept: 'application/json' });
      assert.equal(JSON.parse(json.text).error, 'notFound');
    });

    it('name the methods of a page', async () => {
      const { status, headers } = await jar.ask('DELETE', signIn, {});
      assert.deepEqual([status, headers.get('allow')], [405, 'GET, POST, HEAD, OPTIONS']);
    });

    it('refuse unknown parameters of a page, and ignore empty ones', async () => {
      assert.equal((await jar.get(`${signIn}?token=abc`)).status, 400);
      assert.equal((await jar.get(`${signIn}?next=`)).status, 200);
    });
  });
});
