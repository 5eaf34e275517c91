import type { DepositScheme } from '../../../src/chains/ports.ts';

export const deposits: DepositScheme = {
  intents: [],
  assign: async (paymentId) => ({
    ...{ scheme: 'draft-1', address: `D-${paymentId}`, memo: null },
    ...{ contract: null, contractMemo: null, salt: paymentId },
  }),
};
