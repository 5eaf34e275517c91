import type { ChainId } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import type { AccountHistory } from '../../../src/chains/ports.ts';

/** History of empty accounts. */
export const createHistory = (chainId: ChainId): AccountHistory => ({
  chainId,
  listsCoin: true,
  transactions: async () => ({ transactions: [], next: null, complete: true }),
  standing: async () => ({ blockNumber: 0n, blockHash: '0', time: instant(0), balances: {} }),
  finality: async () => 'final',
});
