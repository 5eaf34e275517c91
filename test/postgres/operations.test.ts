import assert from 'node:assert/strict';
import { concatMap, firstValueFrom, skip } from 'rxjs';
import type { Cursor } from '../../commands/chainPorts.ts';
import { Unavailable } from '../../commands/ports.ts';
import { BroadcastRefused } from '../../commands/transferPorts.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import { RpcFailed } from '../../src/chains/node/jsonRpc.ts';
import { ChainUnavailable } from '../../src/chains/node/nodes.ts';
import { forgetChain, identityOf, rememberIdentity } from '../../src/postgres/chainIdentities.ts';
import { CursorMoved, createCursors, endPassedChannel } from '../../src/postgres/cursors.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createDepositOwners, stockChannel } from '../../src/postgres/depositOwners.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { listen } from '../../src/postgres/listen.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';

const cursorAt = (block: number, pass: Cursor['pass'] = 'head'): Cursor => ({
  chainId: 8453,
  pass,
  blockNumber: BigInt(block),
  blockHash: `0x${block}`,
  chainTime: minute(block),
});

describe('chain cursors', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => database.query('TRUNCATE ops.chain_cursors'));

  it('are null before the first save, then the last saved one, each pass separately', async () => {
    const cursors = createCursors(database);
    assert.equal(await cursors.load(8453, 'head'), null);
    await cursors.save(cursorAt(1), null);
    await cursors.save(cursorAt(2), cursorAt(1));
    await cursors.save(cursorAt(1, 'final'), null);
    assert.deepEqual(await cursors.load(8453, 'head'), cursorAt(2));
    assert.deepEqual(await cursors.load(8453, 'final'), cursorAt(1, 'final'));
    assert.equal(await cursors.load(1, 'head'), null);
  });

  it('are moved only by a caller who knows their position', async () => {
    const cursors = createCursors(database);
    await cursors.save(cursorAt(5), null);
    await assert.rejects(cursors.save(cursorAt(6), null), CursorMoved);
    await assert.rejects(cursors.save(cursorAt(6), cursorAt(4)), CursorMoved);
    await assert.rejects(cursors.save(cursorAt(6), { ...cursorAt(5), blockHash: '0xother' }), CursorMoved);
    assert.deepEqual(await cursors.load(8453, 'head'), cursorAt(5));
  });

  it('are forgotten with their chain’s old network, when it was restarted; other chains are not', async () => {
    const cursors = createCursors(database);
    await cursors.save(cursorAt(5), null);
    await cursors.save({ ...cursorAt(6), chainId: 1 }, null);
    assert.equal(await identityOf(database, 8453), null);
    assert.equal(await rememberIdentity(database, 8453, '0xgenesis', minute(1)), '0xgenesis');
    assert.equal(await rememberIdentity(database, 8453, '0xother', minute(2)), '0xgenesis');
    await forgetChain(database, 8453);
    assert.deepEqual([await identityOf(database, 8453), await cursors.load(8453, 'head')], [null, null]);
    assert.ok(await cursors.load(1, 'head'));
  });

  it('state how far the slowest of some passes has advanced, once all have begun', async () => {
    const cursors = createCursors(database);
    await cursors.save(cursorAt(7, 'final'), null);
    assert.equal(await cursors.scannedTo(8453, ['final', 'finalLarge']), null);
    await cursors.save(cursorAt(3, 'finalLarge'), null);
    assert.equal(await cursors.scannedTo(8453, ['final', 'finalLarge']), minute(3));
  });

  it('notify listeners that the end of a payment is passed', () =>
    isHeard(database, endPassedChannel, () => createCursors(database).tellEndPassed()));
});

describe('the stock of deposit addresses', () => {
  it('notifies listeners that it has shrunk', async () => {
    const database = await freshDatabase();
    const stock = createDepositOwners(database);
    await stock.add([{ address: 'a', scheme: 's', salt: 't' }]);
    await isHeard(database, stockChannel, async () => assert.equal((await stock.take(10)).length, 1));
  });
});

/** Resolves when a listener that is listening has received the notification of an act. */
async function isHeard(database: Database, channel: string, act: () => Promise<unknown>): Promise<void> {
  const told = listen(database, [channel]).pipe(
    concatMap(async (_, nth) => {
      if (nth === 0) await act();
    }),
    skip(1),
  );
  await firstValueFrom(told);
}

describe('failures of work', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => database.query('TRUNCATE ops.work_failures CASCADE'));

  interface Row {
    readonly attempts: number;
    readonly last_error: string;
    readonly failed_at: Instant;
    readonly next_attempt_at: Instant;
    readonly parked_at: Instant | null;
  }
  const row = async () => (await database.query<Row>('SELECT * FROM ops.work_failures'))[0];

  it('wait longer after each attempt, up to a bound, then are parked and stay visible', async () => {
    const failures = createFailures(database, { attemptsMax: 12 });
    const pauses_ms: number[] = [];
    for (let n = 1; n <= 12; n += 1) {
      await failures.failed('payouts', 'p1', new Error(`no ${n}`), minute(n));
      const { failed_at, next_attempt_at, parked_at } = (await row()) ?? assert.fail();
      pauses_ms.push(epochMs(next_attempt_at) - epochMs(failed_at));
      assert.equal(parked_at, n < 12 ? null : minute(12));
    }
    assert.deepEqual(pauses_ms.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
    assert.ok(pauses_ms.every((pause_ms, n) => pause_ms >= (pauses_ms[n - 1] ?? 0)));
    assert.equal(pauses_ms.at(-1), 5 * minute_ms);
    assert.equal((await row())?.last_error, 'Error: no 12');
  });

  it('wait a little in an outage and never count', async () => {
    const failures = createFailures(database, { attemptsMax: 2 });
    const outages = [
      new Unavailable('away'),
      new Error('rpc', { cause: new Unavailable('away') }),
      new AggregateError([new Unavailable('away'), new RpcFailed('node', 'eth_call', 'unreachable', 'no answer')]),
    ];
    for (const [n, error] of [...outages, ...outages].entries())
      await failures.failed('payouts', 'p1', error, minute(n));
    const waiting = (await row()) ?? assert.fail();
    assert.deepEqual([waiting.attempts, waiting.parked_at], [0, null]);
    assert.ok(waiting.next_attempt_at < plus(minute(5), hour_ms / 60));
  });

  it('are recognized as temporary by their class: another name parks no payout', async () => {
    const failures = createFailures(database, { attemptsMax: 1 });
    const passing = [
      new Unavailable('away'),
      new CursorMoved(cursorAt(5)),
      new ChainUnavailable(8453, []),
      new RpcFailed('node', 'eth_call', 'unreachable', 'no answer'),
      new BroadcastRefused('nonce too low'),
    ];
    for (const error of passing) {
      Object.defineProperty(error, 'name', { value: 'Renamed' });
      await failures.failed('payouts', 'p1', error, minute(1));
      assert.deepEqual([(await row())?.attempts, (await row())?.parked_at], [0, null], error.message);
    }
    await failures.failed('payouts', 'p1', Object.assign(new Error('no'), { name: 'ChainUnavailable' }), minute(2));
    assert.deepEqual([(await row())?.attempts, (await row())?.parked_at], [1, minute(2)]);
    await failures.failed('payouts', 'p2', new AggregateError([new Unavailable('away'), new Error('no')]), minute(3));
    assert.equal((await database.query('SELECT 1 FROM ops.work_failures WHERE parked_at IS NOT NULL')).length, 2);
  });

  it('are forgotten after a success, and unparked by an operator', async () => {
    const failures = createFailures(database, { attemptsMax: 1 });
    await failures.failed('payouts', 'p1', new Error('no'), minute(1));
    await failures.succeeded('other', 'p1');
    assert.ok((await row())?.parked_at);
    assert.deepEqual(await failures.due('payouts', 10, minute(9_999)), []);
    assert.ok(await failures.unpark('payouts', 'p1', minute(2)));
    assert.deepEqual(await failures.due('payouts', 10, minute(2)), [{ key: 'p1' }]);
    assert.deepEqual([(await row())?.attempts, (await row())?.parked_at], [0, null]);
    assert.equal(await failures.unpark('payouts', 'p2', minute(2)), false);
    await failures.failed('payouts', 'p1', 'a text \0', minute(1));
    await failures.succeeded('payouts', 'p1');
    assert.equal(await row(), undefined);
  });
});
