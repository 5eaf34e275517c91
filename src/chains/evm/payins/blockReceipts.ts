/** Receipts of transactions that are asked for at the same time: those of one block together. */
import { boundedMap } from '../../../lib/boundedMap.ts';
import { ask, list, object, optional, readBy } from '../../node/jsonRpc.ts';
import type { TransferLog } from '../../ports.ts';
import { type Receipt, receiptOf, toReceipt } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';

type Place = Pick<TransferLog, 'txHash' | 'blockHash'>;

interface Gathered {
  readonly hashes: Set<string>;
  /** What the node says of the whole block, still to be read; undefined where only one of its transactions is wanted, or it cannot say. */
  readonly ofBlock: Promise<ReadonlyMap<string, unknown> | undefined>;
}

const remembered = 100;

/** @returns what asks a node for the receipt of a transaction in a block; undefined when it has none */
export function createBlockReceipts(): (node: EvmNode, place: Place) => Promise<Receipt | undefined> {
  const gathering = new Map<string, Gathered>();
  /** Nodes that do not tell a block's receipts. */
  const without = boundedMap<true>(remembered);

  function gather(node: EvmNode, blockHash: string): Gathered {
    const key = `${node.name} ${blockHash}`;
    const known = gathering.get(key);
    if (known) return known;
    const hashes = new Set<string>();
    const ofBlock = new Promise((resolve) => setImmediate(resolve)).then(() => {
      gathering.delete(key);
      return hashes.size > 1 && !without.get(node.name) ? ofWholeBlock(node, blockHash) : undefined;
    });
    const begun = { hashes, ofBlock };
    gathering.set(key, begun);
    return begun;
  }

  async function ofWholeBlock(node: EvmNode, blockHash: string) {
    try {
      return await ask(node, 'eth_getBlockReceipts', [blockHash], (answer) =>
        optional(
          answer,
          (all) => new Map(list(all).map((each) => [String(object(each)['transactionHash']), each] as const)),
        ),
      );
    } catch (error) {
      if (!(error instanceof RpcFailed)) throw error;
      if (error.kind === 'refused' || error.kind === 'tooLarge') without.set(node.name, true);
      return undefined;
    }
  }

  return async (node, { txHash, blockHash }) => {
    const { hashes, ofBlock } = gather(node, blockHash);
    hashes.add(txHash);
    const shown = (await ofBlock)?.get(txHash);
    // What the block's receipts lack, the transaction's own may be: the node is asked for it.
    return shown === undefined ? receiptOf(node, txHash) : readBy(node, 'eth_getBlockReceipts', shown, toReceipt);
  };
}
