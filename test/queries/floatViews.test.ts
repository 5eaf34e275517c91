import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { type DomainEvent, fold } from '../../domain/decider.ts';
import type { CctpOrdered } from '../../domain/rebalance/events.ts';
import { policyName } from '../../domain/rebalance/floatPlan.ts';
import { rebalance } from '../../domain/rebalance/rebalance.ts';
import type { BooksEvent } from '../../domain/treasury/booksState.ts';
import { reportsSet } from '../../projections/sets.ts';
import { arrivingAt, arrivingMoney, readFloats } from '../../queries/floatViews.ts';
import { append } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import * as r from '../support/rebalances.ts';
import { sendOrder, sendSigned } from '../support/usdt0.ts';
import { givenReadModels } from './given.ts';

const opened = (chainId: 1 | 8453, address: string, units: string): BooksEvent => ({
  type: 'BooksOpened',
  data: {
    ...{ chainId, account: p.treasuryAccount, blockNumber: '1', blockHash: p.hashOf('block', 1) },
    ...{ balances: { [address]: units, coin: '5' }, openedAt: p.minute(0) },
  },
});

describe('floats as the policy sees them', () => {
  const given = givenReadModels();
  const write = async (histories: Readonly<Record<string, readonly DomainEvent[]>>) => {
    for (const [stream, events] of Object.entries(histories)) await append(given.world, stream, events);
    await given.project();
    await fill(given.database, given.world.store, reportsSet, [await wholeLog(given.world.store)]);
  };
  const books = {
    [`books-1-${p.treasuryAccount}`]: [opened(1, p.ethereumUsdc.token.address, '9000000000')],
    [`books-8453-${p.treasuryAccount}`]: [opened(8453, p.baseUsdc.token.address, '7000000000')],
  };
  const reads = () => ({
    sql: given.database,
    rebalanceOf: (id: string) => currentState(given.world.handle, rebalance, id),
  });
  const read = async () => {
    const { views, open } = await readFloats(reads(), p.minute(60));
    const rows = views.map(({ chainId, float, reserved, inTransit }) => [
      chainId,
      ...[float, reserved, inTransit].map((units) => Number(units) / 1e6),
    ]);
    return { rows, open: open.map(({ id }) => id) };
  };
  const order: CctpOrdered = r.move({ by: policyName, approvals: 1 });

  it('reserve what open payments will pay out, also before they are paid', async () => {
    await write({ ...books, 'payment-0198f3c2-0000-8000-8000-000000000001': [p.created()] });
    assert.deepEqual(await read(), {
      rows: [
        [1, 9_000, 10, 0],
        [8453, 7_000, 0, 0],
      ],
      open: [],
    });
  });

  it('count no USDT: the policy moves USDC', () => {
    for (const events of [[r.ordered(sendOrder())], [r.ordered(sendOrder()), sendSigned(), r.burnConfirmed()]]) {
      const state = fold(rebalance, events);
      assert.equal(state && arrivingAt(1, state), 0n);
    }
    const usdc = fold(rebalance, [r.ordered()]);
    assert.equal(usdc && arrivingAt(1, usdc), 999_800_000n);
  });

  it('count a move from its order on: its source has it no longer, its destination can expect it', async () => {
    const seen = [];
    const steps: readonly DomainEvent[][] = [
      [r.ordered(order)],
      [{ type: 'RebalanceApproved', data: { by: 'ada', approvedAt: p.minute(2) } }, r.burnSigned(order)],
      [r.burnConfirmed()],
      [r.attested(order, { feeExecuted: 50_000n })],
      [r.mintSigned(order, 1, '999950000'), r.mintConfirmed('999950000')],
    ];
    await write(books);
    for (const events of steps) {
      await write({ 'rebalance-usdc-1': events });
      seen.push(await read());
    }
    const ahead = {
      rows: [
        [1, 9_000, 0, 999.8],
        [8453, 7_000, 1_000, 0],
      ],
      open: ['usdc-1'],
    };
    assert.deepEqual(seen, [
      ahead,
      ahead,
      {
        rows: [
          [1, 9_000, 0, 999.8],
          [8453, 6_000, 0, 0],
        ],
        open: ['usdc-1'],
      },
      {
        rows: [
          [1, 9_000, 0, 999.95],
          [8453, 6_000, 0, 0],
        ],
        open: ['usdc-1'],
      },
      {
        rows: [
          [1, 9_999.95, 0, 0],
          [8453, 6_000, 0, 0],
        ],
        open: [],
      },
    ]);
  });

  it('are expected from the burn until the mint is signed, without the highest fee at least', async () => {
    const seen: unknown[] = [];
    const steps: readonly DomainEvent[][] = [
      [
        r.ordered(order),
        { type: 'RebalanceApproved', data: { by: 'ada', approvedAt: p.minute(2) } },
        r.burnSigned(order),
      ],
      [r.burnConfirmed()],
      [r.attested(order, { feeExecuted: 50_000n })],
      [r.mintSigned(order, 1, '999950000')],
      [r.mintConfirmed('999950000')],
    ];
    await write(books);
    for (const events of steps) {
      await write({ 'rebalance-usdc-1': events });
      const all = await arrivingMoney(reads());
      seen.push(all.map(({ chainId, amount, expectedAt }) => [chainId, amount, expectedAt]));
    }
    assert.deepEqual(seen, [[], [[1, 999_800_000n, p.minute(22)]], [[1, 999_950_000n, p.minute(4)]], [], []]);
  });

  it('expect nothing of a move that was called off', async () => {
    const calledOff: DomainEvent = {
      type: 'RebalanceCalledOff',
      data: { reason: 'not now', by: 'ada', calledOffAt: p.minute(3) },
    };
    await write({ ...books, 'rebalance-usdc-1': [r.ordered(order), calledOff] });
    assert.deepEqual(await read(), {
      rows: [
        [1, 9_000, 0, 0],
        [8453, 7_000, 0, 0],
      ],
      open: [],
    });
  });
});
