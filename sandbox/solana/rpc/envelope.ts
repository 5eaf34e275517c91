/**
 * JSON-RPC 2.0 as the network's nodes parse it: calls, notifications, batches, and invalid elements.
 * @see https://github.com/paritytech/jsonrpc/blob/master/core/src/types/request.rs
 */
import { type Params, rpcCodes } from './method.ts';

export interface Call {
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
}

type Id = string | number | null;

/** A call; a notification, which gets no reply; or the reply to an invalid element. */
export type Sent =
  | { readonly call: Call }
  | { readonly notification: Omit<Call, 'id'> }
  | { readonly reply: object | undefined };

export interface Request {
  readonly isBatch: boolean;
  readonly all: readonly Sent[];
}

export const parseError = { jsonrpc: '2.0', error: { code: rpcCodes.parseError, message: 'Parse error' }, id: null };

/** Returns undefined for a text that is no request at all. */
export function requestIn(body: string): Request | undefined {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return undefined;
  }
  const all = [json].flat().map(sentIn);
  if (!all.every((each) => each !== undefined)) return undefined;
  return { isBatch: Array.isArray(json), all };
}

const members: readonly string[] = ['jsonrpc', 'method', 'params', 'id'];

function sentIn(json: unknown): Sent | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const { jsonrpc, method, params, id } = json as Readonly<Record<string, unknown>>;
  if (!(id === undefined || isId(id))) return undefined;
  const isKnown = Object.keys(json).every((member) => members.includes(member));
  const isRequest = isKnown && typeof method === 'string' && isParams(params) && isVersion(jsonrpc);
  if (!isRequest) return { reply: refusal(id ?? null, 'Invalid request') };
  if (jsonrpc === undefined || jsonrpc === null) {
    const { jsonrpc: _, ...reply } = refusal(id ?? null, 'Unsupported JSON-RPC protocol version');
    return { reply: id === undefined ? undefined : reply };
  }
  return id === undefined ? { notification: { method, params } } : { call: { id, method, params } };
}

const refusal = (id: Id, message: string) => ({
  jsonrpc: '2.0',
  error: { code: rpcCodes.invalidRequest, message },
  id,
});

const isId = (id: unknown): id is Id =>
  id === null || typeof id === 'string' || (Number.isInteger(id) && (id as number) >= 0);

const isParams = (params: unknown): params is Params => params === undefined || typeof params === 'object';

const isVersion = (version: unknown): boolean => version === undefined || version === null || version === '2.0';
