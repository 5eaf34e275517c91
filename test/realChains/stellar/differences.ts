/** Differences between a real node and the imitation that stay. docs/real-chains.md lists them. */
import type { MeantDifference } from '../comparison.ts';

export const meantDifferences: readonly MeantDifference[] = [
  {
    method: 'getNetwork',
    real: 'no `friendbotUrl`, as on the public network',
    imitation: '`friendbotUrl`',
    reason: 'The SDK funds new accounts of the sandbox by it.',
    field: 'friendbotUrl',
  },
];

export const meantFor = (method: string): readonly MeantDifference[] =>
  meantDifferences.filter((difference) => difference.method === method);
