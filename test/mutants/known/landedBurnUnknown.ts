import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'after a restart the service takes its own landed burns and mints for transactions that the log does not know, and signs nothing',
  seenIn:
    'an earlier version of this service: moves waited after a restart on chains without nonces, and no list named a failure',
  file: 'queries/treasury.ts',
  from: "kind IN ('refund', 'burn', 'mint')",
  to: "kind IN ('refund')",
  breaks: 'moneyInTransit',
  specs: ['test/queries/treasury.test.ts'],
};
