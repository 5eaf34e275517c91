/** For specs about other subjects: nodes agree, nothing is bounded, and nothing is lost. */
import assert from 'node:assert/strict';
import type { RangeDeps } from '../../src/workers/payins/range.ts';

export const believing: Pick<RangeDeps, 'beyond' | 'confirmationGate' | 'lost' | 'payinsAbove' | 'setUnreadableAside'> =
  {
    confirmationGate: {
      isDue: () => true,
      postpone: () => {},
      budget: async () => ({ take: () => true }),
      isProven: async () => true,
    },
    payinsAbove: async () => [],
    setUnreadableAside: async ([first]) => assert.fail(`${first?.txHash} can be read`),
    lost: () => assert.fail('nothing is lost'),
    beyond: () => assert.fail('every transfer is taken up'),
  };
