import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit does not compare payins with a failed transaction at a shared address',
  seenIn: 'exchanges that credited failed payments on Stellar and XRP',
  file: 'tools/audit/compare.ts',
  from: 'if (!succeeded) return matchInflows(evidence, payins, world, out, () => {});',
  to: 'if (!succeeded) return;',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/attribution.test.ts'],
};
