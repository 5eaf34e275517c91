import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'two processes that claim the same delivery write the same event id, and both get success',
  seenIn: 'EventStoreDB: an append that repeats an event id at its revision succeeds',
  file: 'commands/codec.ts',
  from: '    const sealed = { id: ids.eventId(), type,',
  to: [
    "    const digest = hash('sha256', `${stream} ${tip?.revision} ${type}`, 'hex');",
    "    const id = [digest.slice(0, 8), digest.slice(8, 12), '4000', '8000', digest.slice(12, 24)].join('-');",
    '    const sealed = { id, type,',
  ].join('\n'),
  breaks: 'decidedOnce',
  specs: ['test/commands/claims.test.ts'],
  seed: 8,
};
