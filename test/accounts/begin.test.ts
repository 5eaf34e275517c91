/** Registration step by step: proof of the e-mail first, then an app. */
import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';
import {
  accepted,
  ada,
  asker,
  clear,
  codeIn,
  createWorld,
  refusedWith,
  registered,
  request,
  type World,
} from './world.ts';

const app = (more = {}) => ({ displayName: 'Ada’s beans', kind: 'merchant', slug: 'beans', ...more }) as const;

describe('accounts: registration step by step', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    world = createWorld(database);
  });

  async function proved(email = ada, own = world): Promise<string> {
    const { challenge } = accepted(await own.accounts.begin(email, asker()));
    const mail = (await own.mails()).findLast((each) => each.to === email) ?? assert.fail('no mail');
    assert.equal(mail.subject, 'Your registration code');
    return accepted(await own.accounts.prove(challenge, codeIn(mail), asker())).developerId;
  }
  const register = (developerId: string, more = {}) =>
    world.accounts.registerApp(developerId, app(more), { cause: `developer:${developerId}` });

  it('mails a code to an unknown address, which signs in and registers nothing yet', async () => {
    const developerId = await proved();
    assert.notEqual((await world.accounts.person(developerId))?.provedAt, null);
    assert.deepEqual(await world.accounts.pendingRegistrations(developerId), []);
    assert.deepEqual(await world.events('merchant_beans'), []);
  });

  it('registers an app of the person, in force at once, with nothing waiting', async () => {
    const developerId = await proved();
    assert.deepEqual(await register(developerId), { appId: 'merchant_beans' });
    assert.deepEqual(await world.events('merchant_beans'), [
      'MerchantRegistered',
      'WebhookSecretRotated',
      'ProfileSet',
    ]);
    const [first] = await world.store.read('merchant-merchant_beans');
    assert.ok(first);
    assert.equal((first.data as { developerId: string }).developerId, developerId);
    assert.equal(first.metadata.cause, `developer:${developerId}`);
    assert.deepEqual(await world.accounts.pendingRegistrations(developerId), []);
  });

  it('refuses every wrong field in one answer', async () => {
    const refused = await register(await proved(), { displayName: '', slug: 'Upper' });
    assert.ok(isRefusal(refused));
    const pointers = [refused, ...(refused.also ?? [])].map(({ pointer }) => pointer);
    assert.deepEqual(pointers, ['/displayName', '/slug']);
  });

  it('finishes with the same request after a 503', async () => {
    const developerId = await proved();
    world.fallBehind(true);
    await assert.rejects(register(developerId));
    world.fallBehind(false);
    assert.deepEqual(await register(developerId), { appId: 'merchant_beans' });
    assert.equal(refusedWith(await register(developerId)), 'appIdTaken');
  });

  it('ignores a registration that a stranger made with the same address', async () => {
    const receiverAddress = '0x00000000000000000000000000000000000000ee';
    const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress } as const;
    accepted(await world.accounts.register(request({ settlement, webhookUrl: 'https://evil.example/hooks' }), asker()));
    const developerId = await proved();
    assert.deepEqual(await register(developerId), { appId: 'merchant_beans' });
    const types = await world.events('merchant_beans');
    assert.ok(!types.includes('SettlementWalletSet') && !types.includes('WebhookUrlSet'), types.join());
  });

  it('refuses an id that belongs to another person, or is reserved for one', async () => {
    await registered(world, { slug: 'owned' });
    accepted(await world.accounts.register(request({ email: 'bob@shop.example', slug: 'reserved' }), asker()));
    const eve = await proved('eve@evil.example');
    for (const slug of ['owned', 'reserved']) assert.equal(refusedWith(await register(eve, { slug })), 'appIdTaken');
  });

  it('is closed if registration is off, and then mails no code to people without an invitation', async () => {
    const closed = createWorld(database, { registration: 'closed' });
    assert.equal(refusedWith(await closed.accounts.begin(ada, asker())), 'registrationClosed');
    assert.equal(
      refusedWith(await closed.accounts.registerApp('d', app(), { cause: 'developer:d' })),
      'registrationClosed',
    );
    const invited = createWorld(database, { registration: 'invited' });
    const answer = accepted(await invited.accounts.begin(ada, asker()));
    assert.deepEqual(Object.keys(answer), ['challenge', 'expiresAt']);
    assert.deepEqual(await invited.mails(), []);
  });

  it('is bounded per person, whatever their addresses', async () => {
    const limited = createWorld(database, {
      limited: true,
      rates: { registration: { requestsMax: 2, window_s: 3_600 } },
    });
    const developerId = await proved(ada, limited);
    const by = { cause: `developer:${developerId}` } as const;
    for (const slug of ['one', 'two']) accepted(await limited.accounts.registerApp(developerId, app({ slug }), by));
    assert.equal(
      refusedWith(await limited.accounts.registerApp(developerId, app({ slug: 'three' }), by)),
      'rateLimited',
    );
  });
});
