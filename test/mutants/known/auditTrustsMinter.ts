import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit believes the order where a burn goes',
  seenIn: 'audits that compare a chain with the log and the log with itself',
  file: 'tools/audit/reckon/rebalances.ts',
  from: '    if (route.messenger !== messenger || route.transmitter !== transmitter || route.minter !== minter)',
  to: '    if (route.messenger !== messenger || route.transmitter !== transmitter)',
  breaks: 'moneyInTransit',
  specs: ['test/tools/audit/rebalances.test.ts'],
};
