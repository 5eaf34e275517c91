/** The answer about an unknown transaction has most fields of a known one's, empty or 0 (stellar-rpc 23). */
export const unknownTransaction = {
  status: 'NOT_FOUND',
  applicationOrder: 0,
  feeBump: false,
  events: {},
  ledger: 0,
  createdAt: '0',
} as const;
