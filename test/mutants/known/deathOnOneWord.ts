import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'one node’s answer makes a transfer dead',
  seenIn: 'single-node gateways: a node behind a balancer lags, and the payout is made again',
  file: 'src/chains/node/agreement.ts',
  from: [
    "  const assented = first.kind === 'dead' ? alike.length === answers.length : true;",
    '  if (assented && alike.length >= needed) return first;',
  ].join('\n'),
  to: "  if (first.kind === 'dead' || alike.length >= needed) return first;",
  breaks: 'deadIsProven',
  specs: ['test/chains/node/agreement.test.ts'],
};
