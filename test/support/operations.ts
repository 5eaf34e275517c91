/** Words for specifications of treasury operations: 80 USDC on Ethereum, ordered by ada for an address of the book. */
import { coinOf, unitsText } from '../../domain/money.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import type { OperationOrdered } from '../../domain/treasury/operation.ts';
import { ethereumUsdc, hashOf, merchantWallet, minute, of, treasuryAccount } from './payments.ts';

export type Order = OperationOrdered;
export type { SignedAttempt };

export const withdrawal = (change: Partial<Order> = {}): Order => ({
  kind: 'withdrawal',
  chainId: 1,
  account: treasuryAccount,
  token: ethereumUsdc.token,
  receiver: merchantWallet,
  receiverMemo: null,
  amount: unitsText(of('80', ethereumUsdc)),
  value_microUsd: '80000000',
  approvals: 0,
  reason: 'to the bank',
  by: 'ada',
  orderedAt: minute(1),
  ...change,
});

/** An order of half an ether. */
export const coinOrder = (): Order =>
  withdrawal({ token: coinOf(1), form: { kind: 'coin' }, amount: unitsText(5n * 10n ** 17n) });

export const attemptOf = (order: Order, change: Partial<SignedAttempt> = {}): SignedAttempt => ({
  attempt: 1,
  chainId: order.chainId,
  account: order.account,
  nonce: '7',
  hash: hashOf('operation', change.attempt ?? 1),
  bytes: '0x02',
  validUntil: null,
  fee: { maxFeePerGas: '100', gas: '65000' },
  token: order.token,
  receiver: order.receiver,
  receiverMemo: order.receiverMemo,
  amount: order.amount,
  signedAt: minute(2),
  ...change,
});
