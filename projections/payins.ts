import { formatAmount } from '../domain/money.ts';
import type { Payin } from '../domain/payment/counting.ts';
import type { Payment } from '../domain/payment/state.ts';
import { agreedUsd } from './deposits.ts';
import { ofStates, upsert } from './projection.ts';

/** Every transfer to a deposit with its phase and standing, found by block when a block is final or has left its chain. */
export const payins = ofStates('payins', 'payment', ({ before, after }) => {
  if (before?.payins === after.payins) return [];
  const changed = after.payins.filter((payin) => !before?.payins.includes(payin));
  return changed.map((payin) => upsert('payins', rowOf(after, payin)));
});

const rowOf = (payment: Payment, { id, transfer, amount, standing, phase }: Payin) => ({
  transfer_id: id,
  payment_id: payment.terms.paymentId,
  app_id: payment.terms.appId,
  chain_id: transfer.chainId,
  tx_hash: transfer.txHash,
  index: transfer.index,
  block_number: transfer.blockNumber,
  block_hash: transfer.blockHash,
  block_time: transfer.blockTime,
  token_symbol: transfer.token.symbol,
  token_address: transfer.token.address,
  from_address: transfer.from,
  to_address: transfer.to,
  amount: formatAmount(amount, transfer.token.decimals),
  agreed_usd: agreedUsd(payment),
  phase,
  standing,
});
