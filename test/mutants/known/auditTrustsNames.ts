import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a withdrawal that is called a sweep needs no address book and no second operator',
  seenIn: 'reconciliations that pass over what is booked as internal',
  file: 'tools/audit/reckon/others.ts',
  from: 'if (!movesMoney(data)) return;',
  to: "if (!movesMoney(data) || data.kind !== 'withdrawal') return;",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/treasury.test.ts'],
};
