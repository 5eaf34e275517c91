import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transfer that a node returns twice counts twice',
  seenIn: 'nodes that send a log twice, watchers that read a range twice',
  file: 'domain/payment/shapes.ts',
  from: '  `${transfer.chainId}:${transfer.txHash}:${transfer.index}`;',
  to: '  `${transfer.chainId}:${transfer.txHash}:${transfer.index}:${globalThis.performance.now()}`;',
  breaks: 'everyPayinKept',
  specs: ['test/domain/payment/payins.test.ts'],
};
