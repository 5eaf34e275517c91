/** Two instances on one Postgres share the count of a caller's requests. */
import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';
import { createRates, type RateLimits, type RateName } from '../../src/api/rateLimits.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';

const rate = (requestsMax: number) => ({ requestsMax, window_s: 600 });
const limits: RateLimits = {
  address: rate(20),
  key: rate(20),
  app: rate(0),
  keylessCreation: rate(3),
  keylessOpen: rate(3),
  linkOpen: rate(3),
  wallet: rate(3),
  walletPayment: rate(3),
  redelivery: rate(3),
  webhookTest: rate(3),
  signIn: rate(3),
  signInEmail: rate(3),
  signInKnown: rate(3),
  shortCodesEmail: rate(3),
  shortCodes: rate(3),
  registration: rate(3),
  notice: rate(3),
  invitation: rate(3),
  changes: rate(3),
};

describe('rates', () => {
  let database: Database;
  let statements: number;
  let away: boolean;
  const sql: Sql = {
    async query(text, values) {
      statements += 1;
      if (away) throw new Unavailable('away');
      return database.query(text, values);
    },
  };
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await database.query('DELETE FROM ops.rate_limits');
    statements = 0;
    away = false;
  });

  const twoInstances = () => [createRates(sql, limits), createRates(sql, limits)] as const;
  async function times(count: number, rates: ReturnType<typeof createRates>, name: RateName, who = '192.0.2.1') {
    const all = [];
    for (let time = 0; time < count; time += 1) all.push((await rates.count(name, who))?.allowed);
    return all;
  }

  it('for creation without a key apply over all instances, for each address separately', async () => {
    const [one, other] = twoInstances();
    assert.deepEqual(await times(2, one, 'keylessCreation'), [true, true]);
    assert.deepEqual(await times(2, other, 'keylessCreation'), [true, false]);
    const refused = await one.count('keylessCreation', '192.0.2.1');
    assert.deepEqual([refused?.allowed, refused?.remaining, refused?.requestsMax], [false, 0, 3]);
    assert.ok(refused && refused.reset_s > 590 && refused.reset_s <= 600);
    assert.equal((await one.count('keylessCreation', '192.0.2.2'))?.allowed, true);
  });

  for (const name of ['redelivery', 'webhookTest'] as const) {
    it(`for owners’ requests apply over all instances, too: ${name}`, async () => {
      const [one, other] = twoInstances();
      assert.deepEqual(await times(2, one, name, 'merchant_shop'), [true, true]);
      assert.deepEqual(await times(2, other, name, 'merchant_shop'), [true, false]);
      assert.deepEqual(await times(1, other, name, 'merchant_other'), [true]);
    });
  }

  it('cost Postgres nothing for a caller who is refused already', async () => {
    const [one] = twoInstances();
    await times(3, one, 'keylessCreation');
    statements = 0;
    assert.deepEqual(await times(100, one, 'keylessCreation'), Array(100).fill(false));
    assert.equal(statements, 0);
  });

  it('for requests are counted without querying Postgres, and apply over all instances once they are settled', async () => {
    const [one, other] = twoInstances();
    assert.deepEqual(await times(20, one, 'key', 'k'), Array(20).fill(true));
    assert.equal(statements, 0);
    assert.deepEqual(await times(1, other, 'key', 'k'), [true]);
    await one.settle();
    await times(1, other, 'key', 'k');
    await other.settle();
    assert.deepEqual(await times(1, one, 'key', 'k'), [false]);
    assert.deepEqual(await times(1, other, 'key', 'k'), [false]);
    assert.deepEqual(await times(1, other, 'key', 'another'), [true]);
  });

  it('do not write callers to Postgres who use little of their limit', async () => {
    const [one] = twoInstances();
    for (let host = 0; host < 50; host += 1) await times(1, one, 'address', `192.0.2.${host}`);
    await one.settle();
    assert.equal(statements, 0);
  });

  it('continue in each instance while Postgres is away, except for creation without a key, which is unavailable', async () => {
    const [one, other] = twoInstances();
    away = true;
    assert.deepEqual(await times(20, one, 'address'), Array(20).fill(true));
    assert.deepEqual(await times(1, one, 'address'), [false]);
    await assert.rejects(one.settle(), Unavailable);
    await assert.rejects(one.count('keylessCreation', '192.0.2.1'), Unavailable);
    away = false;
    await one.settle();
    await times(2, other, 'address');
    await other.settle();
    assert.deepEqual(await times(1, other, 'address'), [false]);
  });

  it('with a limit of 0 are unlimited', async () => {
    const [one] = twoInstances();
    assert.equal(await one.count('app', 'a'), null);
  });

  it('for an address apply to the networks around it: a /48 counts as eight callers, not 65,536', async () => {
    const [one] = twoInstances();
    const allowed = async (who: (index: number) => string): Promise<number> => {
      let count = 0;
      for (let index = 0; index < 100; index += 1)
        if ((await one.count('keylessCreation', who(index)))?.allowed) count += 1;
      return count;
    };
    assert.equal(await allowed((index) => `2001:db8:1:${index.toString(16)}::/64`), 12, 'of one /56');
    assert.equal(await allowed((index) => `2001:db8:1:${index.toString(16)}00::/64`), 12, 'of one /48 with it');
    assert.equal(await allowed(() => '2001:db8:2:0::/64'), 3);
    assert.equal(await allowed((index) => `192.0.2.${index}`), 100);
  });

  it('leave an app’s places to many addresses: each can use only a part', async () => {
    const rates = createRates(sql, { ...limits, linkOpen: { requestsMax: 40, window_s: 600, parts: 40 } });
    const ask = async (address: string, count: number): Promise<number> => {
      let allowed = 0;
      for (let time = 0; time < count; time += 1)
        if ((await rates.count('linkOpen', 'merchant_demo', address))?.allowed) allowed += 1;
      return allowed;
    };
    assert.equal(await ask('192.0.2.1', 39), 5);
    assert.equal(await ask('192.0.2.2', 1), 1);
    for (let n = 3; n < 100; n += 1) await ask(`192.0.2.${n}`, 5);
    assert.equal(await ask('192.0.2.200', 1), 0, 'all together hold the app’s limit');
    assert.equal((await rates.count('linkOpen', 'merchant_other', '192.0.2.1'))?.allowed, true);
  });

  it('leave an address’s places to several apps', async () => {
    const rates = createRates(sql, { ...limits, keylessOpen: { requestsMax: 40, window_s: 600, parts: 4 } });
    const allowed = [];
    for (let time = 0; time < 20; time += 1)
      allowed.push((await rates.count('keylessOpen', '192.0.2.1', 'wallet_demo'))?.allowed);
    assert.equal(allowed.filter(Boolean).length, 10);
    assert.equal((await rates.count('keylessOpen', '192.0.2.1', 'wallet_other'))?.allowed, true);
  });
});
