/** Ingester of an EVM chain: payins per pass, and single nodes' statements about a transfer. */
import { type Chain, chainOf } from '../../../../domain/chains.ts';
import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import { boundedMap } from '../../../lib/cache.ts';
import { agreedOn, allDeny, nodesNeeded, type Statement } from '../../node/agreement.ts';
import { ask, list, object, optional, readBy } from '../../node/jsonRpc.ts';
import { ChainUnavailable, type Connection } from '../../node/nodes.ts';
import {
  evidenceMax,
  type Ingester,
  type NodeHead,
  type Pass,
  passes,
  type SeenPayin,
  sameTransfer,
  type TransferLog,
  TransferUnreadable,
} from '../../ports.ts';
import type { EvmChainConfig, FinalityTag } from '../config.ts';
import { blocksOnTop, finalHeight, finalityTagOf, leastAge_ms } from '../finality.ts';
import { type Header, isOnChain, knownHeader, type Receipt, receiptOf, toReceipt, transactionsIn } from '../reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { createHeaders, type Headers, type NodeBlocks } from './blocks.ts';
import { windowsOf } from './ranges.ts';
import { createScanner, createShownBlocks, type ShownBlock, type ShownBlocks } from './scanner.ts';
import { transfersOf, unreadableIn } from './transfers.ts';

const method = 'eth_getTransactionReceipt';

/**
 * Reads, from each node alone, the receipt and the block of a transfer that another node returned, and whether it is final.
 * @param shown blocks that nodes have recently returned
 * @param seen receipts that nodes have returned: a receipt does not change within its block
 */
export function createWitnesses(
  config: EvmChainConfig,
  rpc: EvmRpc,
  {
    headers,
    shown: blocks,
    seen,
  }: { readonly headers: Headers; readonly shown: ShownBlocks; readonly seen: SeenReceipts },
): Ingester['agreed'] {
  const chain = chainOf(config.chainId);

  /** @throws RpcFailed if the node cannot answer: it is behind */
  async function stated(node: EvmNode, transfer: Transfer, pass: Pass): Promise<Statement> {
    const height = BigInt(transfer.blockNumber);
    if (!(await reaches(node, height, pass)))
      throw new RpcFailed(node.name, method, 'refused', `block ${height} is not final there`);
    const said = (receipt: Receipt, { hash, time_s }: ShownBlock): Statement => {
      const shown = transfersOf(chain, receipt, time_s).find(({ index }) => index === transfer.index);
      const isThere = receipt.blockHash === hash && hash === transfer.blockHash;
      if (isThere && shown && sameTransfer(shown, transfer)) return 'same';
      return { instead: `has transaction ${transfer.txHash} in block ${receipt.blockHash}, ${inWords(shown)}` };
    };
    const block = async () => blocks.at(node, pass, height) ?? (await headers.now(node, height));
    const known = seen.get(seenKey(node, transfer));
    if (known && said(known, await block()) === 'same') return 'same';
    // A different earlier answer may have been a lie by another node, so this node is queried again.
    const receipt = await receiptOf(node, transfer.txHash);
    if (!receipt) return { instead: `has no transaction ${transfer.txHash}` };
    return said(receipt, await block());
  }

  /** Uses the head watcher's last result for the node, or queries it. */
  async function reaches(node: EvmNode, height: bigint, pass: Pass): Promise<boolean> {
    const endOf = (head: Header, tagged?: NodeBlocks['tagged']) =>
      pass === 'head' ? head.number : finalHeight(node, head, config.depths[pass], { aged, ...(tagged && { tagged }) });
    const aged = (atMost: bigint, before_s: number) => headers.aged(node, atMost, before_s);
    const newest = headers.seen(node);
    if (newest && (await endOf(newest.latest, newest.tagged)) >= height) return true;
    return (await endOf(await knownHeader(node, 'latest'))) >= height;
  }

  return (transfer, { pass, usd }, signal) =>
    agreedOn(rpc, nodesNeeded(config.agree, usd), (node) => stated(node, transfer, pass), signal);
}

const inWords = (shown: Transfer | undefined): string =>
  shown
    ? `where ${shown.from} sends ${shown.amount} of ${shown.token.address} to ${shown.to}`
    : 'without that transfer';

/** A log of EVM does not identify its transfer within the transaction. */
export type EvmIngester = Ingester & Required<Pick<Ingester, 'resolve'>>;

/** Reads the catalogue tokens' transfers of one EVM chain. Every method throws ChainUnavailable if no node can answer. */
export function createEvmIngester(config: EvmChainConfig, rpc: EvmRpc = createEvmRpc(config)): EvmIngester {
  const headers = createHeaders({
    tags: tagsOf(config),
    tagEvery_s: config.tagEvery_ms / 1_000,
    kept: 2 * Number(windowsOf(chainOf(config.chainId)).near_blocks),
  });
  const shown = createShownBlocks();
  const { reached, followed, ...scanner } = createScanner(config, rpc, { headers, shown });
  const seen = createSeenReceipts();
  const { resolve, lookUp, hasSucceeded, hasLeft } = createReceipts(chainOf(config.chainId), rpc, { reached, seen });
  return {
    chainId: config.chainId,
    passes,
    largeFrom: BigInt(config.largeFrom_usd),
    exposureMax_usd: config.exposureMax_usd,
    sharedAddresses: [],
    blocksOnTop: (pass) => (pass === 'head' ? 0 : blocksOnTop(config.depths[pass])),
    leastAge_ms: (pass) => (pass === 'head' ? 0 : leastAge_ms(config.depths[pass])),
    ...scanner,
    resolve,
    lookUp,
    hasSucceeded,
    agreed: createWitnesses(config, rpc, { headers, shown, seen }),
    hasLeft,
    async head(signal) {
      const heads = await rpc.allSoon((node) => knownHeader(node, 'latest'), signal);
      const newest = heads.reduce((a, b) => (b.number > a.number ? b : a));
      return { blockNumber: newest.number, chainTime: instant(newest.time_s * 1_000) };
    },
    nodeHeads: rpc.nodes.map((connect) => watchNode(connect, headers, followed)),
  };
}

/** Number of polls of the followed node between two polls of the other nodes. */
const othersEvery_polls = 4;

function watchNode(
  connect: Connection,
  headers: Headers,
  followed: () => string | undefined,
): Ingester['nodeHeads'][number] {
  let polls = 0;
  let last: NodeHead | undefined;
  return async (signal) => {
    const node = connect(signal);
    const isOther = followed() !== undefined && followed() !== node.name;
    polls += 1;
    if (last && isOther && polls % othersEvery_polls !== 0) return last;
    last = undefined;
    const { latest, tagged } = await headers.watch(node);
    last = { blockNumber: latest.number, mark: [latest, ...tagged.values()].map(({ hash }) => hash).join(' ') };
    return last;
  };
}

/** Finality tags of this chain: they move while the newest block stays the same. */
const tagsOf = ({ depths }: EvmChainConfig): readonly FinalityTag[] => [
  ...new Set([depths.final, depths.finalLarge].flatMap((depth) => finalityTagOf(depth) ?? [])),
];

// Single transactions by receipt: a log's index within its transaction, and all transfers of a hash.

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

const receiptMethod = 'eth_getTransactionReceipt';

/** A node returns a log whose transaction it cannot return in a valid form: it lags, has lost it, or counts differently. */
class NotShown extends RpcFailed {}

/** Maximum attempts to read a missing transaction before its chain continues without it. */
const triesMax = 3;
const remembered = 1_000;

/** All used fields of a log: a different log of another node is read separately. */
const keyOf = ({ blockHash, logIndex, txHash, token, from, to, amount, blockTime }: TransferLog): string =>
  [blockHash, logIndex, txHash, token.address, from, to, amount, blockTime].join(' ');

const createSeenReceipts = () => boundedMap<Receipt>(2 * remembered);
type SeenReceipts = ReturnType<typeof createSeenReceipts>;

const seenKey = ({ name }: EvmNode, { txHash }: Pick<TransferLog, 'txHash'>): string => `${name} ${txHash}`;

/** @param reached highest block read so far: a lagging node cannot deny a payin */
function createReceipts(
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
      if (odd) throw new RpcFailed(node.name, receiptMethod, 'malformed', odd.evidence);
      const block = await knownHeader(node, receipt.blockNumber);
      if (block.hash === receipt.blockHash) return transfersOf(chain, receipt, block.time_s);
      throw new RpcFailed(node.name, receiptMethod, 'refused', 'its block left the chain while it was read');
    }
    const { number } = await knownHeader(node, 'latest');
    if (number < reached())
      throw new RpcFailed(node.name, receiptMethod, 'refused', `it lags behind block ${reached()}`);
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
    throw new NotShown(node.name, receiptMethod, 'malformed', error.detail);
  });
  if (receipt?.blockHash === log.blockHash) {
    const transfer = shownIn(receipt, log, transfersOf(chain, receipt, epochMs(log.blockTime) / 1_000));
    if (transfer) {
      seen.set(seenKey(node, log), receipt);
      return transfer;
    }
    throw new NotShown(node.name, receiptMethod, 'refused', `the receipt of ${log.txHash} lacks log ${log.logIndex}`);
  }
  const there = await knownHeader(node, log.blockNumber);
  if (there.hash !== log.blockHash) return 'gone';
  throw new NotShown(
    node.name,
    receiptMethod,
    'refused',
    `it has block ${there.number} without the receipt of ${log.txHash}`,
  );
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
