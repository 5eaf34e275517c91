/** The policy for other amounts: set by the API and the dashboard, returned by payments. */
import assert from 'node:assert/strict';
import { Jar } from './desk.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const me = '/merchant-api/me';
const base = '/payment-api/payments';
const page = '/dashboard/apps/wallet_demo/policy';
const none = {
  tolerance: { basisPoints: 0, most: '0.00' },
  under: 'hold',
  over: 'hold',
  late: 'hold',
  lateWithinMinutes: 0,
  wrongToken: 'hold',
  wrongChain: 'hold',
};

describe('the policy for other amounts', () => {
  let world: World;
  let ann: Jar;
  before(async () => {
    world = await startWorld();
    ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
  });
  after(() => world.stop());

  const set = (body: unknown) => world.call('POST', `${me}/policy`, { headers: world.owners.wallet, body });

  it('holds everything until it is set, and is set as a whole', async () => {
    assert.deepEqual((await world.call('GET', me, { headers: world.owners.wallet })).body.policy, none);
    const policy = { tolerance: { basisPoints: 50, most: '0.50' }, late: 'accept', lateWithinMinutes: 120 };
    const { status, body } = await set(policy);
    assert.deepEqual([status, body.policy], [200, { ...none, ...policy }]);
    assert.deepEqual((await set({ over: 'refund' })).body.policy, { ...none, over: 'refund' });
    assert.deepEqual((await set({})).body.policy, none);
  });

  it('names the faulty field', async () => {
    const pointer = async (body: unknown) => {
      const answer = await set(body);
      assert.equal(answer.status, 400);
      return answer.body.errors[0].pointer;
    };
    assert.equal(await pointer({ over: 'accept' }), '/over');
    assert.equal(await pointer({ under: 'keep' }), '/under');
    assert.equal(await pointer({ tolerance: { basisPoints: 50 } }), '/tolerance/most');
    assert.equal(await pointer({ tolerance: { basisPoints: 5_000, most: '1' } }), '/tolerance/basisPoints');
    assert.equal(await pointer({ tolerance: { basisPoints: 50, most: '-1' } }), '/tolerance/most');
    assert.equal(await pointer({ tolerance: { basisPoints: 50, most: '0.0000001' } }), '/tolerance/most');
    assert.equal(await pointer({ tolerance: { basisPoints: 50, most: '0' } }), '/tolerance');
    assert.equal(await pointer({ late: 'accept' }), '/lateWithinMinutes');
    assert.equal(await pointer({ lateWithinMinutes: 10_081 }), '/lateWithinMinutes');
    assert.equal(await pointer({ overs: 'hold' }), '/overs');
  });

  const form = { ...none, percent: '0.25', most: '1.00', lateWithinMinutes: '0', over: 'refund' };
  const { tolerance: _, ...fields } = form;

  it('has a page that is filled with the present policy', async () => {
    const saved = await ann.post(page, fields);
    assert.deepEqual([saved.status, saved.to], [303, page]);
    const { text } = await ann.get(page);
    assert.match(text, /name="percent"[^>]*value="0.25"/);
    assert.match(text, /<select[^>]*name="over"[^>]*>.*?<option value="refund" selected/s);
    assert.match(text, /<select[^>]*name="under"[^>]*><option value="hold" selected/);
    assert.deepEqual((await world.call('GET', me, { headers: world.owners.wallet })).body.policy.tolerance, {
      basisPoints: 25,
      most: '1.00',
    });
  });

  it('has errors beside their fields, and keeps the typed values', async () => {
    for (const percent of ['9999', '10.01', '0.125', '-1', '1e1', '1,5']) {
      const refused = await ann.post(page, { ...fields, percent, most: '7' });
      assert.equal(refused.status, 400, percent);
      assert.match(refused.text, /field-percent-error/);
      assert.match(refused.text, /name="most"[^>]*value="7"/);
    }
    assert.match(
      (await ann.post(page, { ...fields, percent: '10.01' })).text,
      /Tolerance must be at most 10 percent\./,
    );
    assert.equal((await ann.post(page, { ...fields, under: 'keep' })).status, 400);
    assert.equal((await ann.post(page, { ...fields, more: '1' })).status, 400);
  });

  it('is reported with the expected amount, the received one, and the difference', async () => {
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    assert.deepEqual(body.amounts, { expected: '10.01', received: '0.00', delta: '-10.01' });
  });
});
