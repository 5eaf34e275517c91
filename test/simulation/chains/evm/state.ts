/** State that a transaction changes, on top of a block. */
import { type Block, type Log, valueAt } from './blocks.ts';
import type { Transaction } from './transactions.ts';

/** State on top of a block, as far as it was changed since. */
export interface State {
  get(key: string): bigint;
  set(key: string, value: bigint): void;
  readonly changes: Map<string, bigint>;
  /** Number of the block that it belongs to. */
  readonly number: number;
}

export function stateOn(block: Block): State {
  const changes = new Map<string, bigint>();
  return {
    changes,
    number: block.number + 1,
    get: (key) => changes.get(key) ?? valueAt(block, key),
    set: (key, value) => void changes.set(key, value),
  };
}

/** Transfers of a call. Undefined: it reverts. */
export interface Effect {
  readonly gas: bigint;
  readonly logs: readonly Log[];
}

export type Call = Pick<Transaction, 'from' | 'to' | 'data' | 'value'>;

interface Move {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

export function move(state: State, key: (account: string) => string, { from, to, amount }: Move): void {
  if (amount === 0n) return;
  state.set(key(from), state.get(key(from)) - amount);
  state.set(key(to), state.get(key(to)) + amount);
}
