import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { webhookSecretContext } from '../../commands/merchantRegistration.ts';
import { Unavailable } from '../../commands/ports.ts';
import { hour_ms, minute_ms } from '../../domain/time.ts';
import { sweep } from '../../src/accounts/createAccounts.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';
import {
  accepted,
  ada,
  askedCode,
  asker,
  clear,
  codeIn,
  createWorld,
  refusedWith,
  registered,
  request,
  type World,
} from './world.ts';

const appId = 'merchant_beans';
const began = ['MerchantRegistered', 'WebhookUrlSet', 'WebhookSecretRotated', 'ProfileSet'];

describe('accounts: registration', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    world = createWorld(database);
  });

  const register = (more = {}, from = asker()) => world.accounts.register(request(more), from);
  const mailedCode = async (): Promise<string> => codeIn((await world.mails())[0] ?? assert.fail('no mail'));

  it('waits beside the log, and begins with the code', async () => {
    const registering = accepted(await register());
    assert.deepEqual(await world.events(appId), []);
    assert.match(registering.webhookSecret, /^[0-9a-f]{64}$/);
    const digest = createHash('sha256').update(registering.webhookSecret).digest('hex');
    assert.equal(registering.webhookSecretFingerprint, `sha256:${digest}`);
    assert.equal(registering.webhookUrl, 'https://shop.example/hooks');

    const proved = accepted(await world.accounts.prove(registering.challenge, await mailedCode(), asker()));
    assert.deepEqual([proved.registered, proved.developerId], [appId, registering.developerId]);
    assert.deepEqual(await world.events(appId), began);
    const [first, , rotated] = await world.store.read(`merchant-${appId}`);
    assert.equal((first!.data as { developerId: string }).developerId, registering.developerId);
    assert.equal(first?.metadata.cause, `developer:${registering.developerId}`);
    const { ciphertext } = rotated!.data as { ciphertext: string };
    assert.equal(world.box.open(ciphertext, webhookSecretContext(appId)), registering.webhookSecret);
    assert.deepEqual(await world.accounts.pendingRegistrations(registering.developerId), []);
  });

  describe('with an app that is not in force in time', () => {
    it('is answered 503, and the same code signs in once the app is in force', async () => {
      const registering = accepted(await register());
      const code = await mailedCode();
      const prove = () => world.accounts.prove(registering.challenge, code, asker());
      world.fallBehind(true);
      for (const _ of [1, 2]) await assert.rejects(prove(), Unavailable);
      assert.deepEqual(await world.accounts.sessions(registering.developerId), []);
      assert.deepEqual(await world.events(appId), began);
      world.fallBehind(false);
      assert.equal(accepted(await prove()).registered, appId);
      assert.deepEqual(await world.events(appId), began);
      // The first attempt waits for its own events, the others for the whole log.
      assert.deepEqual(
        world.waits.map((position) => position === null),
        [false, true, true],
      );
    });

    it('is answered 503 when its owner confirms it, who can confirm it again', async () => {
      const { developerId } = await registered(world, { slug: 'other' });
      accepted(await register({ slug: 'third' }));
      const by = { cause: `developer:${developerId}` } as const;
      const confirm = () => world.accounts.confirmRegistration(developerId, 'merchant_third', by);
      world.fallBehind(true);
      await assert.rejects(confirm(), Unavailable);
      assert.equal((await world.accounts.pendingRegistrations(developerId)).length, 1);
      world.fallBehind(false);
      const { webhookSecret } = accepted(await confirm());
      const last = (await world.store.read('merchant-merchant_third')).at(-1) ?? assert.fail('no event');
      const { ciphertext } = last.data as { ciphertext: string };
      assert.equal(world.box.open(ciphertext, webhookSecretContext('merchant_third')), webhookSecret);
    });
  });

  it('never writes an address or a name into the log', async () => {
    await registered(world, { displayName: 'Zoë Canary' });
    const log = JSON.stringify(
      (await world.store.read(`merchant-${appId}`)).map(({ data, metadata }) => ({ data, metadata })),
    );
    for (const secret of [ada, 'shop.example"', 'Canary']) assert.ok(!log.includes(secret), secret);
  });

  it('begins with a settlement wallet', async () => {
    const receiverAddress = '0x00000000000000000000000000000000000000AA';
    const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress } as const;
    await registered(world, { settlement });
    assert.ok((await world.events(appId)).includes('SettlementWalletSet'));
    const bad = await register({ slug: 'other', settlement: { ...settlement, receiverAddress: 'nowhere' } });
    assert.deepEqual(bad, {
      refused: 'invalidRequest',
      message: 'receiverAddress is not an address of chain 8453',
      pointer: '/settlement/receiverAddress',
    });
  });

  it('makes an id where none is asked for', async () => {
    const named = accepted(await register({ slug: null }));
    assert.match(named.appId, /^merchant_ada-s-beans-[0-9a-f]{6}$/);
    const nameless = accepted(await register({ slug: null, displayName: '豆屋', kind: 'wallet' }));
    assert.match(nameless.appId, /^wallet_[0-9a-f]{6}$/);
  });

  it('refuses what no app can begin with, at its field', async () => {
    const pointerOf = async (more: object) => ((await register(more)) as { pointer?: string }).pointer;
    assert.equal(await pointerOf({ email: 'ada' }), '/email');
    assert.equal(await pointerOf({ displayName: ' ' }), '/displayName');
    assert.equal(await pointerOf({ displayName: 'a\r\nBcc: b' }), '/displayName');
    assert.equal(await pointerOf({ slug: 'Upper' }), '/slug');
    assert.equal(await pointerOf({ webhookUrl: 'http://shop.example' }), '/webhookUrl');
    assert.deepEqual(await world.mails(), []);
  });

  it('mails no text that the registering person chose', async () => {
    accepted(await register({ slug: 'call-us-now-0800-123456-or-funds-are-lost', displayName: 'Call 0800 123456' }));
    const [mail] = await world.mails();
    assert.equal(mail?.subject, 'Confirm your app');
    assert.doesNotMatch(mail?.text ?? '', /0800|call-us/i);
  });

  describe('an id', () => {
    it('is reserved for an hour without proof for the first person who asked, and is free then', async () => {
      accepted(await register({ email: 'squatter@evil.example' }, asker({ address: '203.0.113.1' })));
      assert.equal(refusedWith(await register()), 'appIdTaken');
      world.advance(hour_ms - 1);
      assert.equal(refusedWith(await register()), 'appIdTaken');
      world.advance(1);
      await world.mails();
      await registered(world);
      assert.deepEqual(await world.events(appId), began);
    });

    it('is never free again once an app has it', async () => {
      await registered(world);
      world.advance(48 * hour_ms);
      assert.equal(refusedWith(await register({ email: 'eve@evil.example' })), 'appIdTaken');
      assert.deepEqual(await world.mails(), []);
    });

    it('goes to one of many concurrent requests', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => register({ email: `user${index}@shop.example` })),
      );
      assert.equal(answers.filter((answer) => refusedWith(answer) !== 'appIdTaken').length, 1);
      assert.equal((await world.mails()).length, 1);
    });

    it('is the operator’s if the operator took it meanwhile: the person is signed in nevertheless', async () => {
      const { challenge } = accepted(await register());
      const code = await mailedCode();
      await world.merchants.register(appId, {}, { cause: 'operator:test' });
      const proved = accepted(await world.accounts.prove(challenge, code, asker()));
      assert.equal(proved.registered, null);
      assert.ok(await world.accounts.findSession(proved.token));
      assert.deepEqual(await world.accounts.pendingRegistrations(proved.developerId), []);
    });
  });

  it('is bounded for an address', async () => {
    world = createWorld(database, { limited: true });
    const answers: unknown[] = [];
    for (let time = 0; time < 12; time += 1)
      answers.push(await register({ slug: `app${time}`, email: `user${time}@shop.example` }));
    assert.equal(answers.filter((answer) => refusedWith(answer) === 'rateLimited').length, 2);
  });

  it('is proved once by two people who send the code at the same time', async () => {
    const { challenge, developerId } = accepted(await register());
    const code = await mailedCode();
    const prove = () => world.accounts.prove(challenge, code, asker());
    const answers = await Promise.all([prove(), prove(), prove()]);
    assert.equal(answers.filter((answer) => refusedWith(answer) === 'codeExpired').length, 2);
    assert.deepEqual(await world.events(appId), began);
    assert.equal((await world.accounts.sessions(developerId)).length, 1);
  });

  describe('with somebody else’s address', () => {
    it('signs nobody in: the code works only for the person who registered, and the mail goes to the named address', async () => {
      const evil = accepted(
        await register({ webhookUrl: 'https://evil.example/hooks' }, asker({ address: '203.0.113.1' })),
      );
      const [mail] = await world.mails();
      assert.equal(mail?.to, ada);
      const mine = await askedCode(world, ada);
      if (mine.code !== codeIn(mail)) {
        assert.equal(refusedWith(await world.accounts.prove(mine.challenge, codeIn(mail), asker())), 'codeWrong');
        assert.equal(refusedWith(await world.accounts.prove(evil.challenge, mine.code, asker())), 'codeWrong');
      }
      const proved = accepted(await world.accounts.prove(mine.challenge, mine.code, asker()));
      assert.equal(proved.registered, null);
      assert.deepEqual(await world.events(appId), []);
    });

    it('waits for the owner, who can read it and confirm it with a secret that only they know', async () => {
      const evil = accepted(await register());
      const { challenge, code } = await askedCode(world, ada).then(async () => askedCode(world, ada));
      const { developerId } = accepted(await world.accounts.prove(challenge, code, asker()));
      const [pending] = await world.accounts.pendingRegistrations(developerId);
      assert.deepEqual([pending?.appId, pending?.webhookUrl], [appId, 'https://shop.example/hooks']);
      const by = { cause: `developer:${developerId}` } as const;
      const confirmed = accepted(await world.accounts.confirmRegistration(developerId, appId, by));
      assert.notEqual(confirmed.webhookSecret, evil.webhookSecret);
      assert.deepEqual(await world.events(appId), began);
      assert.deepEqual(await world.accounts.pendingRegistrations(developerId), []);
      assert.equal(refusedWith(await world.accounts.confirmRegistration(developerId, appId, by)), 'notFound');
    });

    it('is discarded by the owner: its id is free, its code useless', async () => {
      const evil = accepted(await register());
      const code = await mailedCode();
      const mine = await askedCode(world, ada);
      const { developerId } = accepted(await world.accounts.prove(mine.challenge, mine.code, asker()));
      await world.accounts.discardRegistration(developerId, appId);
      assert.equal(refusedWith(await world.accounts.prove(evil.challenge, code, asker())), 'codeExpired');
      accepted(await register({ email: 'bob@shop.example' }));
      assert.deepEqual(await world.events(appId), []);
    });

    it('is neither visible to anybody else, nor can they confirm or discard it', async () => {
      accepted(await register());
      await world.mails();
      const eve = await registered(world, { email: 'eve@evil.example', slug: 'eve' });
      const by = { cause: `developer:${eve.developerId}` } as const;
      assert.deepEqual(await world.accounts.pendingRegistrations(eve.developerId), []);
      assert.equal(refusedWith(await world.accounts.confirmRegistration(eve.developerId, appId, by)), 'notFound');
      await world.accounts.discardRegistration(eve.developerId, appId);
      assert.equal(refusedWith(await register({ email: 'bob@shop.example' })), 'appIdTaken');
    });
  });

  describe('a process that is killed', () => {
    for (const point of ['proof.noted', 'proof.registered']) {
      it(`at ${point} is repeated with the same code, and nothing is done twice`, async () => {
        const registering = accepted(await register());
        const code = await mailedCode();
        world.crashAt(point);
        await assert.rejects(world.accounts.prove(registering.challenge, code, asker()));
        world.crashAt(null);
        const proved = accepted(await world.accounts.prove(registering.challenge, code, asker()));
        assert.deepEqual([proved.registered, proved.developerId], [appId, registering.developerId]);
        assert.deepEqual(await world.events(appId), began);
        assert.equal((await world.accounts.sessions(proved.developerId)).length, 1);
      });
    }

    it('after the app is in the log leaves its owner everything, however late the owner returns', async () => {
      const { challenge, developerId } = accepted(await register());
      const code = await mailedCode();
      world.crashAt('proof.registered');
      await assert.rejects(world.accounts.prove(challenge, code, asker()));
      world.crashAt(null);
      world.advance(30 * minute_ms);
      const late = await askedCode(world, ada);
      assert.equal(accepted(await world.accounts.prove(late.challenge, late.code, asker())).developerId, developerId);
      const by = { cause: `developer:${developerId}` } as const;
      const confirmed = accepted(await world.accounts.confirmRegistration(developerId, appId, by));
      assert.match(confirmed.webhookSecret, /^[0-9a-f]{64}$/);
      assert.deepEqual(await world.events(appId), [...began, 'WebhookSecretRotated']);
      world.advance(48 * hour_ms);
      await sweep(database, world.clock.now());
      assert.equal((await world.accounts.person(developerId))?.email, ada);
    });
  });

  describe('where registration is closed', () => {
    it('is refused to everybody when it is closed', async () => {
      world = createWorld(database, { registration: 'closed' });
      assert.equal(refusedWith(await register()), 'registrationClosed');
    });

    it('accepts invited people, and gives everybody else the same answer for the same work', async () => {
      await registered(world);
      world = createWorld(database, { registration: 'invited' });
      const known = await world.workOf(() => register({ slug: 'one' }));
      assert.equal((await world.mails()).length, 1);
      const answer = accepted(await register({ slug: 'two', email: 'eve@evil.example' }));
      assert.deepEqual(await world.workOf(() => register({ slug: 'three', email: 'eve@evil.example' })), known);
      assert.deepEqual(
        Object.keys(answer).toSorted(),
        Object.keys(accepted(await register({ slug: 'four' }))).toSorted(),
      );
      assert.deepEqual(
        (await world.mails()).map(({ to }) => to),
        [ada],
      );
      accepted(await world.accounts.ask('eve@evil.example', asker()));
      assert.deepEqual(await world.mails(), []);
    });
  });

  it('forgets a person who never proved the address', async () => {
    const { developerId } = accepted(await register());
    world.advance(24 * hour_ms);
    await sweep(database, world.clock.now());
    assert.equal(await world.accounts.person(developerId), null);
    assert.deepEqual(await database.query('SELECT 1 FROM ops.registrations'), []);
  });
});
