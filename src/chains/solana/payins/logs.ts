/** Credits as the service records them: with the block that holds their transaction. */
import { type Instant, instant } from '../../../../domain/time.ts';
import type { TransferLog } from '../../ports.ts';
import { type Block, blockAt, type Commitment } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import type { Landed } from '../transactions.ts';
import type { Credit } from './credits.ts';

export const timeOf = ({ time_s }: Block): Instant => instant(time_s * 1_000);

export const logOf = (credit: Credit, transaction: Landed, block: Block): TransferLog => ({
  to: credit.owner,
  memo: null,
  from: credit.from,
  token: credit.token,
  amount: credit.amount,
  txHash: transaction.signature,
  blockNumber: block.slot,
  blockHash: block.hash,
  logIndex: credit.index,
  blockTime: timeOf(block),
});

/** Reads blocks, each once. */
export function createBlocks(node: SolanaNode, commitment: Commitment): (slot: bigint) => Promise<Block> {
  const asked = new Map<bigint, Promise<Block>>();
  return (slot) => {
    const block = asked.get(slot) ?? blockAt(node, slot, commitment);
    asked.set(slot, block);
    return block;
  };
}
