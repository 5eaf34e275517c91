import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { DomainEvent } from '../../domain/decider.ts';
import type { BooksEvent } from '../../domain/treasury/booksState.ts';
import { reportsSet } from '../../projections/sets.ts';
import type { Sql } from '../../projections/sql.ts';
import { floatsBefore, flowsBetween, outflows, rebalancesArrived, rebalancesInTransit } from '../../queries/floats.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { append } from '../support/histories.ts';
import { attemptOf, withdrawal } from '../support/operations.ts';
import * as p from '../support/payments.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import * as r from '../support/rebalances.ts';
import { givenReadModels } from './given.ts';

const tokens = [p.ethereumUsdc, p.baseUsdc].map(({ chain, token }) => ({ chainId: chain.id, address: token.address }));
const long = { from: p.minute(-10_000_000), to: p.minute(10_000_000) } as const;
const opened = (chainId: 1 | 8453 | 1500, address: string, units: string, blockNumber = '1'): BooksEvent => ({
  type: 'BooksOpened',
  data: {
    ...{ chainId, account: p.treasuryAccount, blockNumber, blockHash: p.hashOf('block', 1) },
    ...{ balances: { [address]: units, coin: '5' }, openedAt: p.minute(0) },
  },
});

describe('floats of the treasury', () => {
  const given = givenReadModels();
  const write = async (histories: Readonly<Record<string, readonly DomainEvent[]>>) => {
    for (const [stream, events] of Object.entries(histories)) await append(given.world, stream, events);
    await project();
  };
  const project = async () => {
    await given.project();
    await fill(given.database, given.world.store, reportsSet, [await wholeLog(given.world.store)]);
  };
  const [ethereum, base] = tokens;
  const books = {
    [`books-1-${p.treasuryAccount}`]: [opened(1, ethereum?.address ?? '', '9000000000')],
    [`books-8453-${p.treasuryAccount}`]: [opened(8453, base?.address ?? '', '7000000000')],
  };
  const [sent, arrivedTx] = [attemptOf(withdrawal()), p.hashOf('arrived')];
  /** A manual rebalance: 80 USDC left Ethereum and arrived on Base. */
  const byHand = {
    'operation-r': [
      {
        type: 'OperationOrdered',
        data: withdrawal({
          kind: 'rebalance',
          expects: { chainId: 8453, account: p.treasuryAccount, token: p.baseUsdc.token },
        }),
      },
      { type: 'OperationSigned', data: sent },
      {
        type: 'OperationConfirmed',
        data: {
          attempt: 1,
          hash: sent.hash,
          blockNumber: '9',
          blockHash: p.hashOf('block', 9),
          confirmedAt: p.minute(3),
        },
      },
      { type: 'RebalanceArrived', data: { hash: arrivedTx, amount: '80000000', by: 'ada', arrivedAt: p.minute(4) } },
    ],
  };
  const topUp: DomainEvent = {
    type: 'TopUpSeen',
    data: {
      ...{ asset: base?.address, amount: '80000000', from: null, upTo: '20', seenAt: p.minute(5) },
      transaction: { hash: arrivedTx, blockNumber: '15', blockHash: p.hashOf('block', 15) },
    },
  };
  const held = async () =>
    (await floatsBefore(given.database, tokens, long.to)).map(({ chainId, held: units }) => [chainId, units]);

  it('are the opening and all movements since, with burns and mints', async () => {
    await write({ ...books, 'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed()] });
    assert.deepEqual(await held(), [
      [1, 9_000_000_000n],
      [8453, 6_000_000_000n],
    ]);
    await write({ 'rebalance-a': [r.attested(), r.mintSigned(), r.mintConfirmed()] });
    assert.deepEqual(await held(), [
      [1, 10_000_000_000n],
      [8453, 6_000_000_000n],
    ]);
    assert.deepEqual(await floatsBefore(given.database, tokens, long.from), []);
  });

  it('contain once what the account had moved before its books were opened', async () => {
    const late = opened(8453, base?.address ?? '', '7000000000', '1000000000');
    await write({
      ...books,
      [`books-8453-${p.treasuryAccount}`]: [late],
      'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed()],
    });
    assert.deepEqual(await held(), [
      [1, 9_000_000_000n],
      [8453, 7_000_000_000n],
    ]);
  });

  it('contain payins to a contract, which forwards them to the account with the books', async () => {
    const { chain, token } = p.stellarUsdc;
    const payin = { ...p.payin({ amount: '7.00', in: p.stellarUsdc }), to: 'CPAYIN', memo: null };
    await write({
      [`books-1500-${p.treasuryAccount}`]: [opened(1500, token.address, '90000000')],
      'unmatched-1': [{ type: 'UnmatchedPayinSeen', data: { transfer: payin, seenAt: p.minute(6) } }],
    });
    const rows = await floatsBefore(given.database, [{ chainId: chain.id, address: token.address }], long.to);
    assert.deepEqual(rows, [{ chainId: 1500, held: 160_000_000n }]);
  });

  it('are missing while their books are not open, though transfers are recorded', async () => {
    const openBooks = { [`books-1-${p.treasuryAccount}`]: books[`books-1-${p.treasuryAccount}`] ?? [] };
    await write({ ...openBooks, 'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed()] });
    assert.deepEqual(await held(), [[1, 9_000_000_000n]]);
  });

  it('in transit are those whose burn is recorded and whose mint is not', async () => {
    await write({
      'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed(), r.attested()],
      'rebalance-b': [r.ordered(), r.burnSigned()],
      'rebalance-c': [r.ordered()],
    });
    assert.deepEqual(await rebalancesInTransit(given.database, 9), ['a']);
    assert.deepEqual(await rebalancesArrived(given.database, long.from, 9), []);
    await write({ 'rebalance-a': [r.mintSigned(), r.mintConfirmed()] });
    assert.deepEqual(await rebalancesInTransit(given.database, 9), []);
  });

  it('have arrived when the mint of the treasury or of another account is recorded, until its block leaves the chain', async () => {
    const burned = [r.ordered(), r.burnSigned(), r.burnConfirmed(), r.attested()];
    const place = { hash: p.hashOf('other'), blockHash: p.hashOf('block', 9) };
    const byOther = { ...place, blockNumber: '9', received: r.thousand.toString(), seenAt: p.minute(6) };
    await write({
      'rebalance-a': [...burned, r.mintSigned(), r.mintConfirmed()],
      'rebalance-b': [...burned, { type: 'MintedByOther', data: byOther }],
      'rebalance-c': burned,
    });
    const arrived = async (since = long.from, max = 9) => rebalancesArrived(given.database, since, max);
    assert.deepEqual((await arrived()).toSorted(), ['a', 'b']);
    assert.equal((await arrived(long.from, 1)).length, 1);
    assert.deepEqual(await arrived(long.to), []);
    await write({ 'rebalance-b': [{ type: 'MintByOtherOrphaned', data: { ...place, seenAt: p.minute(7) } }] });
    assert.deepEqual(await arrived(), ['a']);
  });

  it('in transit are found by an index, also by one that the migration adds to existing rows', async () => {
    await write({ 'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed()] });
    const [{ schema } = { schema: '' }] = await given.database.query<{ schema: string }>(
      `SELECT set_name || '_' || generation AS schema FROM ops.projections WHERE set_name = 'reports' AND status = 'active'`,
    );
    await given.database.query(
      `INSERT INTO ${schema}.treasury_movements (chain_id, account, tx_hash, asset, part, kind, amount, reference, block_number, position, at)
       SELECT 1, 'account', n::text, 'token', '1', 'payout', -1, 'payment-' || n || '/payout', n, n, now() FROM generate_series(1, 20000) AS n`,
    );
    const file = new URL('../../projections/migrations/0019_burns_in_transit.sql', import.meta.url);
    await given.database.query(readFileSync(file, 'utf8'));
    await given.database.query(`ANALYZE ${schema}.treasury_movements`);
    let plan = '';
    const explaining: Sql = {
      async query<R>(text: string, values?: readonly unknown[]) {
        plan += JSON.stringify(await given.database.query(`EXPLAIN ${text}`, values));
        return given.database.query<R>(text, values);
      },
    };
    assert.deepEqual(await rebalancesInTransit(explaining, 9), ['a']);
    assert.match(plan, /treasury_movements_in_transit/);
    assert.doesNotMatch(plan, /Seq Scan/);
    plan = '';
    assert.deepEqual(await rebalancesArrived(explaining, long.from, 9), []);
    assert.match(plan, /treasury_movements_in_transit/);
    assert.doesNotMatch(plan, /Seq Scan/);
    const { indexes } = await ddlOf('reports');
    assert.match(indexes, /treasury_movements_in_transit/);
  });

  it('flow by payments: movements between our own accounts are omitted', async () => {
    const hand = { [`books-8453-${p.treasuryAccount}`]: [...(books[`books-8453-${p.treasuryAccount}`] ?? []), topUp] };
    await write({ ...books, ...hand, ...byHand, 'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed()] });
    await given.payments(p.done);
    await project();
    const flows = await flowsBetween(given.database, tokens, long);
    const said = flows.map(({ chainId, amount, isDemand }) => [chainId, amount, isDemand]);
    assert.deepEqual(said, [
      [1, 9_000_000_000n, false],
      [8453, 7_000_000_000n, false],
      [1, -10_000_000n, true],
    ]);
    const [out, ...others] = await outflows(given.database, tokens, { day: long.from, week: long.from });
    assert.deepEqual([out, others], [{ chainId: 1, day: 10_000_000n, week: 10_000_000n }, []]);
    assert.deepEqual(await outflows(given.database, tokens, { day: long.to, week: long.to }), []);
  });
});
