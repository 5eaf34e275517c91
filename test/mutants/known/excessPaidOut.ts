import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'money above the agreed amount is kept as a fee',
  seenIn: 'gateways that book any received amount as the agreed one',
  file: 'domain/payment/close.ts',
  from: 'fee: agreedFee(terms), payout: agreed.payout, excess, dust: 0n };',
  to: 'fee: agreedFee(terms) + excess, payout: agreed.payout, excess: 0n, dust: 0n };',
  breaks: 'splitAddsUp',
  specs: ['test/domain/payment/fund.test.ts'],
  seed: 4,
};
