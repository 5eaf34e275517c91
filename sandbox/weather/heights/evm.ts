/** An EVM node as it was some blocks ago: newer blocks, transactions and states are not there yet. */
import { RpcError } from '../../rpcError.ts';
import { type Ask, type Call, fieldsOf, hex, listOf, quantityOf } from '../call.ts';
import type { CallEffect } from '../quirk.ts';

/** Reaction of a node to a log range that ends beyond its head: geth since 1.16 refuses, others omit the missing part. */
export type BeyondHead = 'refused' | 'empty';

/** Position of the state's block in each method's parameters. */
const statePlace: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

export const evmBehind =
  (blocks: number, beyond: BeyondHead): CallEffect =>
  async (call, next) => {
    const head = await headOf(next, blocks);
    const { method, params } = call;
    switch (method) {
      case 'eth_blockNumber':
        return hex(head);
      case 'eth_getBlockByNumber':
        return blockAt(head, call, next);
      case 'eth_getBlockByHash':
        return unlessNewer(head, 'number', await next(method, params));
      case 'eth_getTransactionReceipt':
      case 'eth_getTransactionByHash':
        return unlessNewer(head, 'blockNumber', await next(method, params));
      case 'eth_getLogs':
        return logsUpTo(head, beyond, call, next);
    }
    const place = statePlace[method];
    return place === undefined ? next(method, params) : stateAt(head, place, call, next);
  };

/** Newest block of a node that is this many blocks behind. */
export async function headOf(chain: Ask, blocks: number): Promise<bigint> {
  const newest = quantityOf(await chain('eth_blockNumber', [])) ?? 0n;
  return newest > blocks ? newest - BigInt(blocks) : 0n;
}

/** eth_getLogs of a node whose logs reach to `head`. */
export async function logsUpTo(head: bigint, beyond: BeyondHead, { method, params }: Call, next: Ask) {
  const filter = fieldsOf(listOf(params)[0]);
  if (filter['blockHash'] !== undefined) {
    const block = fieldsOf(await next('eth_getBlockByHash', [filter['blockHash'], false]));
    const known = (quantityOf(block['number']) ?? head + 1n) <= head;
    if (known) return next(method, params);
    if (beyond === 'empty') return [];
    throw new RpcError(-32000, 'unknown block');
  }
  const from = quantityOf(filter['fromBlock']) ?? head;
  const to = quantityOf(filter['toBlock']) ?? head;
  if (to > head && beyond === 'refused') throw new RpcError(-32602, 'block range extends beyond current head block');
  if (from > head) return [];
  return next(method, [{ ...filter, fromBlock: hex(from), toBlock: hex(to < head ? to : head) }]);
}

async function blockAt(head: bigint, { method, params }: Call, next: Ask) {
  const [tag, ...more] = listOf(params);
  const number = quantityOf(tag);
  if (number !== undefined) return number > head ? null : next(method, params);
  const newest = () => next(method, [hex(head), ...more]);
  if (tag === 'latest' || tag === 'pending') return newest();
  const tagged = await next(method, params);
  return unlessNewer(head, 'number', tagged) ?? newest();
}

function unlessNewer(head: bigint, field: string, found: unknown): unknown {
  const number = quantityOf(fieldsOf(found)[field]);
  return number !== undefined && number > head ? null : found;
}

function stateAt(head: bigint, place: number, { method, params }: Call, next: Ask) {
  const given = [...listOf(params)];
  const tag = given[place] ?? 'latest';
  const number = quantityOf(tag);
  if (number !== undefined && number > head) throw new RpcError(-32000, 'header not found');
  if (tag === 'latest') given[place] = hex(head);
  return next(method, given);
}
