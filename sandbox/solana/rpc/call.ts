/** Carries out calls and returns the reply. */
import { RpcError } from '../../rpcError.ts';
import { answer } from './answer.ts';
import type { Sent } from './envelope.ts';
import { type Node, rpcCodes } from './method.ts';

/** An answer of JSON-RPC, nothing, or a fault of the connection. */
export type Reply = object | undefined | 'lost' | 'unavailable';

export async function carryOut(node: Node, sent: Sent): Promise<Reply> {
  if ('reply' in sent) return sent.reply;
  if ('notification' in sent) {
    await answer(node, sent.notification.method, sent.notification.params).catch(() => undefined);
    return undefined;
  }
  const { id, method, params } = sent.call;
  try {
    const answered = await answer(node, method, params);
    return typeof answered === 'string' ? answered : { jsonrpc: '2.0', result: answered.result, id };
  } catch (error) {
    return { jsonrpc: '2.0', error: errorView(error), id };
  }
}

export function errorView(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RpcError)) return { code: rpcCodes.internal, message };
  return { code: error.code, message, ...(error.data !== undefined && { data: error.data }) };
}
