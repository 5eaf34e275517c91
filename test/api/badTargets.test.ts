/** Forbidden webhook targets over HTTP: set by an app's owner, or by an unknown person who registers. */
import assert from 'node:assert/strict';
import { createWorld, request } from '../accounts/world.ts';
import { badUrls, goodUrls } from '../support/badTargets.ts';
import { freshDatabase } from '../support/postgres.ts';
import { startWorld, type World } from './world.ts';

describe(`HTTP: ${badUrls.length} bad targets of webhooks`, () => {
  let world: World;
  let people: ReturnType<typeof createWorld>;
  before(async () => {
    people = createWorld(await freshDatabase());
    world = await startWorld({ accounts: people.accounts });
  });
  after(() => world.stop());

  const set = (webhookUrl: string) =>
    world.call('POST', '/merchant-api/me/webhook', { headers: world.owners.wallet, body: { webhookUrl } });
  const urlNow = async () =>
    (await world.call('GET', '/merchant-api/me', { headers: world.owners.wallet })).body.webhookUrl;
  const register = (webhookUrl: string, slug: string) => {
    const { settlement: _, ...body } = request({ webhookUrl, slug });
    return world.call('POST', '/merchant-api/register', { body });
  };

  it('are refused as a setting, which does not change', async () => {
    const before = await urlNow();
    for (const url of badUrls) {
      const { status, body } = await set(url);
      assert.deepEqual([status, body.error, body.errors[0].pointer], [400, 'invalidRequest', '/webhookUrl'], url);
    }
    assert.equal(await urlNow(), before);
  });

  it('are refused at a registration, which leaves nothing behind and mails nobody', async () => {
    for (const url of badUrls) {
      const { status, body } = await register(url, 'evil');
      assert.deepEqual([status, body.error, body.errors[0].pointer], [400, 'invalidRequest', '/webhookUrl'], url);
    }
    assert.equal(people.work.mails, 0);
    assert.equal((await register('https://shop.example/hooks', 'evil')).status, 201, 'the id was never taken');
  });

  it('do not cause refusals of good targets', async () => {
    for (const [n, url] of goodUrls.entries()) {
      assert.equal((await set(url)).status, 200, url);
      assert.equal(await urlNow(), new URL(url).href);
      assert.equal((await register(url, `good${n}`)).status, 201, url);
    }
  });
});
