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

  it('also has the error pages, while the API’s errors stay in English', async () => {
    const jar = new Jar(world.url);
    jar.cookies.set('__Host-language', 'zh');
    const missing = await jar.ask('GET', '/dashboard/nowhere', { headers: { accept: 'text/html' } });
    assert.equal(missing.status, 404);
    assert.match(missing.text, /<html lang="zh"/);
    assert.match(missing.text, /此页面不存在/);
    assert.doesNotMatch(missing.text, /<main[^>]* lang=/);
    const api = await jar.ask('GET', '/payment-api/nowhere', { headers: { 'accept-language': 'zh' } });
    assert.match(api.text, /there is no such endpoint/);
  });

  it('also has refusals beside their fields, outcomes of forms, and the audit trail', async () => {
    const home = '/dashboard/apps/wallet_demo';
    const ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
    ann.cookies.set('__Host-language', 'de');
    const refused = await ann.post(`${home}/branding`, { name: 'Teehaus <b>', colour: 'green' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /Farbe: Muss die Form #rrggbb haben\./);
    assert.match(refused.text, /value="Teehaus &lt;b/);
    const saved = await ann.post(`${home}/branding`, { name: 'Teehaus', colour: '#2f6f4f' });
    assert.deepEqual([saved.status, saved.to], [303, `${home}/branding`]);
    assert.match(
      (await ann.get(`${home}/branding`)).text,
      /role="status"[^>]*>.*Das Erscheinungsbild ist gespeichert\./s,
    );
    assert.match((await ann.get(`${home}/audit`)).text, /Änderte, was Zahlende sehen: Name, Farbe/);
    ann.cookies.set('__Host-language', 'en');
    assert.match((await ann.get(`${home}/audit`)).text, /Changed what it shows of itself: name, colour/);
  });

  it('names the chain in the refusal of a wallet', async () => {
    const ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
    ann.cookies.set('__Host-language', 'es');
    const answer = await ann.post('/dashboard/apps/wallet_demo/settlement', {
      chainId: '8453',
      tokenSymbol: 'USDC',
      receiverAddress: '0x12',
    });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /No es una dirección de la cadena 8453\./);
  });
});
