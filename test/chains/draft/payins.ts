import type { ChainId } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { type Cursor, type Ingester, type Pass, passes } from '../../../src/chains/ports.ts';

/** Ingester of a chain without transfers. */
export function createIngester(chainId: ChainId): Ingester {
  const cursorAt = async (pass: Pass, blockNumber: bigint): Promise<Cursor> => ({
    ...{ chainId, pass, blockNumber },
    blockHash: String(blockNumber),
    chainTime: instant(0),
  });
  return {
    chainId,
    passes,
    largeFrom: null,
    exposureMax_usd: null,
    sharedAddresses: [],
    start: (pass) => cursorAt(pass, 0n),
    cursorAt,
    async *scan() {},
    lookUp: async () => [],
    agreed: async () => ({ agreed: true }),
    hasLeft: async () => false,
    head: async () => ({ blockNumber: 0n, chainTime: instant(0) }),
    nodeHeads: [async () => ({ blockNumber: 0n, mark: 'nothing' })],
  };
}
