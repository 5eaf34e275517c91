/** One node: its knowledge of the chain, and its answers. */
import { RpcError } from '../../../../sandbox/rpcError.ts';
import type { Kernel } from '../../kernel/ports.ts';
import { NodeAway } from '../../kernel/ports.ts';
import type { SpellsOf } from '../spells.ts';
import type { Block, Tree } from './blocks.ts';
import type { Caller } from './calls.ts';
import type { Pace } from './pace.ts';
import { createPool, type Pool } from './pool.ts';
import type { Transaction } from './transactions.ts';

export interface NodeOptions extends Caller {
  readonly kernel: Kernel;
  readonly tree: Tree;
  readonly pace: Pace;
  readonly spells: SpellsOf<'evm'>;
  /** From 0. Nodes of one chain are of several kinds. */
  readonly number: number;
  readonly networkId: number;
  readonly tip_wei: bigint;
  /** Announces a transaction to others. */
  readonly tell: (transaction: Transaction) => void;
}

/** A node's state for its methods. */
export interface NodeView extends NodeOptions {
  readonly pool: Pool;
  /** End of its branch as it currently reports it. */
  tip(): Block;
  finalized(): Block;
}

export interface ChainNode {
  readonly view: NodeView;
  /** Receives a new best block a little later. */
  hear(best: Block): void;
  /** A branch of its own instead of the chain's; null: back to that. */
  pretend(tip: Block | null): void;
  pretends(): Block | null;
  calm(): void;
}

const delayMost_ms = 800;

export function createChainNode(options: NodeOptions): ChainNode {
  const { kernel, tree, pace, spells } = options;
  const pool = createPool();
  let heard: { readonly block: Block; readonly from_ms: number }[] = [];
  let head = tree.best();
  let pretended: Block | null = null;
  let finalized = tree.at(head, Math.max(0, head.number - pace.finalized_blocks)) ?? head;

  function catchUp(): void {
    if (spells.has('stays')) return;
    const due = heard.filter(({ from_ms }) => from_ms <= kernel.now_ms());
    const newest = due.at(-1);
    if (!newest) return;
    heard = heard.slice(due.length);
    head = newest.block;
    pool.settle(head);
    if (spells.has('finalizedStays')) return;
    const tagged = tree.at(head, head.number - pace.finalized_blocks);
    if (tagged && tagged.number > finalized.number) finalized = tagged;
  }

  function tip(): Block {
    catchUp();
    if (pretended) return pretended;
    const behind = spells.has('lags') ? 1 + options.number : 0;
    return tree.at(head, Math.max(0, head.number - behind)) ?? head;
  }

  const view: NodeView = {
    ...options,
    pool,
    tip,
    finalized() {
      const end = tip();
      if (spells.has('finalizesAll')) return end;
      if (pretended) return tree.at(end, Math.max(0, end.number - pace.finalized_blocks)) ?? end;
      return finalized.number > end.number ? end : finalized;
    },
  };

  return {
    view,
    hear: (block) => void heard.push({ block, from_ms: kernel.now_ms() + kernel.random.below(delayMost_ms) }),
    pretend(block) {
      pretended = block;
    },
    pretends: () => pretended,
    calm() {
      pretended = null;
      spells.calm();
    },
  };
}

/** Fails every call while the node is away or broken. @throws NodeAway, RpcError */
export function checkWeather({ spells }: Pick<NodeView, 'spells'>): void {
  if (spells.has('away')) throw new NodeAway('the node is away');
  if (spells.has('crowded')) throw new RpcError(-32_005, 'too many requests, retry in 2s');
  if (spells.has('fails')) throw new RpcError(-32_603, 'Internal error');
}
