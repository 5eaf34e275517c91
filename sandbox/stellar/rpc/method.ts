/** Shared by RPC methods: the node, their parameters and their errors. */

import type { Faults, StellarFault } from '../../faults.ts';
import { RpcError } from '../../rpcError.ts';
import type { Chain } from '../chain/chain.ts';
import type { TransactionQueue } from '../transactions/queue.ts';

export interface Node {
  readonly chain: Chain;
  readonly queue: TransactionQueue;
  readonly faults: Faults<StellarFault>;
  /** Called after a transaction was accepted. */
  readonly submitted: () => void;
  readonly friendbotUrl: () => string;
}

/** An object, or a list if the caller sends one. */
export type Params = Readonly<Record<string, unknown>>;
/** Parameters of a request without any, or with null. */
export const noParams: Params = {};
export type Method = (node: Node, params: Params) => object;

/** JSON-RPC 2.0 codes. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
};

export const invalid = (message: string): RpcError => new RpcError(rpcCodes.invalidParams, message);

export function textParam(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw invalid(`${name} must be a string`);
  return value;
}

export function integerParam(params: Params, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw invalid(`${name} must be a whole number`);
  return value;
}

export function listParam(params: Params, name: string, max: number): readonly unknown[] {
  const value = params[name] ?? [];
  if (!Array.isArray(value)) throw invalid(`${name} must be a list`);
  if (value.length > max) throw invalid(`${name}: ${max} at most`);
  return value;
}

export function objectParam(params: Params, name: string): Params {
  const value = params[name] ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${name} must be an object`);
  return value as Params;
}

/** The ledgers that the node remembers: part of most answers. */
export function ledgerRange({ history }: { readonly history: Pick<Chain['history'], 'head' | 'oldest'> }) {
  const [latest, oldest] = [history.head(), history.oldest()];
  return {
    latestLedger: latest.sequence,
    latestLedgerCloseTime: String(latest.closedAt_s),
    oldestLedger: oldest.sequence,
    oldestLedgerCloseTime: String(oldest.closedAt_s),
  };
}
