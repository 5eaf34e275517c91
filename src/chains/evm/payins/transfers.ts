import { getAddress, type Hex } from 'viem';
import { type Chain, type Token, tokenAt } from '../../../../domain/chains.ts';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { instant } from '../../../../domain/time.ts';
import type { TransferLog } from '../../ports.ts';
import { type RawLog, type Receipt, transferTopic } from '../reads.ts';

/** An indexed address fills a topic of 32 bytes from the right. */
const addressOf = (topic: Hex) => getAddress(`0x${topic.slice(-40)}`);
const wordLength = 2 + 64;

interface Movement {
  readonly token: Token;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** Reads a log as a transfer of a catalogue token. Undefined for everything else: other contracts, look-alike events, zero amounts. */
function movement(chain: Chain, log: RawLog): Movement | undefined {
  const [topic, from, to, more] = log.topics;
  if (log.removed || topic !== transferTopic || !from || !to || more || log.data.length !== wordLength)
    return undefined;
  const token = tokenAt(chain, log.address);
  const amount = BigInt(log.data);
  if (!token || amount === 0n) return undefined;
  return { token, from: addressOf(from), to: addressOf(to), amount };
}

/** @param blockTime_s of the log's block */
export function toTransferLog(chain: Chain, log: RawLog, blockTime_s: number): TransferLog | undefined {
  const moved = movement(chain, log);
  if (!moved) return undefined;
  const { txHash, blockNumber, blockHash, logIndex } = log;
  return { ...moved, memo: null, txHash, blockNumber, blockHash, logIndex, blockTime: instant(blockTime_s * 1_000) };
}

/**
 * The catalogue-token transfers of a transaction. `index` counts the receipt's own logs: it stays the same when a reorganisation puts
 * the transaction into another block, where the block-wide log index does not.
 */
export function transfersOf(chain: Chain, receipt: Receipt, blockTime_s: number): readonly Transfer[] {
  if (!receipt.succeeded) return [];
  return receipt.logs.flatMap((log, index) => {
    const moved = movement(chain, log);
    if (!moved) return [];
    const { token, from, to, amount } = moved;
    return {
      chainId: chain.id,
      txHash: receipt.hash,
      index,
      blockNumber: receipt.blockNumber.toString(),
      blockHash: receipt.blockHash,
      blockTime: instant(blockTime_s * 1_000),
      token,
      from,
      to,
      amount: amount.toString(),
    };
  });
}
