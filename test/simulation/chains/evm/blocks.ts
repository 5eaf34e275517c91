/** Blocks of all branches, and the chain's state after each of them. */
import type { Transaction } from './transactions.ts';

export interface Log {
  /** In lower case. */
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** A transaction in a block. */
export interface Mined {
  readonly transaction: Transaction;
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  readonly price_wei: bigint;
  readonly logs: readonly Log[];
  /** The number of its first log in its block. */
  readonly firstLog: number;
}

/** Changes of nonces, balances and code by a block: by `nonceKey` and similar keys. */
export type Changes = ReadonlyMap<string, bigint>;

export interface Block {
  readonly number: number;
  readonly hash: string;
  readonly parent: Block | null;
  readonly time_s: number;
  readonly baseFee_wei: bigint;
  readonly mined: readonly Mined[];
  readonly changes: Changes;
  /** The newest block up to this one that changed anything: most blocks are empty, and readers skip them. */
  readonly busy: Block | null;
}

export const nonceKey = (account: string): string => `nonce ${account}`;
export const coinKey = (account: string): string => `coin ${account}`;
export const tokenKey = (token: string, account: string): string => `${token} ${account}`;
/** Allowance of a token for the batch contract. */
export const allowanceKey = (token: string, account: string): string => `allowance ${token} ${account}`;
/** 1 once a token has accepted an authorization's nonce. */
export const authorizationKey = (token: string, payer: string, nonce: string): string =>
  `authorization ${token} ${payer} ${nonce}`;
export const codeKey = (account: string): string => `code ${account}`;

/** Value after a block; 0 for an untouched key. */
export function valueAt(block: Block, key: string): bigint {
  for (let at = block.busy; at; at = at.parent?.busy ?? null) {
    const value = at.changes.get(key);
    if (value !== undefined) return value;
  }
  return 0n;
}

/** The blocks with transactions of a branch, newest first, down to a height. */
export function* busyBlocks(tip: Block, least = 0): Generator<Block> {
  for (let at = tip.busy; at && at.number >= least; at = at.parent?.busy ?? null) yield at;
}

export interface Tree {
  /** The end of the network's best branch. */
  best(): Block;
  become(best: Block): void;
  /** Puts a block on top of another. Of the same parent there may be several. */
  add(parent: Block, block: Pick<Block, 'time_s' | 'baseFee_wei' | 'mined' | 'changes'>): Block;
  /** The block of a branch at a height; undefined beyond its end. */
  at(tip: Block, number: number): Block | undefined;
  byHash(hash: string): Block | undefined;
  isOn(tip: Block, block: Block): boolean;
  /** Position of a transaction on a branch. */
  placeOn(tip: Block, txHash: string): Place | undefined;
}

/** A transaction's place: the block, and its number in it. */
export interface Place {
  readonly block: Block;
  readonly at: number;
}

/** @param hash draws 32 bytes, with 0x */
export function createTree(genesis: Pick<Block, 'time_s' | 'baseFee_wei' | 'changes'>, hash: () => string): Tree {
  const hashes = new Map<string, Block>();
  const places = new Map<string, Place[]>();
  /** The best branch by height. */
  const main: Block[] = [];
  let best = put(null, { ...genesis, mined: [] });
  main.push(best);

  function put(parent: Block | null, block: Pick<Block, 'time_s' | 'baseFee_wei' | 'mined' | 'changes'>): Block {
    const made: { -readonly [name in keyof Block]: Block[name] } = {
      ...block,
      number: parent ? parent.number + 1 : 0,
      hash: hash(),
      parent,
      busy: parent?.busy ?? null,
    };
    if (block.changes.size > 0) made.busy = made;
    hashes.set(made.hash, made);
    for (const [index, { transaction }] of made.mined.entries()) {
      const known = places.get(transaction.hash) ?? [];
      places.set(transaction.hash, [...known, { block: made, at: index }]);
    }
    return made;
  }

  function at(tip: Block, number: number): Block | undefined {
    if (number > tip.number || number < 0) return undefined;
    let on: Block = tip;
    while (main[on.number] !== on && on.number > number && on.parent) on = on.parent;
    return main[on.number] === on ? main[number] : on;
  }

  return {
    best: () => best,
    become(block) {
      best = block;
      main.length = block.number + 1;
      for (let on: Block | null = block; on && main[on.number] !== on; on = on.parent) main[on.number] = on;
    },
    add: put,
    at,
    byHash: (wanted) => hashes.get(wanted),
    isOn: (tip, block) => at(tip, block.number) === block,
    placeOn: (tip, txHash) => places.get(txHash)?.find(({ block }) => at(tip, block.number) === block),
  };
}
