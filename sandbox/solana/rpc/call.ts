/** JSON-RPC 2.0 around the methods: what a caller sent, and what goes back. */
import { answer } from './answer.ts';
import { type Node, type Params, RpcError, rpcCodes } from './method.ts';

export interface Call {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Params;
}

/** An answer of JSON-RPC, or what happened to the connection. */
export type Reply = object | 'lost' | 'unavailable';

/** @param sent whatever a caller took for a call */
export async function carryOut(node: Node, sent: unknown): Promise<Reply> {
  const call: Call = typeof sent === 'object' && sent !== null ? sent : {};
  const id = call.id ?? null;
  try {
    if (typeof call.method !== 'string') throw new RpcError(rpcCodes.invalidRequest, 'Invalid request');
    const params = call.params ?? [];
    if (!Array.isArray(params)) throw new RpcError(rpcCodes.invalidParams, 'Invalid params: they must be a list');
    const answered = await answer(node, call.method, params);
    return typeof answered === 'string' ? answered : { jsonrpc: '2.0', id, result: answered.result };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: errorView(error) };
  }
}

export function errorView(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RpcError)) return { code: rpcCodes.internal, message };
  return { code: error.code, message, ...(error.data !== undefined && { data: error.data }) };
}
