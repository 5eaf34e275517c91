import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the fee is taken from the received amount and from the payout',
  seenIn: 'gateways that compute the fee in two places',
  file: 'domain/payment/fees.ts',
  from: ['  const payout = rescale(received - fee, route.source, route.destination);', '  if (payout'].join('\n'),
  to: ['  const payout = rescale(received - 2n * fee, route.source, route.destination);', '  if (payout'].join('\n'),
  breaks: 'splitAddsUp',
  specs: ['test/domain/payment/fees.test.ts'],
};
