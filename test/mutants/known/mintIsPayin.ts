import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a mint of a rebalance counts as unmatched money, which could be refunded to the forwarder',
  seenIn: 'deposit scanners that believe every incoming transfer',
  file: 'src/chains/stellar/payins/transfers.ts',
  from: 'from === stellarCctp.forwarder && memo === null;',
  to: "from === '' && memo === null;",
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/stellarMove.test.ts'],
};
