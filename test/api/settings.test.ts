import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { pictureMax_bytes } from '../../commands/ports.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { hour_ms } from '../../domain/time.ts';
import { unavailable } from '../../src/api/errors.ts';
import type { Answered } from './client.ts';
import { headersOf } from './owners.ts';
import { type Headers, receiver, startWorld, type World } from './world.ts';

const me = '/merchant-api/me';
const first = { chainId: '8453', tokenSymbol: 'USDC', receiverAddress: receiver, receiverMemo: null };
const second = { ...first, receiverAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' };
const by = { cause: 'operator:spec' } as const;

describe('HTTP: an app’s settings', () => {
  let world: World;
  let owner: Headers;
  beforeEach(async () => {
    world = await startWorld();
    owner = headersOf('cleo');
  });
  afterEach(() => world.stop());

  const post = (path: string, body?: object, headers: Headers = owner): Promise<Answered> =>
    world.call('POST', `${me}${path}`, { headers, ...(body && { body }) });
  const get = (path: string, headers: Headers = owner): Promise<Answered> =>
    world.call('GET', `${me}${path}`, { headers });
  const upload = (bytes: Uint8Array, type = 'image/png', headers: Headers = owner): Promise<Answered> =>
    world.call('POST', `${me}/logo`, { headers: { ...headers, 'Content-Type': type }, body: bytes });
  const picture = (width: number, height = width): Promise<Buffer> =>
    sharp({ create: { width, height, channels: 3, background: '#b5432a' } })
      .png()
      .withExif({ IFD0: { Copyright: 'private words' } })
      .toBuffer();

  it('are read by their owner and by admin keys, and hold no secret', async () => {
    const { status, body } = await get('');
    assert.deepEqual([status, body.appId, body.webhookUrl], [200, 'merchant_demo', 'https://shop.example/hooks']);
    assert.match(body.webhookSecretFingerprint, /^sha256:[0-9a-f]{64}$/);
    assert.ok(!('webhookSecret' in body) && !('idSalt' in body));
    assert.equal((await get('', world.keys.walletAdmin)).body.appId, 'wallet_demo');
    assert.equal((await get('', world.keys.wallet)).body.error, 'scope_insufficient');
    assert.equal((await get('', {})).status, 401);
  });

  it('refuse a program on the caller’s machine as webhook URL, and explain how to forward to it', async () => {
    for (const webhookUrl of ['http://localhost:4000', 'http://127.0.0.1:4000/hooks', 'HTTP://LOCALHOST']) {
      const { status, body } = await post('/webhook', { webhookUrl });
      assert.deepEqual([status, body.errors[0].pointer], [400, '/webhookUrl']);
      assert.match(body.message, /npm run listen/);
    }
    const { body } = await post('/webhook', { webhookUrl: 'http://localhost.example/' });
    assert.doesNotMatch(body.message, /npm run listen/);
  });

  describe('profile', () => {
    it('changes field by field, and shows at once', async () => {
      await post('/profile', { name: 'Bakery', supportContact: 'help@bakery.example' });
      const { body } = await post('/profile', { colour: '#B5432A', supportContact: null });
      const profile = {
        name: 'Bakery',
        supportContact: null,
        returnUrlTemplate: null,
        colour: '#b5432a',
        logoUrl: null,
      };
      assert.deepEqual(body.profile, profile);
      assert.deepEqual((await get('')).body.profile, profile);
      assert.equal((await get('/apps')).body.data[0].name, 'Bakery');
    });

    it('refuses unsuitable values, with the faulty field', async () => {
      const bad = await post('/profile', { name: 'Bakery', returnUrlTemplate: 'https://{orderId}.example/' });
      assert.deepEqual([bad.status, bad.body.errors[0].pointer], [400, '/returnUrlTemplate']);
      assert.equal((await get('')).body.profile.name, null);
      assert.equal((await post('/profile', { logo: '0'.repeat(64) })).body.errors[0].pointer, '/logo');
    });

    it('has a logo that the service re-encodes, served permanently under its digest', async () => {
      const sent = await picture(900, 300);
      const { body } = await upload(sent, 'image/webp');
      const path = new URL(body.profile.logoUrl).pathname;
      const served = await fetch(`${world.url}${path}`);
      const bytes = Buffer.from(await served.arrayBuffer());
      assert.equal(path, `/logos/${createHash('sha256').update(bytes).digest('hex')}`);
      assert.equal(served.headers.get('content-type'), 'image/png');
      assert.equal(served.headers.get('x-content-type-options'), 'nosniff');
      assert.match(served.headers.get('cache-control') ?? '', /immutable/);
      const { width, height, exif } = await sharp(bytes).metadata();
      assert.deepEqual([width, height, exif], [512, 171, undefined]);
      assert.ok(sent.includes('private words') && !bytes.includes('private words'));
      assert.equal((await post('/logo/remove')).body.profile.logoUrl, null);
      assert.equal((await world.call('GET', '/logos/none')).status, 404);
    });

    it('accepts no other file as a logo', async () => {
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
      const whole = await picture(100);
      for (const bytes of [svg, Buffer.from('GIF89a'), whole.subarray(0, whole.length / 2), await picture(5_000)]) {
        const refused = await upload(bytes);
        assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, '/logo']);
      }
      assert.equal((await upload(Buffer.alloc(pictureMax_bytes + 1))).body.error, 'payloadTooLarge');
      assert.equal((await upload(svg, 'image/svg+xml')).body.error, 'unsupportedMediaType');
      assert.equal((await get('')).body.profile.logoUrl, null);
    });
  });

  describe('webhook endpoints', () => {
    const asked = { url: 'https://books.example/paid', types: ['payment_payout_completed'] };

    it('are added, changed and removed; each secret is only in the answer that made it', async () => {
      const added = await post('/webhook/endpoints', asked);
      assert.equal(added.status, 200);
      const { endpointId, secret, secretFingerprint } = added.body;
      const listed = async () => (await get('')).body.webhookEndpoints;
      assert.partialDeepStrictEqual(await listed(), [{ endpointId, ...asked, secretFingerprint }]);

      const types = ['payment_bounced', 'payment_held'];
      assert.deepEqual(
        (await post(`/webhook/endpoints/${endpointId}/types`, { types })).body.webhookEndpoints[0].types,
        types,
      );
      const rotated = (await post(`/webhook/endpoints/${endpointId}/rotate`)).body;
      assert.notEqual(rotated.secretFingerprint, secretFingerprint);
      const history = JSON.stringify((await get('/audit?limit=100')).body);
      assert.match(history, /webhook endpoint/);
      const settings = JSON.stringify((await get('')).body);
      for (const text of [history, settings])
        for (const each of [secret, rotated.secret, 'ciphertext', '"v1.']) assert.ok(!text.includes(each), each);

      assert.deepEqual((await post(`/webhook/endpoints/${endpointId}/remove`)).body.webhookEndpoints, []);
      assert.equal((await post(`/webhook/endpoints/${endpointId}/remove`)).body.error, 'notFound');
    });

    it('are refused on private addresses, and with unknown types', async () => {
      for (const url of [
        'https://127.0.0.1/',
        'https://169.254.169.254/',
        'http://books.example/',
        'https://localhost/',
      ]) {
        const refused = await post('/webhook/endpoints', { ...asked, url });
        assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, '/url'], url);
      }
      for (const types of [[], ['webhook_test'], ['payment_later']])
        assert.equal((await post('/webhook/endpoints', { ...asked, types })).status, 400);
      assert.deepEqual((await get('')).body.webhookEndpoints, []);
    });
  });

  describe('settlement wallet', () => {
    it('is in force at once if it is the first, and after the cool-down if it is another', async () => {
      assert.deepEqual((await post('/settlement', first)).body.settlement, first);
      const asked = (await post('/settlement', second)).body;
      assert.deepEqual([asked.settlement, asked.settlementChange.settlement], [first, second]);
      world.clock.advance(48 * hour_ms - 1);
      assert.deepEqual((await get('')).body.settlement, first);
      world.clock.advance(1);
      const { settlement, settlementChange } = (await get('')).body;
      assert.deepEqual([settlement, settlementChange], [second, null]);
      assert.equal((await post('/settlement/cancel')).body.error, 'conflict');
    });

    it('does not change if the change is called off', async () => {
      await post('/settlement', first);
      await post('/settlement', second);
      const { settlement, settlementChange } = (await post('/settlement/cancel')).body;
      assert.deepEqual([settlement, settlementChange], [first, null]);
    });

    it('is an address of a known chain', async () => {
      assert.equal((await post('/settlement', { ...first, chainId: '2' })).body.errors[0].pointer, '/chainId');
      const { body } = await post('/settlement', { ...first, receiverAddress: 'bakery' });
      assert.equal(body.errors[0].pointer, '/receiverAddress');
    });
  });

  it('list the webhook types that the app chose, and refuse one that cannot be chosen', async () => {
    assert.deepEqual((await get('')).body.webhookTypes, []);
    const { body } = await post('/webhook/types', { webhookTypes: ['payment_refunded', 'payment_held'] });
    assert.deepEqual(body.webhookTypes, ['payment_held', 'payment_refunded']);
    for (const type of ['payment_payin_completed', 'webhook_test', 'payment_started'])
      assert.equal((await post('/webhook/types', { webhookTypes: [type] })).status, 400, type);
    assert.deepEqual((await post('/webhook/types', { webhookTypes: [] })).body.webhookTypes, []);
  });

  it('set and remove the webhook URL, and rotate its secret, shown once', async () => {
    const { body } = await post('/webhook', { webhookUrl: 'HTTPS://Bakery.example/hooks' });
    assert.equal(body.webhookUrl, 'https://bakery.example/hooks');
    assert.equal((await post('/webhook', { webhookUrl: 'https://127.0.0.1/' })).body.errors[0].pointer, '/webhookUrl');
    assert.equal((await post('/webhook', { webhookUrl: null })).body.webhookUrl, null);
    world.clock.advance(1_000);
    const { webhookSecret, webhookSecretFingerprint, webhookSecretRotatedAt } = (await post('/webhook/rotate')).body;
    assert.equal(webhookSecretFingerprint, `sha256:${createHash('sha256').update(webhookSecret).digest('hex')}`);
    const shown = await get('');
    assert.equal(shown.body.webhookSecretFingerprint, webhookSecretFingerprint);
    assert.equal(shown.body.webhookSecretRotatedAt, webhookSecretRotatedAt);
    assert.ok(!shown.text.includes(webhookSecret));
  });

  it('issue keys, shown once, of scope orders unless admin is chosen; rename and revoke them', async () => {
    const issued = await post('/keys', { name: ' till ' });
    assert.equal(issued.status, 201);
    const { key, keyId, scope, name } = issued.body;
    assert.deepEqual([scope, name], ['orders', 'till']);
    await post(`/keys/${keyId}/rename`, { name: 'till 2' });
    const expiresAt = '2026-12-01T00:00:00.000Z';
    await post('/keys', { name: 'office', scope: 'admin', expiresAt: '2026-12-01T01:00:00+01:00' });
    const listed = await get('/keys');
    assert.deepEqual(
      listed.body.data.map((each: Record<string, unknown>) => [
        each['name'],
        each['scope'],
        each['expiresAt'],
        each['createdBy'],
      ]),
      [
        ['till 2', 'orders', null, 'you'],
        ['office', 'admin', expiresAt, 'you'],
      ],
    );
    assert.ok(!listed.text.includes(key));
    const revoked = await post(`/keys/${keyId}/revoke`);
    assert.equal(typeof revoked.body.data[0].revokedAt, 'string');
    assert.equal((await post('/keys/none/revoke')).status, 404);
    assert.equal(
      (await post('/keys', { name: 'late', expiresAt: '2020-01-01T00:00:00Z' })).body.errors[0].pointer,
      '/expiresAt',
    );
  });

  describe('and a new key that is not in force in time', () => {
    let behind: World;
    let isBehind = true;
    beforeEach(async () => {
      isBehind = true;
      behind = await startWorld({
        shown: async () => {
          if (isBehind) throw unavailable('behind', 2);
        },
      });
    });
    afterEach(() => behind.stop());

    it('is not answered: the answer is 503, no key is left that works, and the same request issues one', async () => {
      const issue = () => behind.call('POST', `${me}/keys`, { headers: owner, body: { name: 'till' } });
      const refused = await issue();
      assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '2']);
      assert.match(refused.body.detail ?? refused.body.message, /No key was issued: send the same request again/);
      isBehind = false;
      assert.equal((await issue()).status, 201);
      const listed = await behind.call('GET', `${me}/keys`, { headers: owner });
      const active = listed.body.data.filter((each: { revokedAt: string | null }) => each.revokedAt === null);
      assert.deepEqual([listed.body.data.length, active.length], [2, 1]);
    });
  });

  it('have a history, newest first, with authors', async () => {
    await post('/profile', { name: 'Bakery' });
    await world.people.merchants.setWebhookUrl('merchant_demo', null, { cause: 'operator:ada' });
    const newest = await get('/audit?limit=2');
    assert.deepEqual(
      newest.body.data.map((each: Record<string, unknown>) => [each['by'], each['what']]),
      [
        ['the operator', 'removed its webhook'],
        ['you', 'changed what it shows of itself: name'],
      ],
    );
    assert.ok(!newest.text.includes('ada'));
    const rest = await get(`/audit?cursor=${newest.body.nextCursor}`);
    assert.equal(rest.body.data[0].what.startsWith('made a new webhook secret'), true);
    assert.deepEqual([rest.body.hasMore, rest.body.nextCursor], [false, null]);
  });

  describe('in another person’s app', () => {
    it('are refused as if it did not exist, whichever app is named', async () => {
      const other = { ...owner, 'X-App-Id': 'wallet_closed' };
      const none = { ...owner, 'X-App-Id': 'wallet_none' };
      for (const path of ['/webhook/rotate', '/logo/remove', '/settlement/cancel']) {
        const [theirs, nobodys] = [await post(path, undefined, other), await post(path, undefined, none)];
        assert.deepEqual([theirs.status, theirs.body.message], [400, nobodys.body.message]);
      }
      assert.equal((await get('', other)).status, 400);
    });

    it('are refused by the log while the list of apps is behind it', async () => {
      const behind = await startWorld({ appsOf: async () => ['wallet_closed'] });
      try {
        const rotated = await behind.call('POST', `${me}/webhook/rotate`, { headers: owner });
        assert.deepEqual([rotated.status, rotated.body.error], [403, 'forbidden']);
      } finally {
        await behind.stop();
      }
    });
  });

  describe('with API keys', () => {
    const changes: readonly (readonly [path: string, body?: object])[] = [
      ['/profile', { name: 'Eve' }],
      ['/logo/remove'],
      ['/settlement', second],
      ['/settlement/cancel'],
      ['/pay-from', { payFrom: [{ chainId: '8453', tokenSymbol: 'USDC' }] }],
      ['/policy', { over: 'refund' }],
      ['/embedding', { sites: ['https://eve.example'] }],
      ['/webhook', { webhookUrl: 'https://eve.example/' }],
      ['/webhook/types', { webhookTypes: ['payment_held'] }],
      ['/webhook/endpoints', { url: 'https://eve.example/', types: ['payment_held'] }],
      ['/webhook/endpoints/known/types', { types: ['payment_held'] }],
      ['/webhook/endpoints/known/rotate'],
      ['/webhook/endpoints/known/remove'],
      ['/webhook/endpoints/known/test'],
      ['/webhook/rotate'],
      ['/webhook/test'],
      ['/keys', { name: 'eve', scope: 'admin' }],
      ['/keys/known/rename', { name: 'eve' }],
      ['/keys/known/revoke'],
      ['/links', { amount: '5.00' }],
      ['/links/known/close'],
      ['/members/invite', { email: 'eve@shop.example', role: 'developer' }],
      ['/members/known/cancel-invitation'],
      ['/members/known/role', { role: 'developer' }],
      ['/members/known/remove'],
      ['/leave'],
    ];

    const changed = (answer: object | Refusal) => assert.equal(isRefusal(answer), false);

    it('never change: no key can redirect a payout', async () => {
      const { merchants, audit } = world.people;
      const wallet = { ...first, chainId: 8453 } as const;
      changed(await merchants.requestSettlement('wallet_demo', wallet, by));
      const before = (await audit.history('merchant-wallet_demo')).length;
      for (const key of [world.keys.wallet, world.keys.walletAdmin]) {
        const bearer = { Authorization: `Bearer ${key['X-API-Key']}` };
        for (const headers of [key, bearer, { ...key, 'X-App-Id': 'wallet_demo' }]) {
          for (const [path, body] of changes) {
            const refused = await post(path, body, headers);
            assert.deepEqual([path, refused.status, refused.body.error], [path, 401, 'unauthenticated']);
          }
          assert.equal((await upload(await picture(10), 'image/png', headers)).status, 401);
        }
      }
      assert.equal((await audit.history('merchant-wallet_demo')).length, before);
    });

    /** The route that pays the app's own wallet; its request names no receiver. */
    const paysTheWallet = '/cashback/withdraw';

    it('change only by routes that this spec tries', async () => {
      const { body } = await world.call('GET', '/openapi.json');
      const posts = Object.entries<Record<string, object>>(body.paths).flatMap(([path, item]) =>
        path.startsWith(me) && 'post' in item ? [path.slice(me.length).replace('{id}', 'known')] : [],
      );
      const known = ['/logo', '/webhook/deliveries/known/redeliver', paysTheWallet];
      const tried = new Set([...known, ...changes.map(([path]) => path)]);
      assert.deepEqual(
        posts.filter((path) => !tried.has(path)),
        [],
      );
    });
  });
});
