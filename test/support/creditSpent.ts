import type { CreditEvent } from '../../domain/credit.ts';
import { minute } from './payments.ts';

/** A buyer who earned on Base has paid a merchant by credit, with a signed message. */
export const creditSpent = (account: string): readonly CreditEvent[] => [
  {
    type: 'CreditEarned',
    data: {
      account,
      paymentId: 'another payment',
      appId: 'merchant_shop',
      chainId: 8453,
      basisPoints: 250,
      cents: '50',
      after: { balance_cents: '50', earnedOn: [8453] },
      earnedAt: minute(1),
    },
  },
  {
    type: 'CreditSpent',
    data: {
      account,
      appId: 'merchant_shop',
      digest: 'a'.repeat(64),
      orderId: null,
      cents: '20',
      amountLocal: null,
      currencyLocal: null,
      about: null,
      signedAt: minute(2),
      after: { balance_cents: '30', earnedOn: [8453] },
      spentAt: minute(2),
    },
  },
];
