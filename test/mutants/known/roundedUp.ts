import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'amounts are rounded up between decimals',
  seenIn: 'floating-point payouts: one unit too much each time',
  file: 'domain/money.ts',
  from: ['value / 10n ** BigInt(from - to));', '}'].join('\n'),
  to: ['(value + 10n ** BigInt(from - to) - 1n) / 10n ** BigInt(from - to));', '}'].join('\n'),
  breaks: 'splitAddsUp',
  specs: ['test/domain/money.test.ts'],
};
