/** The page of the setting that lists the sources payers may choose. */
import assert from 'node:assert/strict';
import { Jar } from './desk.ts';
import { startWorld, type World } from './world.ts';

const page = '/dashboard/apps/wallet_demo/pay-from';

describe('the dashboard’s page of the sources that payers may choose', () => {
  let world: World;
  let ann: Jar;
  before(async () => {
    world = await startWorld();
    ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
  });
  after(() => world.stop());

  const save = (...ticked: string[]) => ann.post(page, Object.fromEntries(ticked.map((name) => [name, 'true'])));
  const ticked = async () =>
    [...(await ann.get(page)).text.matchAll(/<input[^>]*name="(from-[^"]*)"[^>]*>/g)]
      .filter(([input]) => /\schecked/.test(input))
      .map(([, name]) => name);

  it('has a box for each chain and token, and keeps the ticked ones', async () => {
    assert.deepEqual(await ticked(), []);
    const saved = await save('from-8453-USDC', 'from-1500-USDC');
    assert.deepEqual([saved.status, saved.to], [303, page]);
    assert.deepEqual(await ticked(), ['from-8453-USDC', 'from-1500-USDC']);
    assert.equal((await save()).status, 303);
    assert.deepEqual(await ticked(), []);
  });

  it('refuses other names', async () => {
    assert.equal((await save('from-8453-DAI')).status, 400);
    assert.equal((await save('from-7-USDC')).status, 400);
  });
});
