import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a service that holds the keys pays two payments from one transfer, where a salt derives the deposit',
  seenIn: 'wallets that check a deposit against its key and not against its order',
  file: 'src/workers/payouts/fundingProof.ts',
  from: '(isBound(payment, transfer) ? undefined : await use(id, transfer)) ??',
  to: '(isBound(payment, transfer) || id !== "" ? undefined : await use(id, transfer)) ??',
  breaks: 'paidFor',
  specs: ['test/workers/payouts/fundingUses.test.ts'],
};
