import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { dropRetired, FenceLost, openActive } from '../../projections/generations.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { committer } from '../../src/readmodels/projections.ts';
import { append, createWorld, paymentIdOf } from '../support/histories.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, rowsOf, wholeLog } from '../support/readModels.ts';

describe('a batch of a projection set', () => {
  for (const set of [workSet, reportsSet]) {
    for (const point of ['beforeRows', 'beforeCommit', 'afterCommit']) {
      it(`is in the rows of "${set.name}" exactly once when the runner is killed ${point}`, async () => {
        const database = await freshDatabase();
        const { store } = await payments(3);
        const log = await wholeLog(store);
        const [first, second] = [log.slice(0, 9), log.slice(9)];
        const ddl = await ddlOf(set.name);
        const deps = { database, store, set, codec: eventCodec, signal: new AbortController().signal };

        const begun = await openActive(database, set, ddl);
        const at = await (await committer(deps, begun))(begun, { events: first, position: last(first) });
        let died = false;
        const crash = (name: string) => {
          died ||= name === `projections.${set.name}.${point}`;
          if (died) throw new Error('killed');
        };
        const killed = (await committer({ ...deps, crash }, at))(at, { events: second, position: last(second) });
        await assert.rejects(killed);
        assert.ok(died, `${point} was come to`);

        // A new runner knows only the checkpoint, and continues behind it.
        const again = await openActive(database, set, ddl);
        const rest = log.filter(({ position }) => position > (again.position ?? 0n));
        if (point !== 'afterCommit') assert.equal(again.position, at.position);
        const ended =
          rest.length === 0
            ? again
            : await (await committer(deps, again))(again, { events: rest, position: last(rest) });

        assert.equal(ended.events, BigInt(log.length));
        const other = await freshDatabase();
        const undisturbed = await fill(other, store, set, [log]);
        assert.deepEqual(await rowsOf(database, ended), await rowsOf(other, undisturbed));
      });
    }
  }

  it('is refused to a runner whose position differs from the checkpoint, and none of its rows remain', async () => {
    const database = await freshDatabase();
    const { store } = await payments(2);
    const log = await wholeLog(store);
    const deps = { database, store, set: workSet, codec: eventCodec, signal: new AbortController().signal };
    const begun = await openActive(database, workSet, await ddlOf('work'));
    const [one, other] = [await committer(deps, begun), await committer(deps, begun)];
    const at = await one(begun, { events: log.slice(0, 1), position: last(log.slice(0, 1)) });
    const rows = await rowsOf(database, at);

    await assert.rejects(other(begun, { events: log, position: last(log) }), FenceLost);
    assert.deepEqual(await rowsOf(database, at), rows);
  });

  it('is refused to a runner whose generation was replaced and dropped; the missing tables are no event’s fault', async () => {
    const database = await freshDatabase();
    const { store } = await payments(2);
    const log = await wholeLog(store);
    const deps = { database, store, set: workSet, codec: eventCodec, signal: new AbortController().signal };
    const begun = await openActive(database, workSet, await ddlOf('work'));
    const commit = await committer(deps, begun);
    await database.query(`UPDATE ops.projections SET status = 'retired' WHERE set_name = 'work'`);
    await dropRetired(database, 'work');
    await assert.rejects(commit(begun, { events: log, position: last(log) }), FenceLost);
  });
});

const last = (events: readonly { position: bigint }[]): bigint => events.at(-1)?.position ?? 0n;

/** Whole payments, one after the other. */
async function payments(count: number) {
  const world = createWorld();
  for (let who = 0; who < count; who += 1) {
    const [created, ...rest] = done;
    const own = { ...created, data: { ...created?.data, paymentId: paymentIdOf(who) } };
    await append(world, `payment-${paymentIdOf(who)}`, [own as never, ...rest]);
  }
  return world;
}
