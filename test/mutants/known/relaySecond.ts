import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a second authorization of a bill is accepted while the first is under way',
  seenIn: 'resource servers that settle each header (x402 #1645)',
  file: 'commands/relays.ts',
  from: "  const open = relays.find((each) => isRelayOpen(each) || relayResultOf(payment, each).kind === 'pending');",
  to: '  const open = relays.find(() => false);',
  breaks: 'relayedOnce',
  specs: ['test/commands/relays.test.ts'],
};
