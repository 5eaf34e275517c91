/** Catalogue-token transfers in logs and receipts. */
import { type Chain, type Token, tokenAt } from '../../../../domain/chains.ts';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { instant } from '../../../../domain/time.ts';
import { evidenceMax, type TransferLog, type Unreadable } from '../../ports.ts';
import { addressIn } from '../addresses.ts';
import { type LogsShown, type RawLog, type Receipt, transferTopic } from '../reads.ts';

const wordLength = 2 + 64;

interface Movement {
  readonly token: Token;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/**
 * Reads a log as a transfer of a catalogue token. Undefined for everything else: other contracts, look-alike events, zero amounts.
 * `unreadable`: such a token's own transfer event in a form that is not ERC-20's.
 */
function movement(chain: Chain, log: RawLog): Movement | 'unreadable' | undefined {
  const [topic, from, to, more] = log.topics;
  const token = log.removed || topic !== transferTopic ? undefined : tokenAt(chain, log.address);
  if (!token) return undefined;
  if (!from || !to || more || log.data.length !== wordLength) return 'unreadable';
  const amount = BigInt(log.data);
  return amount === 0n ? undefined : { token, from: addressIn(from), to: addressIn(to), amount };
}

const moved = (chain: Chain, log: RawLog): Movement | undefined => {
  const found = movement(chain, log);
  return found === 'unreadable' ? undefined : found;
};

/** Token transfers and unreadable logs of a chain. */
export interface LogTransfers {
  readonly logs: readonly TransferLog[];
  readonly unreadable: readonly Unreadable[];
}

/**
 * @param timeOf of a log's block, in seconds
 * @param end of the queried blocks, for logs without a block
 */
export function readTransfers(
  chain: Chain,
  { logs, broken }: LogsShown,
  timeOf: (log: RawLog) => number,
  end: bigint,
): LogTransfers {
  const read = logs.map((log) => ({ log, found: movement(chain, log) }));
  return {
    logs: read.flatMap(({ log, found }) => {
      if (!found || found === 'unreadable') return [];
      const { txHash, blockNumber, blockHash, logIndex } = log;
      const blockTime = instant(timeOf(log) * 1_000);
      return { ...found, memo: null, txHash, blockNumber, blockHash, logIndex, blockTime };
    }),
    unreadable: [
      ...read.flatMap(({ log, found }) => (found === 'unreadable' ? asUnreadable(log) : [])),
      ...broken.map(({ txHash, blockNumber = end, receiver, evidence }) => ({
        txHash,
        blockNumber,
        addresses: receiver ? [addressIn(receiver)] : [],
        evidence,
      })),
    ],
  };
}

/** Logs of a transaction that move a catalogue token in an unreadable form. */
export const unreadableIn = (chain: Chain, logs: readonly RawLog[]): readonly Unreadable[] =>
  logs.filter((log) => movement(chain, log) === 'unreadable').map(asUnreadable);

function asUnreadable({ txHash, blockNumber, topics, data, logIndex }: RawLog): Unreadable {
  const receiver = topics[2];
  const evidence = `log ${logIndex} is no transfer of ERC-20: ${JSON.stringify({ topics, data })}`;
  return {
    txHash,
    blockNumber,
    addresses: receiver ? [addressIn(receiver)] : [],
    evidence: evidence.slice(0, evidenceMax),
  };
}

/**
 * The catalogue-token transfers of a transaction. `index` counts the receipt's own logs: it stays the same when a reorganisation moves the
 * transaction to another block, while the block-wide log index changes.
 */
export function transfersOf(chain: Chain, receipt: Receipt, blockTime_s: number): readonly Transfer[] {
  if (!receipt.succeeded) return [];
  return receipt.logs.flatMap((log, index) => {
    const found = moved(chain, log);
    if (!found) return [];
    const { token, from, to, amount } = found;
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
