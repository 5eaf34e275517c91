import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { type BooksEvent, books } from '../../domain/treasury/booksState.ts';
import type { TreasuryEvent } from '../../domain/treasury/events.ts';
import { treasury } from '../../domain/treasury/state.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { type MovementsOf, movedBetween, movedHashes, movementSums } from '../../queries/treasury.ts';
import { makeAnalytics } from '../../src/postgres/analytics.ts';
import type { Database } from '../../src/postgres/database.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { accepted, processes } from '../support/processes.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const account = 'GTREASURY';
const by = { cause: 'operator:ada', appId: null } as const;

const opened = (block: number, coin: string): BooksEvent => ({
  type: 'BooksOpened',
  data: {
    ...{ chainId: 1500, account, blockNumber: String(block), blockHash: `b${block}` },
    ...{ balances: { coin }, openedAt: minute(0) },
  },
});
const networkClosed: BooksEvent = {
  type: 'BooksNetworkClosed',
  data: { reason: 'networkBegunAnew', network: 'old', last: null, payinAddresses: ['CPAYIN'], closedAt: minute(0) },
};
const adopted = (block: number, amount: string): TreasuryEvent => ({
  type: 'TransactionAdopted',
  data: {
    ...{ hash: `hash of block ${block}`, nonce: null, nextNonce: null, blockNumber: String(block), blockHash: 'b' },
    ...{ time: minute(0), succeeded: true, fee: '0', changes: [{ asset: 'coin', amount, counterparty: null }] },
    ...{ reason: 'by hand', adoptedAt: minute(0) },
  },
});

describe('movements of an account whose network was restarted', () => {
  let database: Database;
  const of = (over: Partial<MovementsOf> = {}): MovementsOf => ({
    ...{ chainId: 1500, account, accounts: [account, 'CPAYIN'], networksClosed: 1, after: 5n, upTo: 1_000n },
    ...over,
  });

  before(async () => {
    const { store, start } = processes();
    const handle = start();
    const instance = `1500-${account}`;
    const inBooks = (event: BooksEvent) => accepted(handle(books, instance, () => [event], by));
    const inTreasury = (event: TreasuryEvent) => accepted(handle(treasury, instance, () => [event], by));
    await inTreasury(adopted(90, '-7'));
    await inBooks(opened(100, '1000'));
    await inTreasury(adopted(150, '-20'));
    await inBooks(networkClosed);
    await inBooks(opened(5, '30'));
    await inTreasury(adopted(7, '-3'));
    database = await freshDatabase();
    for (const set of [workSet, reportsSet]) await fill(database, store, set, [await wholeLog(store)]);
    await makeAnalytics(database, new Map());
  });

  it('are those that were recorded since, although block numbers of the old network are higher', async () => {
    assert.deepEqual(await movedBetween(database, of()), { coin: -3n });
    assert.deepEqual([...(await movedHashes(database, of()))], ['hash of block 7']);
    assert.deepEqual(await movementSums(database, of()), [
      { asset: 'coin', kind: 'adopted', part: 'amount', units: -3n },
    ]);
  });

  it('are unknown while the read models are behind the log', async () => {
    await assert.rejects(movedBetween(database, of({ networksClosed: 2 })), Unavailable);
  });

  it('show analysts the network of each, and balances of each network, which contain once what moved before the books were opened', async () => {
    const moved = await database.query(
      `SELECT network, kind, units::text AS units FROM analytics.treasury_movements
        WHERE kind <> 'networkClosed' ORDER BY network, units::numeric DESC`,
    );
    assert.deepEqual(moved, [
      { network: 0, kind: 'opening', units: '1000' },
      { network: 0, kind: 'adopted', units: '-7' },
      { network: 0, kind: 'adopted', units: '-20' },
      { network: 1, kind: 'opening', units: '30' },
      { network: 1, kind: 'adopted', units: '-3' },
    ]);
    const balances = await database.query(
      `SELECT network, (balance * 10000000)::bigint::text AS units FROM analytics.treasury_balances
        WHERE account = $1 ORDER BY network`,
      [account],
    );
    assert.deepEqual(balances, [
      { network: 0, units: '980' },
      { network: 1, units: '27' },
    ]);
  });
});
