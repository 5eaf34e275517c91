import assert from 'node:assert/strict';
import type { Sql } from '../../projections/sql.ts';
import type { WatchedDeposit } from '../../src/chains/family.ts';
import { depositNeeds } from '../../src/workers/payins/depositNeeds.ts';
import { addressOf, givenReadModels } from '../queries/given.ts';
import { append, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';

const { signal } = new AbortController();
const chainId = 8453;

describe('the deposits to poll', () => {
  const given = givenReadModels();
  let asked: number;

  const watch = () => {
    asked = 0;
    const { world, project } = given;
    const database: Sql = {
      query(...query) {
        asked += 1;
        return given.database.query(...query);
      },
    } as Sql;
    const caughtUp = async () => {
      await project();
      return world.store.tail();
    };
    const stores = { clock: world.clock, database, reads: database, caughtUp };
    return depositNeeds(() => stores).watch(chainId);
  };
  const addresses = (page: readonly WatchedDeposit[]) => page.map(({ address }) => address);
  const lower = (...numbers: number[]) => numbers.map((n) => addressOf(n).toLowerCase());

  it('are those in the log by then, page by page; the first page is read again only when the log has grown', async () => {
    await given.payments(p.unpaid, p.unpaid, p.unpaid);
    const { open } = watch();
    const first = await open({ after: null, max: 2 }, signal);
    assert.deepEqual(await open({ after: null, max: 2 }, signal), first);
    assert.equal(asked, 1);
    const rest = await open({ after: first.at(-1) ?? null, max: 2 }, signal);
    assert.deepEqual(addresses([...first, ...rest]).toSorted(), lower(1, 2, 3));

    const [created] = p.unpaid;
    assert.ok(created?.type === 'PaymentCreated');
    const deposit = { ...created.data.deposit, address: addressOf(4) };
    const data = { ...created.data, paymentId: paymentIdOf(4), deposit };
    await append(given.world, `payment-${data.paymentId}`, [{ ...created, data }]);
    assert.deepEqual(addresses(await open({ after: null, max: 9 }, signal)).toSorted(), lower(1, 2, 3, 4));
  });

  it('include those of ended payments whose time has ended not long ago', async () => {
    await given.payments(p.done);
    const { open, late } = watch();
    assert.deepEqual(await open({ after: null, max: 2 }, signal), []);
    assert.deepEqual(addresses(await late({ after: null, max: 2 }, signal)), lower(1));
    given.world.clock.advance(8 * 24 * 3_600_000);
    assert.deepEqual(await late({ after: null, max: 2 }, signal), []);
  });
});
