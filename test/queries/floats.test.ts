import assert from 'node:assert/strict';
import type { DomainEvent } from '../../domain/decider.ts';
import type { BooksEvent } from '../../domain/treasury/booksEvents.ts';
import { reportsSet } from '../../projections/sets.ts';
import { floatsBefore, flowsBetween, outflows, rebalancesInTransit } from '../../queries/floats.ts';
import { append } from '../support/histories.ts';
import { attemptOf, withdrawal } from '../support/operations.ts';
import * as p from '../support/payments.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import * as r from '../support/rebalances.ts';
import { givenReadModels } from './given.ts';

const tokens = [p.ethereumUsdc, p.baseUsdc].map(({ chain, token }) => ({ chainId: chain.id, address: token.address }));
const long = { from: p.minute(-10_000_000), to: p.minute(10_000_000) } as const;
const opened = (chainId: 1 | 8453, address: string, units: string): BooksEvent => ({
  type: 'BooksOpened',
  data: {
    ...{ chainId, account: p.treasuryAccount, blockNumber: '1', blockHash: p.hashOf('block', 1) },
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

  it('in transit are those whose burn is recorded and whose mint is not', async () => {
    await write({
      'rebalance-a': [r.ordered(), r.burnSigned(), r.burnConfirmed(), r.attested()],
      'rebalance-b': [r.ordered(), r.burnSigned()],
      'rebalance-c': [r.ordered()],
    });
    assert.deepEqual(await rebalancesInTransit(given.database, 9), ['a']);
    await write({ 'rebalance-a': [r.mintSigned(), r.mintConfirmed()] });
    assert.deepEqual(await rebalancesInTransit(given.database, 9), []);
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
