import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { type Ingester, passes } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import { isOnChain } from '../finality.ts';
import { knownHeader } from '../reads.ts';
import { createEvmRpc, type EvmRpc } from '../rpc.ts';
import { createReceipts } from './receipts.ts';
import { createScanner } from './scanner.ts';

/** Reads the catalogue tokens' transfers of one EVM chain. Every method throws ChainUnavailable when no node can answer. */
export function createEvmIngester(config: EvmChainConfig, rpc: EvmRpc = createEvmRpc(config)): Ingester {
  const { reached, ...scanner } = createScanner(config, rpc);
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
  };
}
