import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the transaction that opens a deposit’s token account on Solana settles the relay',
  seenIn: 'payment systems that take any landed transaction for the payment',
  file: 'domain/relay/relay.ts',
  from: "      if (event.type !== 'RelayConfirmed') return event;",
  to: "      if (event.type === 'RelayConfirmed') return event;",
  breaks: 'relayedOnce',
  specs: ['test/domain/relay.test.ts'],
};
