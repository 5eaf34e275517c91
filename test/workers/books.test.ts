import assert from 'node:assert/strict';
import type { AccountBalances, AccountHistory, AccountTransaction } from '../../commands/accountHistory.ts';
import type { BlocksAfter, BooksAccount } from '../../commands/books.ts';
import { minute_ms, plus } from '../../domain/time.ts';
import { closeNetwork } from '../../domain/treasury/books.ts';
import { books } from '../../domain/treasury/booksState.ts';
import { booksWorker } from '../../src/workers/treasury/books.ts';
import { minute } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const of: BooksAccount = { chainId: 8453, account: '0xA', payinAddresses: [] };
const { signal } = new AbortController();

/** A chain with scripted answers, and a worker whose clock the spec sets. */
function given() {
  const { store, clock, time, start } = processes();
  const chain = {
    balance: 100n,
    block: 1n,
    finality: 'final' as 'final' | 'open' | 'gone',
    transactions: [] as AccountTransaction[],
    moved: 0n,
    calls: 0,
  };
  const history: AccountHistory = {
    chainId: 8453,
    listsCoin: true,
    transactions: async () => ({ transactions: chain.transactions, next: null, complete: true }),
    async standing(): Promise<AccountBalances> {
      chain.calls += 1;
      chain.block += 1n;
      const { block: blockNumber, balance } = chain;
      return { blockNumber, blockHash: `0xb${blockNumber}`, time: clock.now(), balances: { coin: balance } };
    },
    async finality() {
      chain.calls += 1;
      return chain.finality;
    },
  };
  const alarms: string[] = [];
  const recorded = {
    moved: async (_: BooksAccount, { networksClosed }: BlocksAfter) => ({
      coin: networksClosed === 0 ? chain.moved : 0n,
    }),
    hashes: async () => new Set<string>(),
    deposits: async () => new Set<string>(),
  };
  const begin = () =>
    booksWorker(
      {
        ...{ handle: start(), clock, history, recorded },
        accounts: async () => [of],
        alarm: (reason, _, message) => alarms.push(`${reason}: ${message}`),
      },
      8453,
    );
  let worker = begin();
  const round = async (minutes = 0) => {
    time.now = plus(time.now, minutes * minute_ms);
    for (const due of await worker.due(10, time.now)) await worker.act(due, signal);
  };
  const types = async () => (await store.read('books-8453-0xA')).map(({ type }) => type);
  const restart = () => {
    worker = begin();
  };
  const beginAnew = async () => {
    Object.assign(chain, { balance: 30n, block: 0n });
    const end = { network: 'old', payinAddresses: [], now: clock.now() };
    const by = { cause: 'operator:ada', appId: null } as const;
    await accepted(start()(books, '8453-0xA', (state) => closeNetwork(state, end), by));
  };
  return { chain, alarms, round, types, restart, beginAnew };
}

const sent: AccountTransaction = {
  ...{ txHash: '0x01', blockNumber: 2n, blockHash: '0xb2', time: minute(0), nonce: 7n, outgoing: true },
  ...{ succeeded: true, fee: 1n, changes: [{ asset: 'coin', amount: -9n, counterparty: '0xB' }] },
};

describe('the worker of the books', () => {
  it('opens them at a final block, and not at one that may be undone', async () => {
    const { chain, round, types, restart } = given();
    chain.finality = 'open';
    await round();
    chain.finality = 'gone';
    await round(2);
    assert.deepEqual(await types(), []);
    restart();
    chain.finality = 'final';
    await round();
    await round(20);
    assert.deepEqual(await types(), ['BooksOpened', 'BooksClosed']);
  });

  it('queries the chain only once an hour as long as nothing moved', async () => {
    const { chain, round } = given();
    await round();
    await round(10);
    const { calls } = chain;
    for (let looks = 0; looks < 4; looks += 1) await round(10);
    assert.equal(chain.calls, calls);
    chain.moved = -5n;
    chain.balance = 95n;
    await round(10);
    assert.ok(chain.calls > calls);
  });

  it('waits for final transfers to be recorded before it searches, and closes then', async () => {
    const { chain, round, types, alarms } = given();
    await round();
    chain.balance = 90n;
    await round(61);
    assert.deepEqual(await types(), ['BooksOpened']);
    chain.moved = -10n;
    await round(2);
    assert.deepEqual([await types(), alarms], [['BooksOpened', 'BooksClosed'], []]);
  });

  it('raises an alarm when an outflow remains unexplained for half an hour, repeatedly, also after a restart', async () => {
    const { chain, round, types, alarms, restart } = given();
    await round();
    chain.balance = 90n;
    chain.transactions = [sent];
    await round(61);
    for (let looks = 0; looks < 6; looks += 1) await round(10);
    assert.deepEqual(await types(), ['BooksOpened', 'BooksFoundOpen']);
    assert.match(alarms[0] ?? '', /^booksOpen: the account holds -10 of coin besides what the books say/);
    const { length } = alarms;
    restart();
    for (let looks = 0; looks < 3; looks += 1) await round(10);
    assert.ok(alarms.length > length);
    assert.deepEqual(await types(), ['BooksOpened', 'BooksFoundOpen']);
  });

  it('records money from outside as a top-up at once', async () => {
    const { chain, round, types, alarms } = given();
    await round();
    chain.balance = 130n;
    const gift = { asset: 'coin', amount: 30n, counterparty: '0xB' };
    chain.transactions = [{ ...sent, outgoing: false, nonce: null, fee: 0n, changes: [gift] }];
    await round(61);
    await round(2);
    assert.deepEqual([await types(), alarms], [['BooksOpened', 'TopUpSeen', 'BooksClosed'], []]);
  });

  describe('on a network that is restarted', () => {
    it('opens them again at the new network’s balance, and counts no movement of the old network', async () => {
      const { chain, round, types, alarms, beginAnew } = given();
      await round();
      chain.moved = -10n;
      chain.balance = 90n;
      await round(61);
      await beginAnew();
      for (let looks = 0; looks < 8; looks += 1) await round(10);
      const expected = ['BooksOpened', 'BooksClosed', 'BooksNetworkClosed', 'BooksOpened', 'BooksClosed'];
      assert.deepEqual([await types(), alarms], [expected, []]);
    });

    it('opens them at no balance that was read on the old network', async () => {
      const { chain, round, types, beginAnew } = given();
      chain.finality = 'open';
      await round();
      await beginAnew();
      chain.finality = 'final';
      const calls = chain.calls;
      await round(3);
      assert.deepEqual(await types(), ['BooksNetworkClosed', 'BooksOpened']);
      assert.ok(chain.calls > calls + 1, 'the balance is read again');
    });
  });
});
