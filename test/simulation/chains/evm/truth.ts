/** True state of the chain. */
import type { Chain } from '../../../../domain/chains.ts';
import { addressIn } from '../../../../src/chains/evm/addresses.ts';
import type { TrueTransfer, Truth } from '../../kernel/ports.ts';
import { type Block, busyBlocks, type Tree, tokenKey, valueAt } from './blocks.ts';
import type { NodeView } from './node.ts';
import { transferTopic } from './tokens.ts';
import { decode } from './transactions.ts';

export interface ChainTruth extends Truth {
  /** There is another best block. */
  changed(): void;
  /** A node is sent bytes by the service. */
  receive(node: Pick<NodeView, 'networkId'>, params: unknown): void;
}

interface TruthOptions {
  readonly chain: Chain;
  readonly tree: Tree;
  readonly final: () => number;
}

export function createTruth({ chain, tree, final }: TruthOptions): ChainTruth {
  const spelled = new Map(chain.tokens.map(({ address }) => [address.toLowerCase(), address]));
  const received = new Set<string>();
  let version = 0;
  let told: { readonly busy: Block | null; readonly transfers: readonly TrueTransfer[] } = {
    busy: null,
    transfers: [],
  };
  let hashes: readonly string[] = [];

  const ofBlock = (block: Block): readonly TrueTransfer[] =>
    block.mined.flatMap(({ transaction: { hash }, logs }) =>
      logs.flatMap(({ address, topics: [topic, from = '', to = ''], data }, index) => {
        const tokenAddress = spelled.get(address);
        if (tokenAddress === undefined || topic !== transferTopic || BigInt(data) === 0n) return [];
        const place = { txHash: hash, index, block: BigInt(block.number) };
        return { ...place, tokenAddress, from: addressIn(from), to: addressIn(to), memo: null, amount: BigInt(data) };
      }),
    );

  return {
    changed() {
      version += 1;
    },
    receive({ networkId }, params) {
      try {
        received.add(decode(String((params as readonly unknown[])[0]), networkId).hash);
      } catch {
        // Unreadable bytes are no transaction.
      }
      hashes = [...received];
      version += 1;
    },
    version: () => version,
    head: () => BigInt(tree.best().number),
    final: () => BigInt(Math.max(0, final())),
    transfers() {
      const { busy } = tree.best();
      if (told.busy !== busy) told = { busy, transfers: [...busyBlocks(tree.best())].reverse().flatMap(ofBlock) };
      return told.transfers;
    },
    balance: (address, tokenAddress) =>
      valueAt(tree.best(), tokenKey(tokenAddress.toLowerCase(), address.toLowerCase())),
    received: () => hashes,
  };
}
