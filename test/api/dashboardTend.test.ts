/** Actions on one payment's page: cancel, note, search; and the effect of its note and tags on other pages: none. */
import assert from 'node:assert/strict';
import { Jar } from './desk.ts';
import { startTwoApps, type Theirs } from './twoApps.ts';
import type { World } from './world.ts';

describe('HTTP: actions on a payment', () => {
  let world: World;
  let theirs: Theirs;
  let bob: Jar;
  before(async () => {
    ({ world, theirs } = await startTwoApps());
    bob = new Jar(world.url);
    bob.cookies.set('__Host-session', 'bob.session.token');
  });
  after(() => world.stop());

  const of = (rest = '') => `/dashboard/apps/wallet_closed/payments/${theirs.id}${rest}`;

  it('a note with markup stays text in the page and in its story; tags are shown, and the payer’s answers have neither', async () => {
    const note = '<img src=x onerror=alert(1)>\n=HYPERLINK("https://evil.example")';
    const saved = await bob.post(of('/note'), { note, tags: '#VIP wholesale, vip' });
    assert.deepEqual([saved.status, saved.to], [303, of()]);
    const { text } = await bob.get(of());
    assert.ok(!text.includes('<img src=x'), 'markup ran');
    assert.ok(text.includes('&lt;img src=x onerror=alert(1)>'));
    assert.match(text, /#vip #wholesale/);
    assert.match(text, /The note and the tags are saved/);
    const asked = await world
      .call('GET', `/api/payments/${theirs.id}`, { headers: world.keys.other })
      .catch(() => null);
    assert.ok(!JSON.stringify(asked).includes('HYPERLINK'), 'an API answer has the note');
  });

  it('an invalid tag returns with the typed text, and changes nothing', async () => {
    const refused = await bob.post(of('/note'), { note: 'kept text', tags: '<script>' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /is not a tag/);
    assert.match(refused.text, /kept text/);
    assert.match((await bob.get(of())).text, /#vip #wholesale/);
  });

  it('a note that is too long is refused', async () => {
    const refused = await bob.post(of('/note'), { note: 'x'.repeat(1_001) });
    assert.equal(refused.status, 400);
  });

  it('a paid payment is not cancelled: the page states so', async () => {
    const asked = await bob.get(of('/cancel'));
    assert.match(asked.text, /Cancel this payment\?/);
    const answer = await bob.post(of('/cancel'));
    assert.deepEqual([answer.status, answer.to], [303, of()]);
    assert.match((await bob.get(of())).text, /was not cancelled/);
  });

  it('a payment is found by the beginning of its order, and by nothing in another app', async () => {
    const found = await bob.get('/dashboard/apps/wallet_closed/find?q=their-or');
    assert.match(found.text, new RegExp(`/payments/${theirs.id}`));
    const ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
    const none = await ann.get('/dashboard/apps/wallet_demo/find?q=their-or');
    assert.equal(none.status, 200);
    assert.ok(!none.text.includes(theirs.id));
  });

  it('the list keeps its filter in the address: tab, sorting and days', async () => {
    const list = '/dashboard/apps/wallet_closed/payments';
    const { text, status } = await bob.get(`${list}?q=their&group=paid&sort=largest&from=2026-11-01`);
    assert.equal(status, 200);
    assert.match(text, /group=waiting&amp;from=2026-11-01&amp;sort=largest|q=their&amp;group=waiting/);
    assert.match(text, /<option value="largest" selected/);
    assert.equal((await bob.get(`${list}?group=everything`)).status, 400);
    assert.equal((await bob.get(`${list}?sort=largest&cursor=bm9uZQ`)).status, 400);
    assert.ok(!text.includes('payin_completed'), 'an internal name is in the filters');
  });
});
