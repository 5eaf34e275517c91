/** Proof that an owner can compare with a payment's page: its evidence, and the page as of a time. */
import assert from 'node:assert/strict';
import type { PaymentStory } from '../../queries/paymentStory.ts';
import { Jar } from './desk.ts';
import { startTwoApps, type Theirs } from './twoApps.ts';
import { quietProof, startWorld, type World } from './world.ts';

describe('HTTP: proof in the dashboard', () => {
  let world: World;
  let theirs: Theirs;
  let bob: Jar;
  before(async () => {
    ({ world, theirs } = await startTwoApps());
    bob = signedIn(world, 'bob');
  });
  after(() => world.stop());

  const signedIn = ({ url }: World, who: string): Jar => {
    const jar = new Jar(url);
    jar.cookies.set('__Host-session', `${who}.session.token`);
    return jar;
  };
  const home = () => `/dashboard/apps/wallet_closed/payments/${theirs.id}`;
  const asOf = async (text: string) => (await bob.get(`${home()}?asOf=${encodeURIComponent(text)}`)).text;

  it('is a file, the same as with a key', async () => {
    assert.ok((await bob.get(home())).text.includes(`href="${home()}/evidence"`));
    const file = await bob.get(`${home()}/evidence`);
    assert.equal(file.status, 200);
    assert.equal(file.headers.get('content-disposition'), `attachment; filename="evidence-${theirs.id}.json"`);
    const path = `/payment-api/payments/${theirs.id}/evidence`;
    assert.equal(file.text, (await world.call('GET', path, { headers: world.keys.other })).text);
    assert.equal(JSON.parse(file.text).stream, `payment-${theirs.id}`);
  });

  it('states when no head covers the payment yet', async () => {
    const paymentStory = async () => ({ payment: { paymentId: theirs.id }, entries: [] }) as unknown as PaymentStory;
    const young = await startWorld({ paymentStory, proof: quietProof });
    const page = `/dashboard/apps/wallet_demo/payments/${theirs.id}`;
    const answer = await signedIn(young, 'ann').get(`${page}/evidence`);
    assert.deepEqual([answer.status, answer.to], [303, page]);
    assert.match(answer.headers.getSetCookie().join(), /told=evidenceNotYet/);
    await young.stop();
  });

  it('is the payment as it was at a time, without later events, and with a link to the present', async () => {
    const now = (await bob.get(home())).text;
    assert.match(now, /Payout final/);
    const created = /datetime="([^"]+)" data-local="exactly"/.exec(now)?.[1] ?? '';
    const then = await asOf(created);
    assert.match(then, /This is the payment as it was at/);
    assert.match(then, />Created</);
    assert.doesNotMatch(then, /Payout final|Money counted|<h2>Transactions|<h2>Webhooks/);
    assert.ok(then.includes(`href="${home()}"`));
    assert.match(await asOf('2099-01-01T00:00'), /Payout final/);
  });

  it('shows the payment as it is if the time is invalid', async () => {
    for (const text of ['yesterday', '7', '<u>x', '2026-13-41T00:00']) {
      const page = await asOf(text);
      assert.match(page, /This must be a time, such as 2026-11-22T10:00\./, text);
      assert.doesNotMatch(page, /as it was at <|<u>x/);
    }
    assert.match(await asOf('2001-01-01T00:00'), /The payment was created at .* ask for that time or a later one/);
  });

  it('has a bound on requests', async () => {
    assert.equal((await bob.get(`${home()}?asOf=${'1'.repeat(41)}`)).status, 400);
  });
});
