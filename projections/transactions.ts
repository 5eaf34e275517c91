import type { Payment, PaymentState } from '../domain/payment/state.ts';
import { type PaymentTransaction, transactionsOf } from '../domain/payment/transactions.ts';
import { ofStates, upsert } from './projection.ts';

/** Each payment's transfers on its chains, for the API and for analysts. */
export const transactions = ofStates('transactions', 'payment', ({ before, after }) => {
  if (before?.payins === after.payins && before.payout === after.payout && before.refunds === after.refunds) return [];
  const known = new Set(rowsOf(before).map((row) => JSON.stringify(row)));
  const changed = rowsOf(after).filter((row) => !known.has(JSON.stringify(row)));
  return changed.map((row) => upsert('transactions', inColumns(after, row)));
});

const rowsOf = (payment: PaymentState): readonly PaymentTransaction[] => (payment ? transactionsOf(payment) : []);

const inColumns = ({ terms }: Payment, row: PaymentTransaction) => ({
  payment_id: terms.paymentId,
  app_id: terms.appId,
  kind: row.kind,
  chain_id: row.chainId,
  tx_hash: row.txHash,
  index: row.index,
  status: row.status,
  standing: row.standing,
  token_symbol: row.tokenSymbol,
  token_address: row.tokenAddress,
  amount: row.amount,
  from_address: row.fromAddress,
  to_address: row.toAddress,
  block_number: row.blockNumber,
  block_hash: row.blockHash,
  at: row.at,
});
