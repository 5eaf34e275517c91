import assert from 'node:assert/strict';
import { closeOldNetwork } from '../../commands/networkBegunAnew.ts';
import { openBooks } from '../../domain/treasury/books.ts';
import { books } from '../../domain/treasury/booksState.ts';
import { openTreasury } from '../../domain/treasury/nonces.ts';
import { treasury } from '../../domain/treasury/state.ts';
import { accepted, Crashed, crashAt, processes } from '../support/processes.ts';

const { signal } = new AbortController();
const by = { cause: 'operator:ada', appId: null } as const;
const old = { chainId: 1500, account: 'GMAIN', payinAddresses: ['GMAIN', 'CPAYIN'], network: 'old' } as const;

/** A treasury with a channel account on Stellar, and an account on Base. */
async function given() {
  const { store, clock, start, typesIn } = processes();
  const handle = start();
  const now = clock.now();
  for (const [chainId, account] of [
    [1500, 'GMAIN'],
    [1500, 'GCHANNEL'],
    [8453, 'GMAIN'],
  ] as const) {
    const at = { chainId, account, blockNumber: 9n, blockHash: 'b9', balances: {}, networksClosed: 0, now };
    await accepted(handle(books, `${chainId}-${account}`, (state) => openBooks(state, at), by));
    const opening = { chainId, account, minedNonce: 7n, now };
    await accepted(handle(treasury, `${chainId}-${account}`, (state) => openTreasury(state, opening), by));
  }
  const close = (point?: string) =>
    accepted(closeOldNetwork({ handle: start(point ? { crash: crashAt(point) } : {}), clock, store }, old, by, signal));
  return { store, close, typesIn };
}

describe('closing the network of a chain that was restarted', () => {
  it('closes books and nonces of all accounts of the chain, and of no other chain', async () => {
    const { close, typesIn } = await given();
    assert.deepEqual(await close(), { books: ['GMAIN', 'GCHANNEL'], treasury: ['GMAIN', 'GCHANNEL'] });
    for (const account of ['GMAIN', 'GCHANNEL']) {
      assert.deepEqual(await typesIn(`books-1500-${account}`), ['BooksOpened', 'BooksNetworkClosed']);
      assert.deepEqual(await typesIn(`treasury-1500-${account}`), ['TreasuryOpened', 'TreasuryNetworkClosed']);
    }
    assert.deepEqual(await typesIn('books-8453-GMAIN'), ['BooksOpened']);
    assert.deepEqual(await typesIn('treasury-8453-GMAIN'), ['TreasuryOpened']);
  });

  it('names the addresses whose money was the treasury account’s', async () => {
    const { store, close } = await given();
    await close();
    const addressesOf = async (account: string) =>
      (await store.read(`books-1500-${account}`)).map(
        ({ data }) => (data as { payinAddresses?: unknown }).payinAddresses,
      );
    assert.deepEqual(await addressesOf('GMAIN'), [undefined, ['CPAYIN']]);
    assert.deepEqual(await addressesOf('GCHANNEL'), [undefined, []]);
  });

  it('closes each once, wherever it dies and however often it runs', async () => {
    for (const point of ['BooksNetworkClosed', 'TreasuryNetworkClosed'])
      for (const moment of ['beforeAppend', 'afterAppend']) {
        const { close, typesIn } = await given();
        await assert.rejects(close(`${point}.${moment}`), Crashed);
        await close();
        assert.deepEqual(await close(), { books: [], treasury: [] });
        for (const account of ['GMAIN', 'GCHANNEL']) {
          assert.deepEqual(await typesIn(`books-1500-${account}`), ['BooksOpened', 'BooksNetworkClosed']);
          assert.deepEqual(await typesIn(`treasury-1500-${account}`), ['TreasuryOpened', 'TreasuryNetworkClosed']);
        }
      }
  });
});
