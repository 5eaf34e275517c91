/** Single transactions by receipt: a log's index within its transaction, and all transfers of a hash. */
import type { Chain } from '../../../../domain/chains.ts';
import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import { epochMs } from '../../../../domain/time.ts';
import { boundedMap } from '../../../lib/cache.ts';
import { allDeny } from '../../node/agreement.ts';
import { ask, list, object, optional, readBy } from '../../node/jsonRpc.ts';
import { ChainUnavailable } from '../../node/nodes.ts';
import { evidenceMax, type Ingester, type SeenPayin, type TransferLog, TransferUnreadable } from '../../ports.ts';
import { isOnChain, knownHeader, type Receipt, receiptOf, toReceipt, transactionsIn } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { transfersOf, unreadableIn } from './transfers.ts';

type Place = Pick<TransferLog, 'txHash' | 'blockHash'>;

interface Gathered {
  readonly hashes: Set<string>;
  /** The node's receipts of the whole block, still loading; undefined for a single transaction, or if the node cannot return them. */
  readonly ofBlock: Promise<ReadonlyMap<string, unknown> | undefined>;
}

const rememberedBlocks = 100;

/**
 * Merges concurrent requests for receipts of one block into one call.
 * @returns function that reads the receipt of a transaction in a block; undefined if the node has none
 */
export function createBlockReceipts(): (node: EvmNode, place: Place) => Promise<Receipt | undefined> {
  const gathering = new Map<string, Gathered>();
  /** Nodes that do not return a block's receipts. */
  const without = boundedMap<true>(rememberedBlocks);

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
    // A receipt missing in the block's answer may exist alone: queries it.
    return shown === undefined ? receiptOf(node, txHash) : readBy(node, 'eth_getBlockReceipts', shown, toReceipt);
  };
}

const method = 'eth_getTransactionReceipt';

/** A node returns a log whose transaction it cannot return in a valid form: it lags, has lost it, or counts differently. */
class NotShown extends RpcFailed {}

/** Maximum attempts to read a missing transaction before its chain continues without it. */
const triesMax = 3;
const remembered = 1_000;

/** All used fields of a log: a different log of another node is read separately. */
const keyOf = ({ blockHash, logIndex, txHash, token, from, to, amount, blockTime }: TransferLog): string =>
  [blockHash, logIndex, txHash, token.address, from, to, amount, blockTime].join(' ');

export const createSeenReceipts = () => boundedMap<Receipt>(2 * remembered);
export type SeenReceipts = ReturnType<typeof createSeenReceipts>;

export const seenKey = ({ name }: EvmNode, { txHash }: Pick<TransferLog, 'txHash'>): string => `${name} ${txHash}`;

/** @param reached highest block read so far: a lagging node cannot deny a payin */
export function createReceipts(
  chain: Chain,
  rpc: EvmRpc,
  { reached, seen }: { readonly reached: () => bigint; readonly seen: SeenReceipts },
): Required<Pick<Ingester, 'resolve' | 'lookUp' | 'hasSucceeded' | 'hasLeft'>> {
  const receiptIn = createBlockReceipts();
  const tries = boundedMap<number>(remembered);
  /** A block's hash determines its receipts: a later pass does not query them again. */
  const read = boundedMap<Transfer>(remembered);

  async function transfersAt(node: EvmNode, txHash: string, whole?: 'whole') {
    const receipt = await receiptOf(node, txHash);
    if (receipt) {
      const [odd] = whole && receipt.succeeded ? unreadableIn(chain, receipt.logs) : [];
      if (odd) throw new RpcFailed(node.name, method, 'malformed', odd.evidence);
      const block = await knownHeader(node, receipt.blockNumber);
      if (block.hash === receipt.blockHash) return transfersOf(chain, receipt, block.time_s);
      throw new RpcFailed(node.name, method, 'refused', 'its block left the chain while it was read');
    }
    const { number } = await knownHeader(node, 'latest');
    if (number < reached()) throw new RpcFailed(node.name, method, 'refused', `it lags behind block ${reached()}`);
    return undefined;
  }

  /** True if a node has a payin in its block; undefined if it cannot answer. */
  async function isShown(node: EvmNode, { txHash, transferId: id, ...block }: SeenPayin): Promise<boolean | undefined> {
    const isThere = await isOnChain(node, block);
    if (!isThere) return isThere;
    const hashes = await transactionsIn(node, block.blockHash);
    if (!hashes?.some((hash) => hash === txHash)) return hashes && false;
    return (await transfersAt(node, txHash))?.some((transfer) => transferId(transfer) === id);
  }

  /** @throws TransferUnreadable after enough attempts; the error itself otherwise */
  function giveUp(log: TransferLog, error: unknown): never {
    const reasons = error instanceof ChainUnavailable ? error.failures.filter((each) => each instanceof NotShown) : [];
    if (reasons.length === 0) throw error;
    const key = keyOf(log);
    const tried = (tries.get(key) ?? 0) + 1;
    tries.set(key, tried);
    if (tried < triesMax) throw error;
    const { txHash, blockNumber, to } = log;
    const evidence = reasons.map(({ message }) => message).join('; ');
    throw new TransferUnreadable({ txHash, blockNumber, addresses: [to], evidence: evidence.slice(0, evidenceMax) });
  }

  return {
    async resolve(log, signal) {
      const key = keyOf(log);
      const known = read.get(key);
      if (known) return known;
      const found = await rpc
        .firstAnswer((node) => transferAt(chain, node, log, { receiptIn, seen }), signal)
        .catch((error) => giveUp(log, error));
      if (found === 'gone' || !found) return undefined;
      read.set(key, found);
      return found;
    },

    lookUp: async (txHash, signal, whole) =>
      (await rpc.as('late').firstAnswer((node) => transfersAt(node, txHash, whole), signal)) ?? [],

    hasSucceeded: async (txHash, signal) =>
      (await rpc.as('late').firstAnswer(async (node) => (await receiptOf(node, txHash))?.succeeded, signal)) ?? false,

    hasLeft: (seen, signal) => allDeny(rpc, (node) => isShown(node, seen), signal),
  };
}

/** The transfer of a log; `gone` if the node's chain has another block at that height. @throws NotShown */
async function transferAt(
  chain: Chain,
  node: EvmNode,
  log: TransferLog,
  { receiptIn, seen }: { readonly receiptIn: ReturnType<typeof createBlockReceipts>; readonly seen: SeenReceipts },
): Promise<Transfer | 'gone'> {
  const receipt = await receiptIn(node, log).catch((error: unknown) => {
    if (!(error instanceof RpcFailed) || error.kind !== 'malformed') throw error;
    throw new NotShown(node.name, method, 'malformed', error.detail);
  });
  if (receipt?.blockHash === log.blockHash) {
    const transfer = shownIn(receipt, log, transfersOf(chain, receipt, epochMs(log.blockTime) / 1_000));
    if (transfer) {
      seen.set(seenKey(node, log), receipt);
      return transfer;
    }
    throw new NotShown(node.name, method, 'refused', `the receipt of ${log.txHash} lacks log ${log.logIndex}`);
  }
  const there = await knownHeader(node, log.blockNumber);
  if (there.hash !== log.blockHash) return 'gone';
  throw new NotShown(node.name, method, 'refused', `it has block ${there.number} without the receipt of ${log.txHash}`);
}

/** By the log's index in its block; by its content if a node counts differently in receipts (as Bor after a state sync). */
function shownIn(receipt: Receipt, log: TransferLog, transfers: readonly Transfer[]): Transfer | undefined {
  const same = transfers.filter(
    ({ token, from, to, amount }) =>
      token.address === log.token.address && from === log.from && to === log.to && BigInt(amount) === log.amount,
  );
  const index = receipt.logs.findIndex(({ logIndex }) => logIndex === log.logIndex);
  return same.find((transfer) => transfer.index === index) ?? (same.length === 1 ? same[0] : undefined);
}
