import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the coin that a send by USDT0 sends along is missing from the books',
  seenIn: 'treasuries that book gas alone as the cost of a bridge',
  file: 'src/chains/evm/payouts/fate.ts',
  from: "  const sentAlong = receipt.succeeded && sent.form?.kind === 'oftSend' ? { rent: sent.form.messageFee } : {};",
  to: '  const sentAlong = {};',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/usdt0Move.test.ts'],
};
