import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a mint by somebody else and an own mint both count',
  seenIn: 'claims of bridges that count each success',
  file: 'domain/rebalance/rebalance.ts',
  from: "    if (part === mintPart && outcome.kind === 'final' && state?.minted?.byOther)",
  to: "    if (part === mintPart && outcome.kind === 'final' && state?.minted?.byOther === null)",
  breaks: 'moneyInTransit',
  specs: ['test/domain/rebalance/rebalance.test.ts'],
};
