import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a mined transaction settles a payout even if it moved nothing',
  seenIn: 'gateways that read a receipt’s existence, not its status',
  file: 'src/chains/evm/payouts/fate.ts',
  from: '  const full = succeeded && deployed && (flushes || arrived >= BigInt(sent.amount));',
  to: '  const full = deployed;',
  breaks: 'paidToOrder',
  specs: ['test/chains/evm/payouts/arrived.test.ts'],
};
