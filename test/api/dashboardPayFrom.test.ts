/** The page of the setting that lists the sources payers may choose. */
import assert from 'node:assert/strict';
import { chains } from '../../domain/chains.ts';
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

  it('groups the tokens by chain, with the usual time and network cost of each', async () => {
    const { text } = await ann.get(page);
    const groups = text.split('role="group"').slice(1);
    assert.equal(groups.length, chains.length);
    for (const [at, chain] of chains.entries()) {
      assert.match(groups[at] ?? '', new RegExp(`<strong[^>]*>${chain.name}</strong>`));
      assert.match(groups[at] ?? '', /final in about <?.*20 seconds.*network cost .*less than \$0\.01/s);
      const boxes = [...(groups[at] ?? '').matchAll(/name="from-(\d+)-(\w+)"/g)].map(
        ([, id, symbol]) => `${id} ${symbol}`,
      );
      assert.deepEqual(
        boxes,
        chain.tokens.map(({ symbol }) => `${chain.id} ${symbol}`),
      );
    }
  });

  it('saves the recommended sources by one button, whatever is ticked, and marks them', async () => {
    const { text } = await ann.get(page);
    assert.match(text, /<button[^>]*name="recommended"[^>]*>Save the 6 recommended ones</);
    assert.equal(text.match(/>Recommended</g)?.length, 6);
    assert.equal((await save('recommended', 'from-1-USDT')).status, 303);
    const expected = chains.filter(({ id }) => id !== 1).map(({ id }) => `from-${id}-USDC`);
    assert.deepEqual(await ticked(), expected);
    assert.equal((await save()).status, 303);
    assert.deepEqual(await ticked(), []);
  });

  it('has the words of the page’s language', async () => {
    const german = new Jar(world.url);
    german.cookies.set('__Host-session', 'ann.session.token');
    german.cookies.set('__Host-language', 'de');
    const { text } = await german.get(page);
    assert.match(text, /endgültig nach etwa 20 Sekunden/);
    assert.match(text, /Die 6 empfohlenen speichern/);
  });

  it('refuses other names', async () => {
    assert.equal((await save('from-8453-DAI')).status, 400);
    assert.equal((await save('from-7-USDC')).status, 400);
  });
});
