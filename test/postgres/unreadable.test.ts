import assert from 'node:assert/strict';
import type { Unreadable } from '../../commands/chainPorts.ts';
import { unreadableTransactions, unreadBlocks } from '../../queries/operations.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import {
  createUnreadableNotes,
  unreadableMax,
  unreadableName,
  unreadablePerDepositMax,
} from '../../src/postgres/unreadable.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';

const unreadable = (txHash: string, block = 100, addresses: readonly string[] = []): Unreadable => ({
  txHash,
  blockNumber: BigInt(block),
  addresses,
  evidence: `meta of ${txHash} is null`,
});
const many = (count: number, name: string, addresses: readonly string[] = []) =>
  Array.from({ length: count }, (_, n) => unreadable(`${name} ${n}`, 100 + n, addresses));

describe('unreadable transactions', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => database.query('TRUNCATE ops.work_failures, ops.unread_blocks CASCADE'));

  const notes = () => createUnreadableNotes(database, createFailures(database), 8453);
  const listed = async () => (await unreadableTransactions(database, 10_000)).map(({ txHash }) => txHash);
  const worker = unreadableName(8453);

  it('are kept with their evidence and are due to be tried, each once however often it is detected', async () => {
    const first = await notes().note([unreadable('a'), unreadable('b', 101, ['deposit'])], minute(1));
    assert.deepEqual(
      first.fresh.map(({ txHash }) => txHash),
      ['a', 'b'],
    );
    const again = await notes().note([{ ...unreadable('a'), evidence: 'another' }, unreadable('c')], minute(2));
    assert.deepEqual([again.fresh.map(({ txHash }) => txHash), again.beyond], [['c'], null]);
    const [a, b] = await unreadableTransactions(database, 10);
    assert.deepEqual([a?.evidence, a?.block, a?.seenAt], ['meta of a is null', '100', minute(1)]);
    assert.deepEqual(b?.addresses, ['deposit']);
    const due = await notes().due(10, minute(5));
    assert.deepEqual(
      due.toSorted((x, y) => (x.key < y.key ? -1 : 1)),
      [
        { key: 'a', addresses: [] },
        { key: 'b', addresses: ['deposit'] },
        { key: 'c', addresses: [] },
      ],
    );
  });

  it('are one for all possible receivers, however many of their events are odd, and whenever each is detected', async () => {
    const odd = (address: string) => ({
      ...unreadable('a', 100, [address]),
      evidence: `the event of ${address} is odd`,
    });
    const { fresh } = await notes().note([odd('deposit 1'), odd('deposit 2'), odd('deposit 1')], minute(1));
    assert.equal(fresh.length, 1);
    assert.deepEqual((await notes().note([odd('deposit 3'), odd('deposit 2')], minute(2))).fresh, []);
    const [a] = await unreadableTransactions(database, 10);
    assert.deepEqual(a?.addresses, ['deposit 1', 'deposit 2', 'deposit 3']);
    for (const address of a.addresses) assert.match(a.evidence, new RegExp(address));
  });

  it('keep their evidence while they fail, and are forgotten with their note: read at last, or dismissed', async () => {
    await notes().note([unreadable('a'), unreadable('b')], minute(1));
    const failures = createFailures(database, { attemptsMax: 1 });
    await failures.failed(worker, 'a', new Error('still null'), minute(2));
    const [parked] = await unreadableTransactions(database, 10);
    assert.deepEqual(
      [parked?.txHash, parked?.evidence, parked?.lastError, parked?.nextAttempt],
      ['a', 'meta of a is null', 'Error: still null', null],
    );
    await failures.succeeded(worker, 'a');
    assert.deepEqual(await listed(), ['b']);
    assert.equal((await notes().note([unreadable('a')], minute(3))).fresh.length, 1);
  });

  it('fill no table in a flood: one deposit takes no room from the others, and the blocks of the rest are named', async () => {
    const flood = await notes().note(many(unreadablePerDepositMax + 5, 'flood', ['flooded']), minute(1));
    assert.equal(flood.fresh.length, unreadablePerDepositMax);
    assert.deepEqual(flood.beyond, { from: 120n, to: 124n });
    assert.equal((await notes().note([unreadable('other', 99, ['other'])], minute(2))).fresh.length, 1);

    const rest = await notes().note(many(unreadableMax, 'more'), minute(3));
    assert.equal((await listed()).length, unreadableMax);
    assert.deepEqual(rest.beyond, { from: 120n, to: 1_099n });
    assert.equal((await unreadBlocks(database))[0]?.transactions, 26n);
  });

  it('remain named if they were omitted, until their blocks were read again from before the note on', async () => {
    await notes().note(many(unreadablePerDepositMax + 5, 'flood', ['flooded']), minute(1));
    await notes().readAgain({ from: 121n, to: 200n }, minute(2));
    await notes().readAgain({ from: 1n, to: 200n }, minute(1));
    assert.equal((await unreadBlocks(database)).length, 1);
    await notes().readAgain({ from: 120n, to: 124n }, minute(2));
    assert.deepEqual(await unreadBlocks(database), []);
  });
});
