/** The language of the dashboard: the person's choice, else the browser's, else English. */
import assert from 'node:assert/strict';
import { Jar } from './desk.ts';
import { startWorld, type World } from './world.ts';

const signIn = '/dashboard/sign-in';

describe('HTTP: the language of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const languageAt = async (jar: Jar, accepted?: string) => {
    const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-language': accepted };
    const { text } = await jar.ask('GET', signIn, { headers });
    return /<html lang="(\w+)"/.exec(text)?.[1];
  };

  it('is English by default, and the browser’s if we have it', async () => {
    const jar = new Jar(world.url);
    assert.equal(await languageAt(jar), 'en');
    assert.equal(await languageAt(jar, 'fr, de;q=0.8'), 'de');
    assert.equal(await languageAt(jar, 'fr'), 'en');
  });

  it('is the chosen one on every later page, whatever the browser prefers', async () => {
    const jar = new Jar(world.url);
    const chosen = await jar.post('/dashboard/language', { language: 'ar', next: signIn });
    assert.deepEqual([chosen.status, chosen.to], [303, signIn]);
    assert.match(
      chosen.headers.getSetCookie().join(),
      /^__Host-language=ar; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=31536000$/,
    );
    assert.equal(await languageAt(jar, 'de'), 'ar');
    assert.match((await jar.get(signIn)).text, /<html lang="ar" dir="rtl">/);
    await jar.post('/dashboard/sign-out');
    assert.equal(await languageAt(jar), 'ar', 'signing out keeps the choice');
  });

  it('varies for caches, and leads to no other site', async () => {
    const jar = new Jar(world.url);
    assert.match((await jar.get(signIn)).headers.get('vary') ?? '', /Accept-Language/);
    for (const next of ['https://evil.example', '//evil.example', '/dashboard/../x'])
      assert.equal((await jar.post('/dashboard/language', { language: 'de', next })).to, '/dashboard', next);
  });

  it('sets nothing for a language that we do not have, or a form of another site', async () => {
    const jar = new Jar(world.url);
    const unknown = await jar.post('/dashboard/language', { language: 'xx' });
    assert.deepEqual(unknown.headers.getSetCookie(), []);
    const foreign = await jar.post('/dashboard/language', { language: 'de' }, { origin: 'https://evil.example' });
    assert.deepEqual([foreign.status, foreign.headers.getSetCookie()], [403, []]);
    jar.cookies.set('__Host-language', 'xx');
    assert.equal(await languageAt(jar), 'en');
  });

  it('also has the error pages', async () => {
    const jar = new Jar(world.url);
    jar.cookies.set('__Host-language', 'zh');
    const missing = await jar.ask('GET', '/dashboard/nowhere', { headers: { accept: 'text/html' } });
    assert.equal(missing.status, 404);
    assert.match(missing.text, /<html lang="zh"/);
  });
});
