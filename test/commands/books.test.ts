import assert from 'node:assert/strict';
import type { AccountHistory, HistoryPage } from '../../commands/accountHistory.ts';
import { type BooksAccount, type BooksDeps, loadBooks, openBooksOf, recordLookAt } from '../../commands/books.ts';
import { openIn } from '../../domain/treasury/booksState.ts';
import { compareBooks } from '../../tools/treasury/books.ts';
import { minute } from '../support/payments.ts';
import { accepted, Crashed, crashAt, processes } from '../support/processes.ts';

const { signal } = new AbortController();
const of: BooksAccount = { chainId: 8453, account: '0xA', payinAddresses: [] };
const standing = (block: bigint, coin: bigint) => ({
  ...{ blockNumber: block, blockHash: `0xb${block}`, time: minute(0), balances: { coin } },
});
const gift = (nth: number) => ({
  ...{ txHash: `0x${nth}`, blockNumber: BigInt(nth), blockHash: `0xb${nth}`, time: minute(0), nonce: null },
  ...{ outgoing: false, succeeded: true, fee: 0n },
  changes: [{ asset: 'coin', amount: 5n, counterparty: nth === 3 ? '0xDeposit' : '0xB' }],
});

/** Pages of one transaction each. */
const paged: AccountHistory['transactions'] = async ({ from, to, after, except }): Promise<HistoryPage> => {
  const at = Number(after ?? from);
  const shown = [2, 3, 4].filter((nth) => nth === at && !except?.has(`0x${nth}`)).map(gift);
  return { transactions: shown, next: BigInt(at) < to ? String(at + 1) : null, complete: true };
};

async function opened() {
  const { store, clock, start } = processes();
  const history = { chainId: 8453, listsCoin: true, transactions: paged } as AccountHistory;
  const recorded = {
    moved: async () => ({}),
    hashes: async () => new Set<string>(),
    deposits: async (asked: readonly string[]) => new Set(asked.filter((each) => each === '0xDeposit')),
  };
  const process = (more: Parameters<typeof start>[0] = {}): BooksDeps => ({
    ...{ handle: start(more), clock, history, recorded },
  });
  const deps = process();
  await accepted(openBooksOf(deps, of, { standing: standing(1n, 100n), networksClosed: 0 }));
  const look = async (by: BooksDeps = process(), coin = 115n) => {
    const state = openIn(await loadBooks(by, of)) ?? assert.fail();
    const how = { search: true, patienceOver: false, closingDue: true };
    return recordLookAt(by, of, { state, standing: standing(5n, coin), ...how }, signal);
  };
  const events = async () => (await store.read('books-8453-0xA')).slice(1);
  return { process, look, events, history, deps };
}

describe('a check of the books', () => {
  it('reads the history page by page, and recognizes our deposits among the senders', async () => {
    const { look, events } = await opened();
    assert.deepEqual((await look()).rest, {});
    const seen = (await events()).map(({ type, data }) => [type, (data as { fromDeposit?: true }).fromDeposit]);
    assert.deepEqual(seen, [
      ['TopUpSeen', undefined],
      ['TopUpSeen', true],
      ['TopUpSeen', undefined],
      ['BooksClosed', undefined],
    ]);
  });

  it('counts a top-up once when two processes check at the same moment, or one dies', async () => {
    const { look, events } = await opened();
    await Promise.all([look(), look()]);
    await look();
    assert.equal((await events()).length, 4);

    const other = await opened();
    const appended = 'TopUpSeen+TopUpSeen+TopUpSeen+BooksClosed';
    const dying = (point: string) => other.look(other.process({ crash: crashAt(`${appended}.${point}`) }));
    await assert.rejects(dying('beforeAppend'), Crashed);
    await assert.rejects(dying('afterAppend'), Crashed);
    await other.look();
    assert.equal((await other.events()).length, 4);
  });

  it('reports to an operator the money in flight: the books close with it, and without it they do not', async () => {
    const { deps, history } = await opened();
    const sent = {
      ...gift(2),
      outgoing: true,
      fee: 1n,
      changes: [{ asset: 'coin', amount: -9n, counterparty: '0xB' }],
    };
    const shown = {
      ...history,
      standing: async () => standing(5n, 90n),
      transactions: async () => ({ transactions: [sent], next: null, complete: true }),
    };
    const beside = { ...deps, history: shown };
    const ours = await compareBooks(beside, of, async (hashes) => new Set(hashes), signal);
    assert.deepEqual([ours?.difference, ours?.underWay], [{}, { coin: -10n }]);
    const strange = await compareBooks(beside, of, async () => new Set(), signal);
    assert.deepEqual(strange?.difference, { coin: -10n });
    assert.match(strange?.evidence ?? '', /sent 0x2 in block 2: -10 of coin/);
  });
});
