/** Finds the transaction that used an account's nonce: by a node's past states, its index, or the account's transfers. */
import { epochMs, type Instant } from '../../../../domain/time.ts';
import { higher } from '../../../lib/concurrency.ts';
import { logsFrom, nonceAt, transactionBySender, transactionOf, transactionsAt } from '../accounts.ts';
import { type Header, header, receiptOf } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';

export interface NonceAsked {
  readonly account: string;
  readonly nonce: bigint;
  /** Nothing has used it before this time. */
  readonly since: Instant;
}

interface Place {
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

export interface Use extends Place {
  readonly hash: string;
}

/** A used nonce. */
export interface UsedNonce {
  /** Newest block at its first observation: the nonce is used in its state and all later ones. */
  readonly seen: Place;
  /** Undefined if the node cannot answer. */
  readonly use: Use | undefined;
}

/** @returns undefined while the nonce is free at the node's head @throws RpcFailed */
export type LookUpUse = (node: EvmNode, asked: NonceAsked, head: Header) => Promise<UsedNonce | undefined>;

const rememberedMax = 1_000;

/**
 * Full nodes keep accounts for 128 blocks, on some chains only seconds. So observations of a nonce are remembered while it is recent, and
 * finality is checked for the block of the observation, which every node has. Logs are searched once, because that takes many calls.
 */
export function createNonceUses(rangeBlocksMax: number): LookUpUse {
  const notes = new Map<string, UsedNonce>();

  return async (node, asked, head) => {
    const key = `${node.name} ${asked.account} ${asked.nonce}`;
    const isUsed = (await nonceAt(node, asked.account, head.number)) > asked.nonce;
    const before = isUsed ? notes.get(key) : undefined;
    const known = before && (await isThere(node, before.seen)) ? before : undefined;
    if (known?.use && (await isThere(node, known.use))) return known;
    notes.delete(key);
    if (!isUsed) return undefined;
    const seen = known?.seen ?? { blockNumber: head.number, blockHash: head.hash };
    const quickly = (await byStates(node, asked, head)) ?? (await byIndex(node, asked));
    const noted = { seen, use: quickly ?? (known ? undefined : await byLogs(node, asked, head, rangeBlocksMax)) };
    if (notes.size >= rememberedMax) notes.clear();
    notes.set(key, noted);
    return noted;
  };
}

const isThere = async (node: EvmNode, { blockNumber, blockHash }: Place): Promise<boolean> =>
  (await header(node, blockNumber))?.hash === blockHash;

/** Undefined if the node refuses: it lacks the data or the method. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error) => {
    if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
    throw error;
  });
}

/** By the account's nonce in past states. A missing state counts as unused; the block itself is the proof. */
async function byStates(node: EvmNode, { account, nonce }: NonceAsked, head: Header): Promise<Use | undefined> {
  const usedAt = async (height: bigint) => ((await unlessRefused(nonceAt(node, account, height))) ?? 0n) > nonce;
  let used = head.number;
  let step = 1n;
  while (used - step > 0n && (await usedAt(used - step))) {
    used -= step;
    step *= 2n;
  }
  let unused = higher(used - step, 0n);
  while (used - unused > 1n) {
    const middle = (unused + used) / 2n;
    if (await usedAt(middle)) used = middle;
    else unused = middle;
  }
  const block = await header(node, used);
  const there = block ? await transactionsAt(node, used) : [];
  const found = there.find((each) => each.nonce === nonce && each.from.toLowerCase() === account.toLowerCase());
  return block && found && { hash: found.hash, blockNumber: used, blockHash: block.hash };
}

const byIndex = async (node: EvmNode, asked: NonceAsked): Promise<Use | undefined> =>
  confirmed(node, asked, await unlessRefused(transactionBySender(node, asked.account, asked.nonce)));

/** An index only counts if the transaction itself confirms it. */
async function confirmed(node: EvmNode, { account, nonce }: NonceAsked, hash: string | undefined) {
  const transaction = hash === undefined ? undefined : await transactionOf(node, hash);
  if (transaction?.nonce !== nonce || transaction.from.toLowerCase() !== account.toLowerCase()) return undefined;
  const receipt = await receiptOf(node, transaction.hash);
  return receipt && { hash: receipt.hash, blockNumber: receipt.blockNumber, blockHash: receipt.blockHash };
}

/** Maximum block ranges searched for the account's transfers. */
const rangesMax = 50;
/** Maximum candidates that are checked. */
const candidatesMax = 200;
/** Maximum difference between our clock and a chain's. */
const clockDifference_s = 600;

/** Among the account's transfers since then: of tokens, and since EIP-7708 of the coin as well. */
async function byLogs(
  node: EvmNode,
  asked: NonceAsked,
  head: Header,
  rangeBlocksMax: number,
): Promise<Use | undefined> {
  const since_s = epochMs(asked.since) / 1_000 - clockDifference_s;
  const looked = new Set<string>();
  let to = head.number;
  for (let ranges = 0; ranges < rangesMax && to > 0n; ranges += 1) {
    const from = higher(to - BigInt(rangeBlocksMax) + 1n, 0n);
    const logs = await unlessRefused(logsFrom(node, asked.account, { from, to }));
    for (const { txHash } of logs ? [...logs.logs, ...logs.broken] : []) {
      if (looked.has(txHash) || looked.size >= candidatesMax) continue;
      looked.add(txHash);
      const use = await confirmed(node, asked, txHash);
      if (use) return use;
    }
    const first = logs && (await header(node, from));
    if (!first || first.time_s < since_s) return undefined;
    to = from - 1n;
  }
  return undefined;
}
