import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transfer whose first request failed accepts any amount later',
  seenIn: 'idempotency keys that are not bound to the amount',
  file: 'domain/signing/moneyUse.ts',
  from: '  if (known && (known.amount !== use.amount || known.asset !== use.asset))',
  to: '  if (known && known.asset !== use.asset)',
  breaks: 'paidFor',
  specs: ['test/domain/signing/signing.test.ts'],
};
