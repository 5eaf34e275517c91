import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a used nonce on Stellar counts as paid, whatever the transaction moved',
  seenIn: 'merchants that believe a transaction hash without reading its amount and memo',
  file: 'src/chains/stellar/payouts/relay.ts',
  from: '    from === payer && memo === deposit.memo && units === amount;',
  to: '    from === payer;',
  breaks: 'relayedOnce',
  specs: ['test/chains/stellar/payouts/relay.test.ts'],
};
