import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a relay that landed counts as paid before the payin does',
  seenIn: 'facilitators that answer before the money is final (x402 #1062)',
  file: 'domain/relay/result.ts',
  from: '  if (payment.closed || payment.funded) return overBefore(payment, relay, hash);',
  to: [
    "  if (relay.leg.settled) return { kind: 'paid', hash: relay.leg.settled.hash };",
    '  if (payment.closed || payment.funded) return overBefore(payment, relay, hash);',
  ].join('\n'),
  breaks: 'relayedOnce',
  specs: ['test/domain/relay.test.ts'],
};
