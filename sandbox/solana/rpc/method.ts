/** Shared by RPC methods: the node, its view of the chain, their errors. */
import { type Address, isAddress } from '@solana/kit';
import type { Faults, SolanaFault } from '../../faults.ts';
import { RpcError } from '../../rpcError.ts';
import type { Chain } from '../chain/chain.ts';
import { type Commitment, slotAt } from '../chain/commitments.ts';

export interface Node {
  readonly chain: Chain;
  readonly faults: Faults<SolanaFault>;
}

/** The node in the view of one request: possibly some slots behind. */
export interface View extends Node {
  /** The newest slot that it has seen. */
  readonly head: number;
}

/** Raw: a list, an object, or nothing. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>> | null | undefined;
/** Bigints in the answer become numbers of JSON, however large. */
export type Method = (view: View, params: Params) => unknown;

/** Codes of JSON-RPC 2.0, and the network's own. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  preflightFailure: -32002,
  blockNotAvailable: -32004,
  nodeUnhealthy: -32005,
  slotSkipped: -32007,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
  transactionNotFound: -32020,
};

export const invalid = (message: string): RpcError => new RpcError(rpcCodes.invalidParams, message);

/** @throws RpcError */
export function addressOf(text: string): Address {
  if (!isBase58(text)) throw invalid('Invalid param: Invalid');
  if (!isAddress(text)) throw invalid('Invalid param: WrongSize');
  return text;
}

export const isBase58 = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]*$/.test(text);

/** @throws RpcError for more items than a node accepts in one call */
export function checkCount(items: readonly unknown[], max: number): void {
  if (items.length > max) throw invalid(`Too many inputs provided; max ${max}`);
}

export interface ContextOptions {
  readonly commitment?: Commitment | undefined;
  readonly minContextSlot?: number | undefined;
}

/**
 * The newest slot of the request's commitment, by default `finalized`.
 * @throws RpcError if it needs a later one than the node has
 */
export function contextSlot({ chain, head }: View, options: ContextOptions = {}): number {
  const { commitment = 'finalized', minContextSlot = 0 } = options;
  const slot = slotAt(commitment, head, chain.finality);
  if (minContextSlot <= slot) return slot;
  throw new RpcError(rpcCodes.minContextSlot, 'Minimum context slot has not been reached', { contextSlot: slot });
}

/** Most answers name the slot of their data. */
export const inContext = (slot: number, value: unknown) => ({ context: { apiVersion: version, slot }, value });

/** Version of the node software that the sandbox's chain was compared with. */
export const version = '4.2.0';
