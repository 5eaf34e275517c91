import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the fee is taken from what came and from what is paid out',
  seenIn: 'gateways whose fee is in two places of the code',
  file: 'domain/payment/fees.ts',
  from: ['  const payout = rescale(received - fee, route.source, route.destination);', '  if (payout'].join('\n'),
  to: ['  const payout = rescale(received - 2n * fee, route.source, route.destination);', '  if (payout'].join('\n'),
  breaks: 'splitAddsUp',
  specs: ['test/domain/payment/fees.test.ts'],
};
