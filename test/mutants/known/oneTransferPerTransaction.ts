import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'only one of two transfers in a transaction is recorded',
  seenIn: 'gateways that identify a payin by its transaction’s hash',
  file: 'domain/payment/shapes.ts',
  from: '  `${transfer.chainId}:${transfer.txHash}:${transfer.index}`;',
  to: '  `${transfer.chainId}:${transfer.txHash}:0`;',
  breaks: 'everyPayinKept',
  specs: ['test/domain/payment/payins.test.ts'],
};
