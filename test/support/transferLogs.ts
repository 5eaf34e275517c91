/** Transfers in the form of a chain's logs. */
import type { TransferLog } from '../../commands/chainPorts.ts';
import type { Transfer } from '../../domain/payment/events.ts';

export const whereOf = ({ txHash, blockNumber, blockHash }: Transfer) => ({
  txHash,
  blockNumber: BigInt(blockNumber),
  blockHash,
});

export const logOf = (transfer: Transfer): TransferLog => ({
  to: transfer.to,
  memo: transfer.memo ?? null,
  from: transfer.from,
  token: transfer.token,
  amount: BigInt(transfer.amount),
  ...whereOf(transfer),
  logIndex: transfer.index,
  blockTime: transfer.blockTime as TransferLog['blockTime'],
});
