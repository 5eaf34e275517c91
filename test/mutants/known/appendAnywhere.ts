import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the store appends events whatever the stream’s revision is',
  seenIn: 'event-sourced systems that append with ANY',
  file: 'src/store/append.ts',
  from: ["  if (expected === 'no_stream') wire.message(3, wire.mark());", '  else wire.uint64(2, expected);'].join(
    '\n',
  ),
  to: '  wire.message(4, wire.mark());',
  breaks: 'decidedOnce',
  specs: ['test/commands/claims.test.ts'],
};
