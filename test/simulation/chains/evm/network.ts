/** Nodes of a chain: messages between them and the producer of blocks, and their weather. */
import type { Chain } from '../../../../domain/chains.ts';
import { networkId } from '../../../../src/chains/evm/config.ts';
import type { Kernel } from '../../kernel/ports.ts';
import { createSpells } from '../spells.ts';
import type { Block, Tree } from './blocks.ts';
import type { Contracts } from './execution.ts';
import { type Forging, forge, onTop } from './liar.ts';
import { type ChainNode, createChainNode, type NodeView } from './node.ts';
import type { Pace } from './pace.ts';
import type { Pool } from './pool.ts';
import type { Producer } from './producer.ts';
import type { Transaction } from './transactions.ts';

export interface Network {
  readonly nodes: readonly NodeView[];
  /** There is another best block. */
  heard(best: Block): void;
  drawWeather(): void;
  calm(): void;
}

export interface NetworkOptions {
  readonly kernel: Kernel;
  readonly chain: Chain;
  readonly tree: Tree;
  readonly pace: Pace;
  readonly contracts: Contracts;
  readonly producer: Producer;
  readonly tip_wei: bigint;
  /** Addresses that customers pay. */
  readonly watched: readonly string[];
}

const nodesLeast = 2;
const gossipMost_ms = 1_500;

export function createNetwork(options: NetworkOptions): Network {
  const { kernel, chain, tree, pace, producer } = options;
  const { random, fails } = kernel;
  const count = nodesLeast + random.below(2);
  const liar = random.below(count);
  const nodes = Array.from({ length: count }, (_, number): ChainNode => {
    const spells = createSpells(kernel, { family: 'evm', block_ms: pace.block_ms, isLiar: number === liar });
    const tell = (transaction: Transaction) => tellFrom(number, transaction);
    return createChainNode({ ...options, number, spells, tell, networkId: networkId(chain.id) });
  });

  /** The producer and the other nodes hear of it, each after a while or never. */
  function tellFrom(number: number, transaction: Transaction): void {
    const others = nodes.flatMap(({ view: { pool, tip } }, at) => (at === number ? [] : { pool, tip }));
    for (const { pool, tip } of [...others, { pool: producer.pool, tip: tree.best }]) {
      if (fails('evm.mempool.drops', 0.08)) continue;
      kernel.after(random.below(gossipMost_ms), () => takeIn(pool, tip(), transaction));
    }
  }

  const forging = (): Forging => ({ ...options, random, waiting: producer.pool.all() });

  function grown(branch: Block, { number, time_s }: Block): Block {
    let tip = branch;
    while (tip.number < number) tip = onTop(forging(), tip, time_s, []);
    return tip;
  }

  return {
    nodes: nodes.map(({ view }) => view),
    heard(best) {
      for (const { hear, pretend, pretends } of nodes) {
        hear(best);
        const branch = pretends();
        if (branch) pretend(grown(branch, best));
      }
    },
    drawWeather() {
      for (const { view, pretend, pretends } of nodes) {
        const began = view.spells.draw();
        for (const spell of began) kernel.note(`chain ${chain.id} node ${view.number + 1}: ${spell}`);
        if (began.includes('branches')) pretend(forge(forging()));
        else if (pretends() && !view.spells.has('branches')) pretend(null);
        if (fails('evm.node.forgetsPool', 0.01)) empty(view.pool);
      }
      if (fails('evm.mempool.forgets', 0.01)) empty(producer.pool);
    },
    calm() {
      for (const { view, calm } of nodes) {
        calm();
        for (const waiting of view.pool.all()) takeIn(producer.pool, tree.best(), waiting);
      }
    },
  };
}

function empty(pool: Pool): void {
  for (const { hash } of pool.all()) pool.drop(hash);
}

function takeIn(pool: Pool, tip: Block, transaction: Transaction): void {
  try {
    pool.add(transaction, tip);
  } catch {
    // It has it, or a replacement, or it is mined.
  }
}
