/** What an audit stands on: the raw log, the seals that are believed, and every configured chain. */

import { chainOf } from '../domain/chains.ts';
import { epochMs } from '../domain/time.ts';
import type { OpenChain } from '../src/chains/family.ts';
import type { Trust } from '../src/store/sealed.ts';
import { booksAccountsOf } from '../src/workers/treasury/roles_books.ts';
import type { Witness } from './audit/chains.ts';
import type { Believed } from './audit/entry.ts';

/** Begins so much earlier than the service says: clocks differ. */
const earlier_ms = 10 * 60_000;

export const believedBy = ({ seals, begun, former }: Trust): Believed => ({
  begun,
  sealsAt: (position) => former.find(({ until }) => position <= until)?.seals ?? seals,
});

/** The chain's nodes, asked afresh: no cursor, no read model. */
export function witnessOf(chain: OpenChain): Witness {
  const { rail, history, ingester } = chain;
  const { chainId } = rail;
  const [first = 'head'] = ingester.passes;
  return {
    chainId,
    family: chainOf(chainId).family,
    accounts: (signal) => booksAccountsOf(chain, signal),
    history,
    async blockAt(at, signal) {
      const early = new Date(epochMs(at) - earlier_ms).toISOString() as typeof at;
      return (await ingester.start(first, early, signal)).blockNumber;
    },
    // Where payments share the treasury's own address, its history has them all.
    ...(ingester.sharedAddresses.length === 0 && { deposits: history.transfersOf ?? oneByOne(history) }),
  };
}

const pageMax = 500;

const oneByOne = (history: Witness['history']): NonNullable<Witness['deposits']> =>
  async function* oneByOneOf(addresses, range, signal) {
    for (const account of addresses) {
      let after: string | null = null;
      do {
        const asked = { account, ...range, order: 'oldestFirst', max: pageMax, after } as const;
        const page = await history.transactions(asked, signal);
        for (const transaction of page.transactions) yield { address: account, transaction };
        after = page.next;
      } while (after !== null);
    }
  };
