import assert from 'node:assert/strict';
import { type Decision, isRefusal } from '../../../domain/decider.ts';
import {
  type BooksComparisonInput,
  closeNetwork,
  explainDifference,
  type Opening,
  openBooks,
  recordLook,
  type Unrecorded,
} from '../../../domain/treasury/books.ts';
import { type BooksEvent, type BooksState, books, openIn } from '../../../domain/treasury/booksState.ts';
import { minute } from '../../support/payments.ts';

const usdc = '0xUSDC';
const block = (number: bigint) => ({ blockNumber: number, blockHash: `0xb${number}` });
const opening = { coin: 1_000n, [usdc]: 500n };

const opened = then(null, (state) =>
  openBooks(state, {
    chainId: 8453,
    account: '0xA',
    ...block(100n),
    balances: opening,
    now: minute(0),
    networksClosed: 0,
  }),
);

function then(state: BooksState, decide: (state: BooksState) => Decision<BooksEvent>): BooksState {
  return decided(state, decide).reduce(books.evolve, state);
}

function decided(state: BooksState, decide: (state: BooksState) => Decision<BooksEvent>): readonly BooksEvent[] {
  const decision = decide(state);
  if (isRefusal(decision)) assert.fail(decision.message);
  return decision;
}

/** A reading at block 120 without news, unless overridden. */
const look = (
  over: Partial<BooksComparisonInput> & { readonly balances?: Record<string, bigint> } = {},
): BooksComparisonInput => ({
  networksClosed: 0,
  standing: { ...block(120n), balances: over.balances ?? opening },
  moved: {},
  unrecorded: [],
  listsCoin: true,
  payinTokens: null,
  patienceOver: false,
  closingDue: true,
  now: minute(20),
  ...over,
});

const strange = (over: Partial<Unrecorded> = {}): Unrecorded => ({
  ...{ txHash: '0x01', ...block(110n), outgoing: false, changes: { [usdc]: 50n }, from: '0xB', fromDeposit: false },
  ...over,
});

const typesAfter = (state: BooksState, at: BooksComparisonInput) =>
  decided(state, (now) => recordLook(now, at)).map(({ type }) => type);

describe('the books of an account', () => {
  it('open once, and are checked only then', () => {
    assert.ok(isRefusal(recordLook(null, look())));
    assert.deepEqual(
      decided(opened, (state) => openBooks(state, {} as never)),
      [],
    );
  });

  it('close when recorded transfers add up to the account’s balance, to the last unit', () => {
    const moved = { coin: -7n, [usdc]: -20n };
    const balances = { coin: 993n, [usdc]: 480n };
    assert.deepEqual(typesAfter(opened, look({ moved, balances })), ['BooksClosed']);
    assert.deepEqual(typesAfter(opened, look({ moved, balances: { ...balances, coin: 992n } })), []);
  });

  it('record nothing again while nothing has changed, nor more often than they are due', () => {
    const closed = then(opened, (state) => recordLook(state, look()));
    const later = { standing: { ...block(130n), balances: opening } };
    assert.deepEqual(typesAfter(closed, look(later)), []);
    const moved = { moved: { coin: -1n }, standing: { ...block(130n), balances: { ...opening, coin: 999n } } };
    assert.deepEqual(typesAfter(closed, look({ ...moved, closingDue: false })), []);
    assert.deepEqual(typesAfter(closed, look(moved)), ['BooksClosed']);
    assert.deepEqual(typesAfter(closed, look()), []);
  });

  it('record money from outside as a top-up, once, with its transaction', () => {
    const found = look({ unrecorded: [strange()], balances: { ...opening, [usdc]: 550n } });
    assert.deepEqual(typesAfter(opened, found), ['TopUpSeen', 'BooksClosed']);
    const seen = decided(opened, (state) => recordLook(state, { ...found, closingDue: false })).slice(0, 1);
    const state = seen.reduce(books.evolve, opened);
    assert.deepEqual(seen[0]?.data, {
      ...{ asset: usdc, amount: '50', from: '0xB', upTo: '120', seenAt: minute(20) },
      transaction: { hash: '0x01', blockNumber: '110', blockHash: '0xb110' },
    });
    assert.deepEqual(typesAfter(state, found), ['BooksClosed']);
  });

  it('state when it came from one of our deposits: anybody may empty those', () => {
    const found = look({ unrecorded: [strange({ fromDeposit: true })], balances: { ...opening, [usdc]: 550n } });
    const [seen] = decided(opened, (state) => recordLook(state, found));
    assert.equal(seen?.type === 'TopUpSeen' && seen.data.fromDeposit, true);
  });

  describe('on chains that do not list received coin', () => {
    const more = { listsCoin: false, balances: { ...opening, coin: 1_030n } };
    it('record it by the balances alone', () => {
      const [seen] = decided(opened, (state) => recordLook(state, look(more)));
      assert.deepEqual(seen?.type === 'TopUpSeen' && [seen.data.amount, seen.data.transaction], ['30', null]);
    });
    it('not while the account has unrecorded outgoing transfers: these may still explain it', () => {
      const sent = strange({ outgoing: true, changes: { coin: -5n } });
      assert.deepEqual(typesAfter(opened, look({ ...more, unrecorded: [sent] })), []);
    });
    it('and only once its history was searched', () => {
      assert.deepEqual(typesAfter(opened, look({ ...more, unrecorded: null })), []);
    });
  });

  describe('remain open, which is recorded once it has lasted a while, and never closed in silence', () => {
    const gone = { balances: { ...opening, coin: 990n } };
    const sent = strange({ txHash: '0x02', outgoing: true, changes: { coin: -10n } });
    it('when money left without an explanation', () => {
      const at = look({ ...gone, unrecorded: [sent] });
      assert.deepEqual(typesAfter(opened, at), []);
      const [found, ...others] = decided(opened, (state) => recordLook(state, { ...at, patienceOver: true }));
      assert.ok(found?.type === 'BooksFoundOpen' && others.length === 0);
      assert.deepEqual(found.data.differences, { coin: '-10' });
      assert.match(found.data.evidence, /sent 0x02 in block 110: -10 of coin/);
      const open = books.evolve(opened, found);
      const again = look({ ...gone, unrecorded: [sent], patienceOver: true });
      assert.deepEqual(typesAfter(open, again), []);
    });

    it('when others took it, whatever they gave for it', () => {
      const swapped = strange({ changes: { coin: -10n, [usdc]: 3n } });
      const balances = { coin: 990n, [usdc]: 503n };
      const at = look({ balances, unrecorded: [swapped], patienceOver: true });
      assert.deepEqual(typesAfter(opened, at), ['BooksFoundOpen']);
    });

    it('until an operator explains it, or it is recorded after all', () => {
      const open = then(opened, (state) =>
        recordLook(state, look({ ...gone, unrecorded: [sent], patienceOver: true })),
      );
      const later = (over: Partial<BooksComparisonInput> = {}) =>
        look({ standing: { ...block(130n), balances: gone.balances }, closingDue: false, ...over });
      assert.deepEqual(typesAfter(open, later({ moved: { coin: -10n } })), ['BooksClosed']);
      const explained = then(open, (state) => explainDifference(state, 'by hand', minute(30)));
      assert.deepEqual(typesAfter(explained, later({ closingDue: true })), ['BooksClosed']);
      assert.ok(isRefusal(explainDifference(explained, 'again', minute(31))));
    });
  });

  describe('for an account that receives payins itself', () => {
    const payinTokens = { [usdc]: 2 };
    const came = (units: bigint, over: Partial<BooksComparisonInput> = {}) =>
      look({
        ...{ payinTokens, unrecorded: [strange({ changes: { [usdc]: units } })] },
        balances: { ...opening, [usdc]: 500n + units },
        ...over,
      });
    it('wait for money to be recorded as a payin, or as unmatched', () => {
      assert.deepEqual(typesAfter(opened, came(50n)), []);
      assert.deepEqual(typesAfter(opened, came(50n, { patienceOver: true })), ['BooksFoundOpen']);
    });
    it('record amounts too small to be unmatched money, after a while', () => {
      const dust = { payinTokens: { [usdc]: 6 } };
      assert.deepEqual(typesAfter(opened, came(9_999n, dust)), []);
      const over = { ...dust, patienceOver: true };
      assert.deepEqual(typesAfter(opened, came(9_999n, over)), ['TopUpSeen', 'BooksClosed']);
    });
  });

  it('record a flood of dust in one sum, and do not record it again', () => {
    const dust = Array.from({ length: 500 }, (_, at) =>
      strange({ txHash: `0x${at}`, changes: { [usdc]: BigInt(at + 1) } }),
    );
    const sum = dust.reduce((all, { changes }) => all + (changes[usdc] ?? 0n), 0n);
    const flooded = look({ unrecorded: dust, balances: { ...opening, coin: 999n, [usdc]: 500n + sum } });
    const seen = decided(opened, (state) => recordLook(state, flooded));
    assert.equal(seen.length, 21);
    const counts = seen.map(({ data }) => ('count' in data ? data.count : 1));
    assert.equal(
      counts.reduce((all = 0, each = 0) => all + each, 0),
      500,
    );
    const state = seen.reduce(books.evolve, opened);
    assert.deepEqual(typesAfter(state, { ...flooded, standing: { ...flooded.standing, ...block(125n) } }), []);
  });

  describe('when the network of their chain is restarted', () => {
    const end = { network: 'old', payinAddresses: ['C1'], now: minute(60) };
    const ended = then(opened, (state) => closeNetwork(state, end));
    const fresh = { coin: 3n };
    const reopening = {
      ...{ chainId: 8453, account: '0xA', ...block(5n), balances: fresh, now: minute(70), networksClosed: 1 },
    } as const satisfies Opening;

    it('close with the reason, the old network and the last known balances', () => {
      const moved = { coin: -7n };
      const balances = { ...opening, coin: 993n };
      const closed = then(opened, (state) => recordLook(state, look({ moved, balances })));
      const [event, ...others] = decided(closed, (state) => closeNetwork(state, end));
      assert.equal(others.length, 0);
      assert.deepEqual(event, {
        type: 'BooksNetworkClosed',
        data: {
          reason: 'networkBegunAnew',
          network: 'old',
          last: { blockNumber: '120', blockHash: '0xb120', balances: { coin: '993', [usdc]: '500' } },
          payinAddresses: ['C1'],
          closedAt: minute(60),
        },
      });
    });

    it('close once, however often this is ordered', () => {
      assert.deepEqual(
        decided(ended, (state) => closeNetwork(state, end)),
        [],
      );
    });

    it('record where the old network ends even if they were never opened', () => {
      const [event] = decided(null, (state) => closeNetwork(state, end));
      assert.equal(event?.type === 'BooksNetworkClosed' && event.data.last, null);
    });

    it('are closed until they open at a balance of the new network', () => {
      assert.equal(openIn(ended), null);
      assert.ok(isRefusal(recordLook(ended, look({ networksClosed: 1 }))));
      assert.ok(isRefusal(explainDifference(ended, 'by hand', minute(61))));
      const again = openIn(then(ended, (state) => openBooks(state, reopening)));
      assert.deepEqual([again?.own, again?.opened.blockNumber, again?.networksClosed], [fresh, 5n, 1]);
    });

    it('refuse a balance that was read before they were closed', () => {
      assert.ok(isRefusal(openBooks(ended, { ...reopening, ...block(130n), networksClosed: 0 })));
    });

    it('refuse a comparison from before they were closed, also once they are open again', () => {
      const again = then(ended, (state) => openBooks(state, reopening));
      const stale = look({ unrecorded: [strange()], balances: { ...opening, [usdc]: 550n } });
      assert.ok(isRefusal(recordLook(again, stale)));
      const now = { networksClosed: 1, standing: { ...block(6n), balances: fresh } };
      assert.deepEqual(typesAfter(again, look(now)), ['BooksClosed']);
    });

    it('close again when the network is restarted once more', () => {
      const again = then(ended, (state) => openBooks(state, reopening));
      const twice = then(again, (state) => closeNetwork(state, end));
      assert.equal(twice?.networksClosed, 2);
    });
  });
});
