import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the message may name another burner',
  seenIn: 'parsers that compare the fields they know of',
  file: 'domain/rebalance/burnMessage.ts',
  from: ['    messageSender: address32(burn.sender),', ''].join('\n'),
  to: '',
  breaks: 'moneyInTransit',
  specs: ['test/domain/rebalance/burnMessage.test.ts'],
};
