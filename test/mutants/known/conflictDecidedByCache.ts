import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'after a conflict the old state decides again',
  seenIn: 'optimistic concurrency that retries the write without the read',
  file: 'commands/handle.ts',
  from: [
    '        cache.delete(stream);',
    '        if (!(error instanceof StreamConflict)) throw error;',
    '        before = known;',
    '        known = undefined;',
  ].join('\n'),
  to: [
    '        if (!(error instanceof StreamConflict)) throw error;',
    '        const [last] = await store.read(stream, { backwards: true, max: 1 });',
    '        known = { ...known, tip: last ? tipOf(last) : null };',
  ].join('\n'),
  breaks: 'decidedOnce',
  specs: ['test/commands/handle.test.ts'],
  seed: 7,
};
