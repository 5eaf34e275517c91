import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { type Ingester, passes } from '../../ports.ts';
import type { EvmChainConfig, FinalityTag } from '../config.ts';
import { header, isOnChain, knownHeader } from '../reads.ts';
import { createEvmRpc, type EvmRpc } from '../rpc.ts';
import { createScanner } from './scanner.ts';
import { createReceipts } from './transfers.ts';

/** A log of EVM does not tell which of its transaction's transfers it is. */
export type EvmIngester = Ingester & Required<Pick<Ingester, 'resolve'>>;

/** Reads the catalogue tokens' transfers of one EVM chain. Every method throws ChainUnavailable when no node can answer. */
export function createEvmIngester(config: EvmChainConfig, rpc: EvmRpc = createEvmRpc(config)): EvmIngester {
  const { reached, ...scanner } = createScanner(config, rpc);
  const tags = tagsOf(config);
  const { resolve, lookUp } = createReceipts(chainOf(config.chainId), rpc, reached);
  return {
    chainId: config.chainId,
    passes,
    largeFrom: BigInt(config.largeFrom_usd),
    sharedAddresses: [],
    start: scanner.start,
    cursorAt: scanner.cursorAt,
    scan: scanner.scan,
    resolve,
    lookUp,
    async hasLeft(block, signal) {
      return (await rpc.first((node) => isOnChain(node, block), signal)) === false;
    },
    async head(signal) {
      const heads = await rpc.every((node) => knownHeader(node, 'latest'), signal);
      const newest = heads.reduce((a, b) => (b.number > a.number ? b : a));
      return { blockNumber: newest.number, chainTime: instant(newest.time_s * 1_000) };
    },
    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const node = connect(signal);
      // A tag that the node cannot tell must not hide its newest block.
      const finals = tags.map((tag) => header(node, tag).catch(() => undefined));
      const [latest, ...final] = await Promise.all([knownHeader(node, 'latest'), ...finals]);
      return { blockNumber: latest.number, mark: [latest, ...final].map((block) => block?.hash).join(' ') };
    }),
  };
}

/** The tags by which this chain's blocks are final: they move while the newest block stands. */
const tagsOf = ({ depths }: EvmChainConfig): readonly FinalityTag[] => [
  ...new Set(
    [depths.final, depths.finalLarge].flatMap((depth) => {
      if (typeof depth === 'number') return [];
      return typeof depth === 'string' ? depth : depth.tag;
    }),
  ),
];
