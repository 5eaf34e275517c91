/** Typed calls about the chain and its accounts. landed.ts has the calls about transactions. */

import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel, lower } from '../../lib/concurrency.ts';
import {
  type Answered,
  ask,
  type ChainNode,
  list,
  mostSaid,
  object,
  RpcFailed,
  type RpcJson,
  seconds,
  text,
  whole,
} from '../node/jsonRpc.ts';
import type { ChainRpc } from '../node/nodes.ts';
import { callsAtOnce } from './config.ts';

export type Commitment = 'confirmed' | 'finalized';

/**
 * Newest known transaction version. A node refuses to return a newer one than requested (-32015). The effects are in `meta`, which is equal
 * for all versions.
 * @see https://github.com/solana-foundation/solana-improvement-documents/blob/main/proposals/0385-transaction-v1.md
 */
export const newestVersion = 1;

/**
 * Refusal codes of the network's nodes.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs
 */
export const codes = {
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  longTermStorageSlotSkipped: -32009,
  historyNotAvailable: -32011,
  blockStatusNotAvailableYet: -32014,
  unsupportedVersion: -32015,
  minContextSlotNotReached: -32016,
  transactionNotFound: -32020,
} as const;

/** Commitment of a query, and the minimum slot of the node. */
export interface ReadContext {
  readonly commitment: Commitment;
  readonly minContextSlot?: bigint;
}

export const options = ({ commitment, minContextSlot }: ReadContext): RpcJson => ({
  commitment,
  ...(minContextSlot !== undefined && { minContextSlot: Number(minContextSlot) }),
});

/** Slot of the node at its answer. */
export const contextSlot = (answer: RpcJson): bigint => whole(object(answer['context'])['slot']);

export const lagging = (node: ChainNode, method: string, slot: bigint): RpcFailed =>
  new RpcFailed(node.name, method, 'refused', `it lags behind slot ${slot}`);

/** @throws RpcFailed, as every function here */
export const slotOf = (node: ChainNode, commitment: Commitment, minContextSlot?: bigint): Promise<bigint> =>
  ask(node, 'getSlot', [options({ commitment, ...(minContextSlot !== undefined && { minContextSlot }) })], whole);

/** Maximum accounts per call. */
export const accountsPerCall = 100;

export interface RawAccount {
  /** Program that owns it. */
  readonly owner: string;
  readonly lamports: bigint;
  readonly executable: boolean;
  readonly data: Buffer;
}

export interface AccountsAtSlot {
  readonly slot: bigint;
  /** In the order of the addresses; null for a missing account. */
  readonly accounts: readonly (RawAccount | null)[];
}

interface Asked extends ReadContext {
  /** Range of each account's data to return. */
  readonly slice?: { readonly offset: number; readonly length: number };
}

/** In as few calls as the node accepts, which its refusals reveal; `slot`: the earliest slot of the answers. */
export async function accountsOf(node: ChainNode, addresses: readonly string[], asOf: Asked): Promise<AccountsAtSlot> {
  const most = Math.min(accountsPerCall, node.limits.most('accounts') ?? accountsPerCall);
  const parts = Array.from({ length: Math.max(1, Math.ceil(addresses.length / most)) }, (_, at) =>
    addresses.slice(at * most, (at + 1) * most),
  );
  try {
    const answers = await inParallel(parts, callsAtOnce, (part) => accountsAtOnce(node, part, asOf));
    return {
      slot: answers.map(({ slot }) => slot).reduce(lower),
      accounts: answers.flatMap(({ accounts }) => accounts),
    };
  } catch (error) {
    if (!isTooMany(error) || most <= 1 || addresses.length <= 1) throw error;
    const said = mostSaid(error.detail) ?? most;
    node.limits.learn('accounts', said < most ? said : Math.floor(Math.min(most, addresses.length) / 2));
    return accountsOf(node, addresses, asOf);
  }
}

const tooManyWords = /too many inputs|max(imum)? [\d,]+|limited to|up to [\d,]+|pubkeys|accounts per/i;

const isTooMany = (error: unknown): error is RpcFailed =>
  error instanceof RpcFailed && error.kind === 'refused' && tooManyWords.test(error.detail);

function accountsAtOnce(node: ChainNode, addresses: readonly string[], asOf: Asked): Promise<AccountsAtSlot> {
  const config = { ...options(asOf), encoding: 'base64', ...(asOf.slice && { dataSlice: asOf.slice }) };
  return ask(node, 'getMultipleAccounts', [addresses, config], (found) => {
    const answer = object(found);
    const accounts = list(answer['value']).map(accountOf);
    if (accounts.length !== addresses.length) throw new Error(`expected ${addresses.length} accounts`);
    return { slot: contextSlot(answer), accounts };
  });
}

function accountOf(value: unknown): RawAccount | null {
  if (value === null) return null;
  const { owner, lamports, executable, data } = object(value);
  const [base64] = list(data);
  return {
    owner: text(owner),
    lamports: whole(lamports),
    executable: executable === true,
    data: Buffer.from(text(base64), 'base64'),
  };
}

export interface Block {
  readonly slot: bigint;
  readonly height: bigint;
  readonly hash: string;
  readonly parentSlot: bigint;
  /** Unix seconds. */
  readonly time_s: number;
}

/** @throws RpcFailed also if the slot has no block, or the node does not have it (yet, or any more) */
export const blockAt = (node: ChainNode, slot: bigint, commitment: Commitment): Promise<Block> =>
  ask(node, 'getBlock', [Number(slot), blockConfig('none', commitment)], (answer) => blockIn(slot, answer));

export interface WholeBlock {
  readonly block: Block;
  /** Raw transactions of the node; landed.ts reads them. */
  readonly transactions: readonly unknown[];
}

/** The block with its transactions: their accounts and changes. */
export const wholeBlockAt = (node: ChainNode, slot: bigint, commitment: Commitment): Promise<WholeBlock> =>
  ask(node, 'getBlock', [Number(slot), blockConfig('accounts', commitment)], (answer) => ({
    block: blockIn(slot, answer),
    transactions: list(object(answer)['transactions']),
  }));

/** Signatures of all its transactions, and its hash. */
export const signaturesAt = (
  node: ChainNode,
  slot: bigint,
  commitment: Commitment,
): Promise<{ readonly hash: string; readonly signatures: readonly string[] }> =>
  ask(node, 'getBlock', [Number(slot), blockConfig('signatures', commitment)], (answer) => ({
    hash: blockIn(slot, answer).hash,
    signatures: list(object(answer)['signatures']).map(text),
  }));

const blockConfig = (transactionDetails: 'none' | 'signatures' | 'accounts', commitment: Commitment) => ({
  commitment,
  transactionDetails,
  rewards: false,
  maxSupportedTransactionVersion: newestVersion,
});

function blockIn(slot: bigint, shown: unknown): Block {
  const { blockhash, blockHeight, parentSlot, blockTime } = object(shown);
  return {
    slot,
    height: whole(blockHeight),
    hash: text(blockhash),
    parentSlot: whole(parentSlot),
    time_s: seconds(whole(blockTime)),
  };
}

/** Final slots from `from` to `to` with a block, as far as the node has them. */
export const finalBlocks = (node: ChainNode, from: bigint, to: bigint): Promise<readonly bigint[]> =>
  ask(node, 'getBlocks', [Number(from), Number(to), { commitment: 'finalized' }], (answer) => list(answer).map(whole));

export interface FinalHead {
  readonly slot: bigint;
  readonly height: bigint;
}

/** The newest final block. */
export const finalHead = (node: ChainNode): Promise<FinalHead> =>
  ask(node, 'getEpochInfo', [{ commitment: 'finalized' }], (answer) => {
    const { absoluteSlot, blockHeight } = object(answer);
    return { slot: whole(absoluteSlot), height: whole(blockHeight) };
  });

export interface LatestBlockhash {
  /** Slot of the node: a node behind it may not know the blockhash. */
  readonly slot: bigint;
  readonly blockhash: string;
  /** Last block that accepts a transaction with it. */
  readonly lastValidBlockHeight: bigint;
}

export const latestBlockhash = (node: ChainNode, asOf: ReadContext): Promise<LatestBlockhash> =>
  ask(node, 'getLatestBlockhash', [options(asOf)], (found) => {
    const answer = object(found);
    const { blockhash, lastValidBlockHeight } = object(answer['value']);
    return {
      slot: contextSlot(answer),
      blockhash: text(blockhash),
      lastValidBlockHeight: whole(lastValidBlockHeight),
    };
  });

/** True if blocks still accept transactions with this blockhash. An answer that does not deny it counts as true. */
export const isBlockhashValid = (node: ChainNode, blockhash: string, asOf: ReadContext): Promise<boolean> =>
  ask(node, 'isBlockhashValid', [blockhash, options(asOf)], (found) => {
    const answer = object(found);
    contextSlot(answer);
    return answer['value'] !== false;
  });

/** Recent prices per compute unit of transactions that wrote to these accounts, in millionths of a lamport, per slot. */
export const recentPrices = (node: ChainNode, accounts: readonly string[]): Promise<readonly bigint[]> =>
  ask(node, 'getRecentPrioritizationFees', [accounts], (answer) =>
    list(answer).map((entry) => whole(object(entry)['prioritizationFee'])),
  );

// Retries of calls that one of the nodes behind an address cannot answer yet: such nodes may be some slots apart.

/** Another node may answer at once; after three slots all of them should have caught up. */
const pauses_ms = [0, 100, 200, 400, 500];

/** Retries each call, for about 1.2 s, while the answering node is behind its `minContextSlot`. */
export function retryBehindNode(rpc: ChainRpc): ChainRpc {
  return {
    ...rpc,
    nodes: rpc.nodes.map((connect) => (signal) => patient(connect(signal))),
    as: (priority) => retryBehindNode(rpc.as(priority)),
    firstAnswer: (ask, signal) => rpc.firstAnswer((node) => ask(patient(node)), signal),
    answer: (ask, signal) => rpc.answer((node) => ask(patient(node)), signal),
    all: (ask, signal) => rpc.all((node) => ask(patient(node)), signal),
    allSoon: (ask, signal) => rpc.allSoon((node) => ask(patient(node)), signal),
    allSettled: (ask, signal) => rpc.allSettled((node) => ask(patient(node)), signal),
  };
}

const isBehind = (error: unknown): boolean =>
  error instanceof RpcFailed && error.code === codes.minContextSlotNotReached;

function patient(node: ChainNode): ChainNode {
  return {
    ...node,
    async request(method, params) {
      for (const pause_ms of pauses_ms) {
        try {
          return await node.request(method, params);
        } catch (error) {
          if (!isBehind(error)) throw error;
        }
        await sleep(pause_ms);
      }
      return node.request(method, params);
    },
    async batch(calls, how) {
      if (how?.together) return node.batch(calls, how);
      const isLate = (answer: Answered) => 'failure' in answer && isBehind(answer.failure);
      return again(calls, (asked) => node.batch(asked), isLate);
    },
  };
}

/**
 * Retries missing results for about a second.
 * @param ask returns null for a missing result, in the order of its input
 */
export const untilThere = <A, T>(
  wanted: readonly A[],
  ask: (asked: readonly A[]) => Promise<readonly (T | null)[]>,
): Promise<readonly (T | null)[]> => again(wanted, ask, (answer) => answer === null);

/** @returns the last answer to each, in the order of `wanted` */
async function again<A, T>(
  wanted: readonly A[],
  ask: (asked: readonly A[]) => Promise<readonly T[]>,
  isLate: (answer: T) => boolean,
): Promise<readonly T[]> {
  const answers = [...(wanted.length > 0 ? await ask(wanted) : [])];
  for (const pause_ms of pauses_ms) {
    const late = answers.flatMap((answer, place) => (isLate(answer) ? [place] : []));
    if (late.length === 0) break;
    await sleep(pause_ms);
    const asked = wanted.filter((_, place) => late.includes(place));
    for (const [at, answer] of (await ask(asked)).entries()) answers[late[at] ?? -1] = answer;
  }
  return answers;
}
