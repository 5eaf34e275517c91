import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what can go back is looked up before, and not counted where it is decided',
  seenIn: 'Stripe-like refund endpoints: two requests at once send back twice',
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
