import { type Ask, type Behaviour, Refusal } from '../proxy.ts';

/** Like a node behind a load balancer whose back end has only blocks up to `height`: ranges beyond it are empty without an error. */
export const lagging =
  (height: bigint, claims: 'itsOwnHead' | 'theRealHead'): Behaviour =>
  async (method, params, forward) => {
    if (method === 'eth_getLogs') return laggingLogs(height, params, forward);
    if (method === 'eth_getTransactionReceipt') {
      const receipt = (await forward(method, params)) as { blockNumber: string } | null;
      return receipt && BigInt(receipt.blockNumber) <= height ? receipt : null;
    }
    if (method !== 'eth_getBlockByNumber' || claims === 'theRealHead') return forward(method, params);
    const [tag, full] = params as [string, boolean];
    if (tag === 'latest') return forward(method, [hex(height), full]);
    return tag.startsWith('0x') && BigInt(tag) > height ? null : forward(method, params);
  };

async function laggingLogs(height: bigint, params: readonly unknown[], forward: Ask): Promise<unknown> {
  const [filter] = params as [{ blockHash?: string; fromBlock?: string; toBlock?: string }];
  if (filter.blockHash) {
    const block = (await forward('eth_getBlockByHash', [filter.blockHash, false])) as { number: string } | null;
    if (!block || BigInt(block.number) > height) throw new Refusal(-32000, 'unknown block');
    return forward('eth_getLogs', params);
  }
  const [from, to] = [BigInt(filter.fromBlock ?? '0x0'), BigInt(filter.toBlock ?? '0x0')];
  if (from > height) return [];
  return forward('eth_getLogs', [{ ...filter, toBlock: hex(to < height ? to : height) }]);
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;
