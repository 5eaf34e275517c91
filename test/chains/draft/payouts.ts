import type { ChainId } from '../../../domain/chains.ts';
import { PayoutBlocked, type PayoutRail } from '../../../src/chains/ports.ts';

export function createRail(chainId: ChainId, account: string): PayoutRail {
  const poor = () => Promise.reject(new PayoutBlocked('float', 'the treasury holds nothing'));
  return {
    chainId,
    account,
    numbering: { kind: 'expiring', prepare: poor },
    broadcast: async () => {},
    fate: async () => ({ kind: 'unknown' }),
    canLand: async () => true,
    stillFinal: async () => true,
    transferCost: async () => 0n,
    balances: async () => ({ gas: 0n, tokens: {} }),
  };
}
