import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the refundable amount is read before the decision and not counted in it',
  seenIn: 'Stripe-like refund endpoints: two requests at once refund twice',
  file: 'commands/refunds.ts',
  from: '    const decide = (state: PaymentState) => requestRefunds(state, whole, known, clock.now());',
  to: [
    '    const decide = (state: PaymentState) =>',
    '      requestRefunds({ ...ready.payment, refunds: [] } ?? state, whole, known, clock.now());',
  ].join('\n'),
  breaks: 'refundsWithinHeld',
  specs: ['test/commands/refunds.test.ts'],
  seed: 6,
};
