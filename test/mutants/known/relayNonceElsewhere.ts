import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a used nonce counts as paid, whatever its transaction moved',
  seenIn: 'facilitators that read the nonce and not the transfer',
  file: 'src/chains/evm/payouts/relay.ts',
  from: '    if (found && !(await hasMoved(node, order, found.txHash)))',
  to: '    if (found && found.txHash === topicOf(order.receiver))',
  breaks: 'relayedOnce',
  specs: ['test/chains/evm/payouts/relay.test.ts'],
};
