/**
 * A node that proposes a tip far above the others: its own floor or a spike in its blocks (eth_maxPriorityFeePerGas, go-ethereum's gas
 * price oracle).
 */
import { hex } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface DearTipSettings {
  readonly gwei: number;
}

const wei = 1_000_000_000n;

export const dearTip: Quirk<DearTipSettings> = {
  families: ['evm'],
  says: 'a tip far above the usual one',
  begin: ({ gwei }) =>
    onCalls(async ({ method, params }, next) =>
      method === 'eth_maxPriorityFeePerGas' ? hex(BigInt(gwei) * wei) : next(method, params),
    ),
};
