/** Producer of blocks: includes pending transactions, sometimes forks, and never undoes final blocks. */
import type { Kernel } from '../../kernel/ports.ts';
import { type Block, type Mined, nonceKey, type Tree } from './blocks.ts';
import { type Contracts, mine } from './execution.ts';
import type { Pace } from './pace.ts';
import { createPool, type Pool } from './pool.ts';
import { stateOn } from './state.ts';
import type { Transaction } from './transactions.ts';

export interface Producer {
  /** Transactions that nodes announced. */
  readonly pool: Pool;
  /** A transaction of somebody else, to be mined when `wait_blocks` have passed. */
  put(transaction: Transaction, wait_blocks: number): void;
  /** Makes the blocks that are due, or another branch instead. @returns the new best block */
  tick(): Block;
  /** At and below this height nothing changes any more. */
  final(): number;
  /** Nothing is held back from here on. */
  calm(): void;
}

export interface ProducerOptions {
  readonly kernel: Kernel;
  readonly tree: Tree;
  readonly contracts: Contracts;
  readonly pace: Pace;
  readonly baseFee_wei: bigint;
}

const perBlockMost = 50;

export function createProducer({ kernel, tree, contracts, pace, baseFee_wei }: ProducerOptions): Producer {
  const pool = createPool();
  const { fails, random } = kernel;
  let others: { readonly transaction: Transaction; readonly from: number }[] = [];
  let final = 0;
  /** Last block with expensive gas, and the end of a pause. */
  let dearUntil = 0;
  let stalledUntil_ms = 0;

  const feeAt = (number: number): bigint => (number < dearUntil ? baseFee_wei * 3n : baseFee_wei);

  /** Transactions of the next block on top of `parent`: in the order of nonces, those that pay enough. */
  function chosenOn(parent: Block): readonly Transaction[] {
    const number = parent.number + 1;
    const theirs = others.filter(({ from }) => from <= number).map(({ transaction }) => transaction);
    const ours = pool.accounts().flatMap((account) => {
      const ready = pool.ready(account, parent);
      const end = ready.findIndex((each) => each.maxFee_wei < feeAt(number) || fails('evm.mempool.waits', 0.15));
      return end < 0 ? ready : ready.slice(0, end);
    });
    return [...theirs, ...ours].slice(0, perBlockMost);
  }

  function build(parent: Block, chosen: readonly Transaction[], time_s: number): Block {
    const state = stateOn(parent);
    const fee_wei = feeAt(parent.number + 1);
    const mined: Mined[] = [];
    let logs = 0;
    for (const transaction of chosen) {
      if (transaction.isAnyNonce) {
        if (tree.placeOn(parent, transaction.hash)) continue;
      } else if (state.get(nonceKey(transaction.from)) !== BigInt(transaction.nonce)) continue;
      const done = mine(state, transaction, contracts, { ...pace, baseFee_wei: fee_wei, firstLog: logs });
      mined.push(done);
      logs += done.logs.length;
    }
    const put = new Set(mined.map(({ transaction }) => transaction));
    others = others.filter(({ transaction }) => !put.has(transaction));
    for (const each of put) pool.drop(each.hash);
    return tree.add(parent, { time_s, baseFee_wei: fee_wei, mined, changes: state.changes });
  }

  const timeOf = (blocksAgo: number): number => Math.floor((kernel.now_ms() - blocksAgo * pace.block_ms) / 1_000);

  function extend(parent: Block, count: number): Block {
    let tip = parent;
    for (let left = count - 1; left >= 0; left -= 1) {
      const time_s = Math.max(tip.time_s, timeOf(left));
      tip = build(tip, chosenOn(tip), time_s);
    }
    return tip;
  }

  /** Transactions of removed blocks are pending again, or lost. */
  function takeBack(tip: Block, from: Block): void {
    for (let at: Block | null = tip; at && at !== from; at = at.parent) {
      for (const { transaction } of at.mined) {
        if (fails('evm.fork.forgets', 0.25)) continue;
        if (transaction.ours) addQuietly(transaction, from);
        else others.push({ transaction, from: from.number + 1 + random.below(6) });
      }
    }
  }

  function addQuietly(transaction: Transaction, tip: Block): void {
    try {
      pool.add(transaction, tip);
    } catch {
      // Another one has its place.
    }
  }

  /** @returns the end of another branch, at least as high as the best */
  function fork(depth: number): Block {
    const best = tree.best();
    const from = tree.at(best, Math.max(final, best.number - depth));
    if (!from || from === best) return extend(best, 1);
    kernel.note(`a fork removes ${best.number - from.number} blocks from ${from.number} on`);
    takeBack(best, from);
    return extend(from, best.number - from.number + random.below(2));
  }

  function next(): Block {
    if (kernel.now_ms() < stalledUntil_ms) return tree.best();
    if (fails('evm.chain.stalls', 0.002)) {
      stalledUntil_ms = kernel.now_ms() + (2 + random.below(8)) * pace.block_ms;
      return tree.best();
    }
    if (fails('evm.fees.rise', 0.003)) dearUntil = tree.best().number + 2 + random.below(20);
    if (fails('evm.fork.short', 0.02)) return fork(1 + random.below(3));
    if (fails('evm.fork.deep', 0.004)) return fork(1 + random.below(pace.forkMost_blocks));
    return extend(tree.best(), 1);
  }

  return {
    pool,
    put: (transaction, wait_blocks) =>
      void others.push({ transaction, from: tree.best().number + Math.max(1, wait_blocks) }),
    tick() {
      const best = next();
      tree.become(best);
      final = Math.max(final, best.number - pace.forkMost_blocks);
      pool.settle(best);
      return best;
    },
    final: () => final,
    calm() {
      stalledUntil_ms = 0;
      dearUntil = 0;
      others = others.map(({ transaction }) => ({ transaction, from: 0 }));
    },
  };
}
