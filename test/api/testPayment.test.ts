/** A test payment from the dashboard: one payment per form, paid once, only with test money. */
import assert from 'node:assert/strict';
import { chains } from '../../domain/chains.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import type { Mode } from '../../web/parts/frame.ts';
import { Jar } from './desk.ts';
import { startWorld, type World } from './world.ts';

const path = '/dashboard/apps/merchant_demo/test-payment';

describe('HTTP: a test payment', () => {
  let world: World;
  let paid: { readonly paymentId: string; readonly paymentLink: string }[];
  afterEach(() => world.stop());

  async function open(more: Partial<HttpDeps> = {}, mode: Mode = 'sandbox', who = 'cleo'): Promise<Jar> {
    paid = [];
    const site = { mode, chains, settlementCoolDown_hours: 48, registrationOpen: true };
    world = await startWorld({
      site: { ...site, mailboxUrl: null, demoEmail: null, fee: { fixed_microUsd: 10_000n, basisPoints: 50 } },
      payTest: async (payment) => void paid.push(payment),
      ...more,
    });
    const jar = new Jar(world.url);
    jar.cookies.set('__Host-session', `${who}.session.token`);
    return jar;
  }
  const nonceOf = async (jar: Jar) =>
    /name="nonce" value="([^"]+)"/.exec((await jar.get(path)).text)?.[1] ?? assert.fail('no form');
  const payments = async () =>
    (await world.call('GET', '/payment-api/payments?limit=100', { headers: world.keys.merchantAdmin })).body.data;

  it('is created and paid once, however often its form is sent', async () => {
    const cleo = await open();
    const nonce = await nonceOf(cleo);
    const answers = await Promise.all([1, 2, 3].map(() => cleo.post(path, { nonce })));
    const [{ id, type, source }, ...others] = await payments();
    assert.deepEqual([others.length, type, source.amount, source.chainId], [0, 'exactIn', '1.00', '8453']);
    for (const { status, to } of answers)
      assert.deepEqual([status, to], [303, `/dashboard/apps/merchant_demo/payments/${id}`]);
    assert.deepEqual(
      paid.map(({ paymentId }) => paymentId),
      [id],
    );
    assert.match(paid[0]?.paymentLink ?? '', /^http:\/\/127\.0\.0\.1:\d+\/pay\//);
  });

  it('states that the customer cannot pay', async () => {
    const cleo = await open({ payTest: () => Promise.reject(new Error('no money')) });
    await cleo.post(path, { nonce: await nonceOf(cleo) });
    assert.match(cleo.cookies.get('__Host-told') ?? '', /^testNotPaid$/);
  });

  it('is paid by the owner on test networks, with a link to a faucet', async () => {
    const cleo = await open({ payTest: null }, 'test');
    assert.match((await cleo.get(path)).text, /href="https:\/\/faucet\.circle\.com\/"/);
    assert.equal((await cleo.post(path, { nonce: await nonceOf(cleo) })).status, 303);
    assert.match(cleo.cookies.get('__Host-told') ?? '', /^testMade$/);
  });

  it('does not exist on main networks, nor for an app without a wallet of its own', async () => {
    const nonce = '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60';
    const cleo = await open({}, 'live');
    assert.deepEqual([(await cleo.get(path)).status, (await cleo.post(path, { nonce })).status], [404, 404]);
    await world.stop();
    const ann = await open({}, 'sandbox', 'ann');
    assert.equal((await ann.post(path.replace('merchant_demo', 'wallet_demo'), { nonce })).status, 404);
    assert.equal((await ann.post(path, { nonce })).status, 404, 'another owner');
    assert.deepEqual(paid, []);
  });
});
