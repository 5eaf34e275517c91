/** What the search for transactions that the log does not know stands on. */

import type { TransferOwners } from '../../../commands/outgoing.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { openTransfersOf, recordedHashes, transfersToAsk } from '../../../queries/recorded.ts';
import { addressBook } from '../../chains/families.ts';
import type { Core } from '../../core.ts';
import { createCursors } from '../../postgres/cursors.ts';
import type { AdoptDeps } from './adopt.ts';
import type { StrangersDeps } from './unknownTransactions.ts';

/** Read models must know what was signed a moment ago: they are waited for. */
export function strangersOn(core: Core, chainId: ChainId, owners: TransferOwners): StrangersDeps & AdoptDeps {
  const { clock, chains, database, caughtUp } = core;
  const chain = chains.get(chainId);
  assert(chain !== undefined, 'a chain that is asked about is configured');
  return {
    handle: core.handle,
    clock,
    rail: chain.rail,
    history: chain.history,
    owners,
    addresses: addressBook,
    recorded: async (hashes, since) => {
      await caughtUp();
      return recordedHashes(database, { chainId, hashes, since });
    },
    toAsk: (since) => transfersToAsk(database, { chainId, since }),
    async payinsReadTo() {
      const cursors = createCursors(database);
      const ends = [...chains].map(([id, { ingester }]) =>
        cursors.scannedTo(
          id,
          ingester.passes.filter((pass) => pass !== 'head'),
        ),
      );
      const [earliest = null] = (await Promise.all(ends)).toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1));
      return earliest;
    },
    openTransfers: async (asset, amount) => {
      await caughtUp();
      return openTransfersOf(database, { chainId, asset, amount });
    },
  };
}
