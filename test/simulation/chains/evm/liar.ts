/** The separate branch that a node may return: with fabricated payments, without some real ones, with nonces used by others. */
import type { Random } from '../../kernel/ports.ts';
import { type Block, busyBlocks, type Mined, nonceKey, type Tree } from './blocks.ts';
import { type Contracts, mine } from './execution.ts';
import type { Pace } from './pace.ts';
import { stateOn } from './state.ts';
import { callOfTransfer } from './tokens.ts';
import type { Transaction } from './transactions.ts';

export interface Forging {
  readonly random: Random;
  readonly tree: Tree;
  readonly pace: Pace;
  readonly contracts: Contracts;
  /** Addresses that customers pay. */
  readonly watched: readonly string[];
  /** Pending transactions that it may report as having used a nonce. */
  readonly waiting: readonly Transaction[];
}

const gas = 100_000n;

/** Deep enough that the changed block is final by its own count. */
const depthOf = ({ random, pace }: Forging): number => 1 + random.below(2 * pace.finalized_blocks);

/** @returns the end of a branch that only this node knows, no lower than the best one */
export function forge(forging: Forging): Block {
  const { random, tree } = forging;
  const best = tree.best();
  const from = tree.at(best, Math.max(1, best.number - depthOf(forging))) ?? best;
  const kept = [...busyBlocks(best, from.number + 1)].reverse();
  let tip = onTop(forging, from, from.time_s, forged(forging));
  while (tip.number <= best.number) {
    const real = kept.find(({ number }) => number === tip.number + 1);
    const left = (real?.mined ?? []).filter(() => random.next() < 0.5);
    tip = onTop(
      forging,
      tip,
      tree.at(best, tip.number + 1)?.time_s ?? tip.time_s,
      left.map(({ transaction }) => transaction),
    );
  }
  return tip;
}

/** One more block of a branch. */
export function onTop(
  { tree, contracts, pace }: Forging,
  parent: Block,
  time_s: number,
  chosen: readonly Transaction[],
): Block {
  const state = stateOn(parent);
  const mined: Mined[] = [];
  let logs = 0;
  for (const transaction of chosen) {
    if (state.get(nonceKey(transaction.from)) !== BigInt(transaction.nonce)) continue;
    const done = mine(state, transaction, contracts, { ...pace, baseFee_wei: parent.baseFee_wei, firstLog: logs });
    mined.push(done);
    logs += done.logs.length;
  }
  return tree.add(parent, { time_s, baseFee_wei: parent.baseFee_wei, mined, changes: state.changes });
}

function forged({ random, contracts, watched, waiting }: Forging): readonly Transaction[] {
  const hash = () => `0x${Buffer.from(random.bytes(32)).toString('hex')}`;
  const tokens = [...contracts.tokens];
  const [token = ''] = tokens.slice(random.below(tokens.length));
  const price = { value: 0n, gas, maxFee_wei: 10n ** 12n, maxTip_wei: 0n, ours: false };
  const to = watched[random.below(watched.length)];
  const payment = to && {
    ...price,
    hash: hash(),
    from: `0x${hash().slice(-40)}`,
    to: token,
    nonce: 0,
    data: callOfTransfer(to, 10n ** 9n),
  };
  const { treasury } = contracts;
  // Only unassigned nonces: a lie about another one is indistinguishable from the truth, and stops payouts (nonceStuck).
  const first = waiting.find(({ from }) => from === treasury);
  const theft = first && { ...price, hash: hash(), from: treasury, to: treasury, nonce: first.nonce, data: '0x' };
  return [...(payment && random.next() < 0.7 ? [payment] : []), ...(theft && random.next() < 0.5 ? [theft] : [])];
}
