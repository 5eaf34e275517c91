import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import type { Connection } from '../../node/nodes.ts';
import { type Ingester, type NodeHead, passes } from '../../ports.ts';
import type { EvmChainConfig, FinalityTag } from '../config.ts';
import { blocksOnTop, tagOf } from '../finality.ts';
import { knownHeader } from '../reads.ts';
import { createEvmRpc, type EvmRpc } from '../rpc.ts';
import { createHeaders, type Headers } from './headers.ts';
import { createReceipts, createSeenReceipts } from './receipts.ts';
import { createScanner } from './scanner.ts';
import { createShownBlocks } from './shownBlocks.ts';
import { windowsOf } from './windows.ts';
import { createWitnesses } from './witnesses.ts';

/** A log of EVM does not tell which of its transaction's transfers it is. */
export type EvmIngester = Ingester & Required<Pick<Ingester, 'resolve'>>;

/** Reads the catalogue tokens' transfers of one EVM chain. Every method throws ChainUnavailable when no node can answer. */
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
    ...scanner,
    resolve,
    lookUp,
    hasSucceeded,
    agreed: createWitnesses(config, rpc, { headers, shown, seen }),
    hasLeft,
    async head(signal) {
      const heads = await rpc.promptly((node) => knownHeader(node, 'latest'), signal);
      const newest = heads.reduce((a, b) => (b.number > a.number ? b : a));
      return { blockNumber: newest.number, chainTime: instant(newest.time_s * 1_000) };
    },
    nodeHeads: rpc.nodes.map((connect) => watchNode(connect, headers, followed)),
  };
}

/** The others are asked only at every so many polls of the node that the head is followed with. */
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

/** The tags by which this chain's blocks are final: they move while the newest block stands. */
const tagsOf = ({ depths }: EvmChainConfig): readonly FinalityTag[] => [
  ...new Set([depths.final, depths.finalLarge].flatMap((depth) => tagOf(depth) ?? [])),
];
