import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a withdrawal called a sweep needs no address book and no second operator',
  seenIn: 'reconciliations that skip internal bookings',
  file: 'tools/audit/reckon/others.ts',
  from: 'if (!movesMoney(data)) return;',
  to: "if (!movesMoney(data) || data.kind !== 'withdrawal') return;",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/treasury.test.ts'],
};
