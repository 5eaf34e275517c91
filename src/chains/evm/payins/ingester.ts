/** Ingester of an EVM chain: payins per pass, and single nodes' statements about a transfer. */

import { chainOf } from '../../../../domain/chains.ts';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { instant } from '../../../../domain/time.ts';
import { agreedOn, nodesNeeded, type Statement } from '../../node/agreement.ts';
import type { Connection } from '../../node/nodes.ts';
import { type Ingester, type NodeHead, type Pass, passes, sameTransfer } from '../../ports.ts';
import type { EvmChainConfig, FinalityTag } from '../config.ts';
import { blocksOnTop, finalHeight, finalityTagOf, leastAge_ms } from '../finality.ts';
import { type Header, knownHeader, type Receipt, receiptOf } from '../reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { createHeaders, type Headers, type NodeBlocks } from './headers.ts';
import { windowsOf } from './ranges.ts';
import { createReceipts, createSeenReceipts, type SeenReceipts, seenKey } from './receipts.ts';
import { createScanner, createShownBlocks, type ShownBlock, type ShownBlocks } from './scanner.ts';
import { transfersOf } from './transfers.ts';

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
